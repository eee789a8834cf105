import pytest

from tests.engine.rules.reading import lines_of

RULE = "rel-unchecked-optional"


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("x = re.match(p, s).group(1)", [2]),
        ("x = re.search(p, s)[0]", [2]),
        ("x = User.objects.filter(a=1).first().name", [2]),
        ("x = User.objects.first().name", [2]),
        ("m = re.match(p, s)", []),
        ("x = User.objects.first()", []),
        ("x = letters.first().name", []),
        ("if re.match(p, s): x = re.match(p, s).group(1)", []),
    ],
)
def test_python(statement, lines):
    assert lines_of(RULE, f"import re\n{statement}\n") == lines


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("const x = users.find((u) => u.id === id).name;", [1]),
        ("const x = users.find((u) => u.id === id)?.name;", []),
        ("const x = users.find((u) => u.id === id);", []),
        ("const x = users.find((u) => u.id === id)!.name;", []),
        ("const x = $('a').find('b').text();", []),
    ],
)
def test_script(statement, lines):
    assert lines_of(RULE, statement, "typescript") == lines


@pytest.mark.parametrize(
    ("statement", "lines"),
    [
        ("repository.findById(id).get();", [2]),
        ("xs.stream().filter(a).findFirst().get();", [2]),
        ("repository.findById(id).orElseThrow();", []),
        ("map.get(key);", []),
        ("if (repository.findById(id).isPresent()) { repository.findById(id).get(); }", []),
        ("future.get();", []),
        ("try { dao.findById(id).get(); } catch (ExecutionException e) { throw x(e); }", []),
        ("dao.findByIdAsync(id).get();", []),
    ],
)
def test_java(statement, lines):
    assert lines_of(RULE, f"class A {{ void f() {{\n{statement} }} }}", "java") == lines
