import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "perf-quadratic-lookup"


@pytest.mark.parametrize(
    ("start", "body", "lines"),
    [
        ("seen = []", "if x in seen: continue\n        seen.append(x)", [4]),
        ("blocked = list(load())", "if x in blocked: drop(x)", [4]),
        ("blocked = [y for y in ys]", "if x not in blocked: keep(x)", [4]),
        ("blocked = set(load())", "if x in blocked: drop(x)", []),
        ('blocked = set(User.objects.filter(name="x").values_list("id"))', "if x in blocked: drop(x)", []),
        ("blocked = [1, 2]", "if x in blocked: drop(x)", []),
        ("blocked = load()", "if x in blocked: drop(x)", []),
        ("blocked = list(load())", "blocked = []\n        if x in blocked: drop(x)", []),
        ("blocked = list(load())", "if x in blocked: return x", []),
    ],
)
def test_python(start, body, lines):
    assert lines_of(RULE, f"def f(xs, ys):\n    {start}\n    for x in xs:\n        {body}\n") == lines


def test_outside_of_a_loop_one_search_is_fine():
    assert lines_of(RULE, "def f(x):\n    blocked = list(load())\n    return x in blocked\n") == []


@pytest.mark.parametrize(
    ("start", "lines"),
    [
        ("const b: string[] = load();", [3]),
        ("const b = xs.map(g);", [3]),
        ("const b = new Set(xs);", []),
        ("const b = 'abc';", []),
    ],
)
def test_script(start, lines):
    assert (
        lines_of(
            RULE,
            f"function f(xs) {{ {start}\nfor (const x of words) {{\nif (b.includes(x)) drop(x);\n}} }}",
            "typescript",
        )
        == lines
    )


def test_java_and_go():
    java = "class A {{ void f() {{ {0} b = load();\nfor (String x : words) {{\nif (b.contains(x)) drop(x);\n}} }} }}"
    assert lines_of(RULE, java.format("List<String>"), "java") == [3]
    assert lines_of(RULE, java.format("Set<String>"), "java") == []
    go = (
        'package a\nimport "slices"\nfunc f(b []int) {\nfor _, x := range words {\nif slices.Contains(b, x) '
        "{ drop(x) }\n}\n}"
    )
    assert lines_of(RULE, go, "go") == [5]


def loop(head, body):
    """A function of TypeScript over orders, with what its loop does on the second line."""
    return f"export function f(orders: Order[], {head}) {{\n{body}\n}}"


@pytest.mark.parametrize(
    ("head", "body", "lines"),
    [
        ("ids: string[]", "const kept = orders.filter((o) => ids.includes(o.id)); return kept;", [2]),
        ("ids: string[]", "orders.forEach((o) => { if (ids.indexOf(o.id) >= 0) drop(o); });", [2]),
        ("customers: Customer[]", "return orders.map((o) => customers.find((c) => c.id === o.customerId));", [2]),
        ("customers: Customer[]", "return orders.filter((o) => customers.some((c) => o.customerId === c.id));", [2]),
        ("lines: Line[]", "return orders.map((o) => ({ ...o, lines: lines.filter((l) => l.orderId === o.id) }));", [2]),
        ("customers: Customer[]", "return orders.map((o) => customers.find((c) => c.age > o.age));", []),
        ("kept: { id: number; age: number }[]", "return orders.filter((o) => kept.includes(o.customer));", [2]),
        ("kept: { id: number; ages: number[] }", "return orders.filter((o) => kept.includes(o.customer));", []),
        ("customers: Map<string, Customer>", "return orders.map((o) => customers.get(o.customerId));", []),
        ("text: string", "return orders.filter((o) => text.includes(o.id));", []),
        ("ids: string[]", "for (const o of orders) { if (ids.includes(o.id)) { return o; } }", []),
        ("columnNames: string[]", "return orders.filter((o) => columnNames.includes(o.id));", []),
    ],
)
def test_searches_in_functions_that_run_for_each_element(head, body, lines):
    assert lines_of(RULE, loop(head, body), "typescript") == lines


@pytest.mark.parametrize(("values", "lines"), [("list(start), set(start)", []), ("set(start), list(start)", [4])])
def test_of_several_names_each_has_its_own_value(values, lines):
    source = (
        f"def f(orders, start):\n    known, seen = {values}\n    for order in orders:\n        show(order in seen)\n"
    )
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("def f(queue):\n    while queue:\n        job = queue.pop(0)\n", "python", [3]),
        ("def f(queue):\n    while queue:\n        job = queue.popleft()\n", "python", []),
        ("function f(queue) {\nwhile (queue.length) { run(queue.shift()); }\n}", "javascript", [2]),
        ("class A { void f(List<Job> jobs) {\nwhile (true) { jobs.remove(0).run(); }\n} }", "java", [2]),
        ("class A { void f(Map<Integer, Job> jobs) {\nwhile (true) { jobs.remove(0); }\n} }", "java", []),
    ],
)
def test_the_first_element_is_taken_away_again_and_again(source, language, lines):
    assert lines_of(RULE, source, language) == lines


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        (
            "def f(orders, customers):\n    for o in orders:\n        for c in customers:\n"
            "            if c.id == o.customer_id:\n                o.customer = c\n",
            "python",
            [3],
        ),
        (
            "def f(orders, customers):\n    for o in orders:\n"
            "        o.customer = next((c for c in customers if c.id == o.customer_id), None)\n",
            "python",
            [3],
        ),
        (
            "def f(orders: list, customers: list):\n"
            "    return [(o, c) for o in orders for c in customers if c.id == o.customer_id]\n",
            "python",
            [2],
        ),
        (
            "def f(orders: list, customers: list):\n    return [(o, c) for o in orders for c in customers if c.old]\n",
            "python",
            [],
        ),
        (
            "def f(orders: list, c):\n    return [line for o in orders for line in o.lines if line.id == o.first]\n",
            "python",
            [],
        ),
        (
            "for o in orders:\n    for c in o.lines:\n        if c.id == o.id:\n            x(c)\n",
            "python",
            [],
        ),
        (
            "class A { void f(List<Order> orders, List<Customer> customers) {\nfor (Order o : orders) {\n"
            "for (Customer c : customers) { if (c.getId().equals(o.getCustomerId())) { o.set(c); } }\n} } }",
            "java",
            [3],
        ),
        (
            "package a\nfunc f(orders []Order, customers []Customer) {\nfor i := range orders {\n"
            "for _, c := range customers {\nif c.ID == orders[i].CustomerID { put(c) }\n}\n}\n}",
            "go",
            [4],
        ),
    ],
)
def test_two_collections_are_joined_by_nested_loops(source, language, lines):
    assert lines_of(RULE, source, language) == lines


def test_java_knows_which_parameter_is_a_list():
    java = (
        "class A {{ void f(List<Order> orders, {0}<Long> ids) {{\n"
        "for (Order o : orders) {{ if (ids.contains(o.id())) drop(o); }}\n}} }}"
    )
    assert lines_of(RULE, java.format("List"), "java") == [2]
    assert lines_of(RULE, java.format("Set"), "java") == []


def test_fields_are_lists_by_their_declaration():
    python = (
        "class A:\n    def __init__(self):\n        self.blocked = {}\n    def f(self, users):\n"
        "        for u in users:\n            if u.id in self.blocked:\n                drop(u)\n"
    )
    assert lines_of(RULE, python.format("[]")) == [6]
    assert lines_of(RULE, python.format("set()")) == []


def test_what_is_loaded_is_more_than_a_guess():
    source = "def f(orders, {0}: list):\n    return [o for o in {1} if o.id in {0}]\n"
    loaded = source.replace("\n    ", "\n    orders = Order.objects.all()\n    ", 1)
    certain = [mark.confidence for mark in marks_of(RULE, loaded.format("ids", "orders"))]
    named = [mark.confidence for mark in marks_of(RULE, source.format("ids", "orders"))]
    guessed = [mark.confidence for mark in marks_of(RULE, source.format("ids", "ys"))]
    unknown = [mark.confidence for mark in marks_of(RULE, source.format("xs", "ys"))]
    untyped = marks_of(RULE, source.format("xs", "ys").replace(": list", ""))
    assert (certain, named, guessed, unknown, untyped) == ([""], ["low"], ["low"], ["low"], [])


def test_a_loop_that_ends_behind_the_removal_is_fine():
    assert (
        lines_of(RULE, "function f(parts) {\nfor (const x of xs) {\njobs.shift();\nreturn x;\n}\n}", "javascript") == []
    )


@pytest.mark.parametrize(
    "search",
    [
        "customers.find(({ id }) => id === order.customerId)",
        "customers.find(function (c) { return c.id === order.customerId; })",
        "customers.find((c) => { return c.id === order.customerId; })",
    ],
)
def test_every_form_of_a_condition_is_read(search):
    assert lines_of(RULE, f"orders.map((order) => {{\nuse({search});\n}});", "javascript") == [2]


def test_go_conditions():
    source = (
        'package a\nimport "slices"\nfunc f(users []User, ids []int) {\nfor _, u := range users {\n'
        "if slices.ContainsFunc(ids, func(id int) bool { return id == u.ID }) {\nkeep(u)\n}\n}\n}"
    )
    assert lines_of(RULE, source, "go") == [5]
    assert lines_of(RULE, source.replace("id == u.ID", "isOpen(id, u)"), "go") == []


def test_what_ends_the_loop_or_is_the_same_in_every_round_is_fine():
    found = "        if row.name in names:\n            x = row\n            break\n"
    assert lines_of(RULE, f"def f(rows, names: list[str]):\n    for row in rows:\n{found}") == []
    source = "function f(names: string[]) {\nfor (const user of users) {\nif (names.includes({})) mark(user);\n}}"
    assert lines_of(RULE, source.replace("{}", "user.name", 1), "typescript") == [3]
    assert lines_of(RULE, source.replace("{}", "'all'", 1), "typescript") == []


def test_a_search_by_condition_is_likely_only_in_what_is_known_to_be_a_list():
    source = (
        "function f(customers%s) {\nconst orders = repo.findAll();\n"
        "orders.map((order) => {\nuse(customers.find((c) => c.id === order.by));\n});\n}"
    )
    found = [marks_of(RULE, source % kind, "typescript") for kind in (": Customer[]", "")]
    assert [[str(mark.confidence) for mark in marks] for marks in found] == [[""], ["low"]]


def test_a_queue_that_is_polled_and_parts_of_a_name_are_short():
    polled = "while (!done || queue.length) {\n  use(queue.shift());\n  await new Promise((r) => setTimeout(r, 50));\n}"
    assert lines_of(RULE, polled, "typescript") == []
    assert (
        lines_of(RULE, "def f(a):\n    paths = a.split('__')\n    while len(paths) > 1:\n        use(paths.pop(0))\n")
        == []
    )


def test_a_field_that_was_given_a_list_is_one():
    source = (
        "class A:\n    def __init__(self, known_ids: list[str]):\n        self.known_ids = known_ids\n"
        "    def f(self, events):\n        for event in events:\n            if event.id in self.known_ids:\n"
        "                skip(event)\n"
    )
    assert lines_of(RULE, source) == [6]
    assert lines_of(RULE, source.replace("list[str]", "set[str]")) == []


def test_what_follows_the_loop_does_not_leave_it():
    source = (
        "def f(queue: list):\n    done = []\n    while queue:\n        done.append(queue.pop(0))\n    return done\n"
    )
    assert lines_of(RULE, source) == [4]
    assert lines_of(RULE, source.replace("    return done", "        return done")) == []


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        (
            "def f(names: list[str], taken: list[str]):\n    return [n for n in names if n not in taken]\n",
            "python",
            [2],
        ),
        (
            "def f(wanted: list[str], columns: list[str]):\n    return {w: columns.index(w) for w in wanted}\n",
            "python",
            [2],
        ),
        (
            "def f(wanted: list[str], columns: list[str]):\n    return [w for w in wanted if w in columns]\n",
            "python",
            [],
        ),
        ("def f(wanted, columns):\n    return {w: columns.index(w) for w in wanted}\n", "python", []),
        ("def f(words, text: str):\n    return [w for w in words if w in text]\n", "python", []),
        ("def f(xs, text):\n    gone = text.split(',')\n    return [x for x in xs if x in gone]\n", "python", [3]),
        (
            "function f(xs) {\nconst kept = [];\nfor (const x of xs) {\nif (kept.indexOf(x) < 0) kept.push(x);\n}\n}",
            "javascript",
            [4],
        ),
        (
            "function f(xs) {\nconst kept = new Set();\nfor (const x of xs) {\nif (!kept.has(x)) kept.add(x);\n}\n}",
            "javascript",
            [],
        ),
        (
            'package a\nimport "slices"\nfunc f(wanted, columns []string) {\nfor _, w := range wanted {\n'
            "put(slices.Index(columns, w))\n}\n}",
            "go",
            [5],
        ),
        (
            'package a\nimport "slices"\nfunc f(wanted, columns []string) {\nfor _, w := range wanted {\n'
            "if slices.Contains(columns, w) { put(w) }\n}\n}",
            "go",
            [],
        ),
    ],
)
def test_a_known_list_is_told_whatever_it_is_called_and_a_position_of_any_list(source, language, lines):
    assert lines_of(RULE, source, language) == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("rows.removeIf(gone::contains);", [2]),
        ("return rows.stream().filter(gone::contains).toList();", [2]),
        ("return rows.stream().filter(Predicate.not(gone::contains)).toList();", [2]),
        ("return rows.stream().map(gone::indexOf).toList();", [2]),
        ("return rows.stream().anyMatch(gone::contains);", []),
    ],
)
def test_a_method_that_is_handed_over_is_called_for_each_element(body, lines):
    java = "class A {{ Object f(List<String> rows, {0}<String> gone) {{\n{1}\n}} }}"
    assert lines_of(RULE, java.format("List", body), "java") == lines
    assert lines_of(RULE, java.format("Set", body), "java") == []


def test_a_list_is_known_by_what_makes_it():
    java = (
        "class A {{ void f(List<String> rows) {{\nvar gone = {0};\nfor (String row : rows) {{\n"
        "if (gone.contains(row)) drop(row);\n}} }} }}"
    )
    assert lines_of(RULE, java.format("new ArrayList<>(load())"), "java") == [4]
    assert lines_of(RULE, java.format("new HashSet<>(load())"), "java") == []
    python = (
        "def load() -> {0}:\n    return read()\n\ndef f(rows):\n    gone = load()\n    for row in rows:\n"
        "        if row in gone:\n            drop(row)\n"
    )
    assert lines_of(RULE, python.format("list[str]")) == [7]
    assert lines_of(RULE, python.format("set[str]")) == []


def test_any_of_a_list_is_a_search_of_it():
    source = (
        "def f(orders, customers: list):\n    for o in orders:\n        if {0}(c.id == o.by for c in customers):\n"
        "            use(o)\n"
    )
    assert lines_of(RULE, source.format("any")) == [3]
    assert lines_of(RULE, source.format("sum")) == []


def test_comments_in_a_loop_of_go_are_no_statements():
    source = (
        "package a\nfunc f(orders []Order, customers []Customer) {\nfor _, o := range orders {\n"
        "for _, c := range customers {\n// the owner\nif c.ID == o.By { put(c) }\n}\n}\n}"
    )
    assert lines_of(RULE, source, "go") == [4]


def test_what_is_removed_by_a_function_is_looked_for_in_each_round():
    java = (
        "class A {{ void f(List<Order> orders, {0}<Long> gone) {{\norders.removeIf(o -> gone.contains(o.id()));\n}} }}"
    )
    assert lines_of(RULE, java.format("List"), "java") == [2]
    assert lines_of(RULE, java.format("Set"), "java") == []


@pytest.mark.parametrize(
    ("name", "lines"), [("join_keys", []), ("primaryKeys", []), ("trigger_names", []), ("user_keys", [4])]
)
def test_what_a_name_says_to_be_few_is_searched_quickly(name, lines):
    source = f"def f(rows):\n    {name} = list(load())\n    for row in rows:\n        if row in {name}: drop(row)\n"
    assert lines_of(RULE, source) == lines


def test_a_list_that_is_emptied_at_many_places_of_a_loop_is_told_once():
    source = (
        "function f(rows) {\n  while (rows.length) {\n    const x = rows.shift();\n    const y = rows.shift();\n  }\n}"
    )
    assert lines_of(RULE, source, "typescript") == [3]


@pytest.mark.parametrize(("grown", "found"), [("seen = append(seen, each.Name)", [7]), ("seen = seen[1:]", [])])
def test_a_slice_of_what_was_seen(grown, found):
    source = (
        'package a\n\nimport "slices"\n\nfunc names(seats []Seat, seen []string) {\n\tfor _, each := range seats {\n'
        f"\t\tif !slices.Contains(seen, each.Name) {{\n\t\t\t{grown}\n\t\t}}\n\t}}\n}}\n"
    )
    assert lines_of(RULE, source, "go") == found


def test_a_queue_that_begins_with_one_element():
    source = (
        "def walk(start, edges):\n    queue = [start]\n    while queue:\n        queue.extend(edges[queue.pop(0)])\n"
    )
    assert lines_of(RULE, source) == [4]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "if (ids.length > 9) {\n    const twice = ids.filter((id) => ids2.includes(id));\n"
            "    throw new Twice(twice);\n  }",
            [],
        ),
        ("if (ids.length > 9) {\n    const twice = ids.filter((id) => ids2.includes(id));\n    tell(twice);\n  }", [3]),
    ],
)
def test_a_search_on_the_way_to_an_error(body, lines):
    source = f"function f(ids: string[], ids2: string[]) {{\n  {body}\n}}"
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(("called", "lines"), [("merge", []), ("this.merge", []), ("join", [4]), ("b.merge", [4])])
def test_the_children_of_one_node_are_few(called, lines):
    source = (
        "class A {\n  void merge(List<Field> children, List<Field> others) {\n    for (Field child : children) {\n"
        "      for (Field other : others) {\n        if (child.getPath().equals(other.getPath())) {\n"
        f"          {called}(child, other);\n        }}\n      }}\n    }}\n  }}\n}}\n"
    )
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(("called", "lines"), [("merge", []), ("join", [4])])
def test_a_walk_down_a_tree_behind_the_search(called, lines):
    source = (
        "class A {\n  void merge(List<Field> children, List<Field> others) {\n    for (Field child : children) {\n"
        "      for (Field other : others) {\n        if (child.getPath().equals(other.getPath())) {\n"
        f"          found = other;\n        }}\n      }}\n      {called}(child, found);\n    }}\n  }}\n}}\n"
    )
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(("step", "lines"), [("n++;", []), ("advance();", [5])])
def test_a_name_that_nobody_has_taken_yet(step, lines):
    source = (
        "function f(taken: string[], slug: string) {\n  let n = 1;\n  while (more()) {\n"
        "    const tried = `${slug}-${n}`;\n    if (taken.indexOf(tried) < 0) { slug = tried; }\n"
        f"    {step}\n  }}\n}}"
    )
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(("variable", "lines"), [("section", []), ("each", [3])])
def test_one_of_few_by_its_name(variable, lines):
    source = f"function f(data: A[], ids: string[]) {{\n  for (const {variable} of data) {{\n"
    source += f"    if (ids.includes({variable}.id)) keep({variable});\n  }}\n}}"
    assert lines_of(RULE, source, "typescript") == lines


@pytest.mark.parametrize(
    ("rows", "severity"), [("list(Order.objects.all())", "warning"), ("orders", "info"), ("given", "info")]
)
def test_where_only_a_name_tells_of_many(rows, severity):
    source = f"def f(orders, held: list):\n    for each in {rows}:\n        if each in held:\n            keep(each)\n"
    (finding,) = findings_of(RULE, {"shop/a.py": source})
    assert finding.severity == severity
    assert findings_of(RULE, {"shop/management/commands/a.py": source}) == []


@pytest.mark.parametrize(
    ("asked", "confidence"),
    [
        ("jar.equals(order.getJar()) && ", "low"),
        ("order.getJar().equals(jar) && ", "low"),
        ("order.getJar().equals(order.getOldJar()) && ", ""),
        ("jar.equals(order.getJar()) || ", ""),
        ("", ""),
    ],
)
def test_what_only_elements_of_one_kind_are_searched_for_is_searched_seldom(asked, confidence):
    source = (
        "class A {\n  List<Order> find(String jar, Shop shop) {\n    List<Order> found = new ArrayList<>();\n"
        "    List<Order> orders = shop.findAll();\n    for (Order order : orders) {\n"
        f"      if ({asked}!found.contains(order)) {{\n        found.add(order);\n      }}\n    }}\n"
        "    return found;\n  }\n}\n"
    )
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == [confidence]


@pytest.mark.parametrize(("path", "count"), [("frontend/src/stores/file.ts", 0), ("src/stores/file.ts", 1)])
def test_a_guess_about_what_one_person_picks_is_none(path, count):
    source = (
        "export function keep(all: Item[], picked: Item[]) {\n"
        "  return all.filter((item) => picked.some((each) => each.url === item.url));\n}\n"
    )
    assert [str(each.confidence) for each in findings_of(RULE, {path: source})] == ["low"] * count
