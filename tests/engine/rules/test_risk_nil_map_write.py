import pytest

from tests.engine.rules.reading import lines_of

RULE = "risk-nil-map-write"


def go(body):
    return f"package a\nfunc f(k string) {{\nvar m map[string]int\n{body}\n}}\n"


@pytest.mark.parametrize("body", ["m[k] = 1", "m[k]++", "m[k] += 2", "if k != x {\nm[k] = 1 }"])
def test_a_write_to_a_map_that_nobody_made_is_marked(body):
    assert lines_of(RULE, go(body), "go") == [3 + len(body.split("\n"))]


@pytest.mark.parametrize(
    "body",
    [
        "m = make(map[string]int)\nm[k] = 1",
        "if x { m = other }\nm[k] = 1",
        "json.Unmarshal(data, &m)\nm[k] = 1",
        "v := m[k]",
        "delete(m, k)",
        "if m[k] == 1 { return }",
        "m, err := load()\nm[k] = 1",
        "_, m = load()\nm[k] = 1",
    ],
)
def test_reads_and_maps_that_were_given_a_value_are_fine(body):
    assert lines_of(RULE, go(body), "go") == []


def test_a_map_declared_with_a_value_is_fine():
    assert lines_of(RULE, "package a\nfunc f() {\nvar m = map[string]int{}\nm[k] = 1\n}", "go") == []


STORE = "package a\ntype Store struct {\n\tname string\n\titems map[string]int\n}\nfunc f(k string) {\n"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('s := Store{name: "a"}\ns.items[k] = 1', [8]),
        ("s := &Store{}\ns.items[k] = 1", [8]),
        ("var s Store\ns.items[k] = 1", [8]),
        ("s := Store{items: map[string]int{}}\ns.items[k] = 1", []),
        ("s := Store{}\ns.items = make(map[string]int)\ns.items[k] = 1", []),
        ("s := Store{}\ns.init()\ns.items[k] = 1", []),
        ("s := newStore()\ns.items[k] = 1", []),
    ],
)
def test_a_map_of_a_struct(body, lines):
    assert lines_of(RULE, f"{STORE}{body}\n}}\n", "go") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("c := new(Config)\nc.Labels[k] = v", [7]),
        ("c := &Config{N: 1}\nc.Counts[k]++", [7]),
        ("c := Config{labels, counts, 1}\nc.Labels[k] = v", []),
        ("var s Set\ns[k] = true", [7]),
        ("s := Set{}\ns[k] = true", []),
        ("var m map[string]int\nm[keys[0]] *= 2", [7]),
    ],
)
def test_maps_behind_a_name(body, lines):
    head = "package a\ntype Set map[string]bool\n"
    head += "type Config struct { Labels map[string]string\nCounts map[string]int\nN int }\n"
    source = f"{head}func f() {{ {body}\n}}"
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        ("", [5, 6]),
        ("first = make(map[string]int)", [6]),
        ("first, second = load()", []),
    ],
)
def test_maps_that_are_declared_together(made, lines):
    source = (
        f"package a\nfunc f(key string) {{\nvar first, second map[string]int\n{made}\nfirst[key] = 1\nsecond[key]++\n}}"
    )
    assert lines_of(RULE, source, "go") == lines
