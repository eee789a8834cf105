"""What extract reads from Java."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.facts import FileFacts, FunctionFlag, ImportFlag, decode, encode


def java(source: str) -> FileFacts:
    facts = extract(source.encode(), "java")
    assert facts.skipped == ""
    assert decode(encode(facts)) == facts
    return facts


COMPLEXITY = [
    ("return 1;", 1, 0),
    ("if (a) x(); else y();", 2, 2),
    ("if (a) x(); else if (b) y(); else z();", 3, 3),
    ("if (a) x(); if (b) y();", 3, 2),
    ("for (A i : a) { if (i.b()) continue; }", 3, 3),
    ("for (int i = 0; i < 9; i++) { while (b) { do { x(); } while (c); } }", 4, 6),
    ("try { x(); } catch (A | B e) { if (a) y(); } finally { z(); }", 3, 3),
    ("try (var r = open()) { if (a) y(); }", 2, 1),
    ("switch (a) { case 1: x(); break; case 2: case 3: y(); break; default: z(); }", 3, 1),
    ("return switch (a) { case A, B -> 1; case C -> 2; default -> 3; };", 3, 1),
    ("return a && b && c || d;", 4, 2),
    ("return a ? b : c;", 2, 1),
    ("outer: for (;;) { for (;;) { break outer; } }", 3, 4),
    ("run(() -> { if (a) x(); });", 2, 2),
    ("synchronized (this) { if (a) x(); }", 2, 1),
    ("assert a;", 1, 0),
    ("return a ? 1 : f();", 2, 2),
    ("return a ? 1 : other.f();", 2, 1),
]


@pytest.mark.parametrize(("text", "cyclomatic", "cognitive"), COMPLEXITY)
def test_complexity_is_counted_as_by_hand(text, cyclomatic, cognitive):
    found = java(f"class K {{ int f() {{ {text} }} }}").functions[1]
    assert (found.cyclomatic, found.cognitive) == (cyclomatic, cognitive)


def test_a_call_of_another_method_of_the_name_is_no_recursion():
    facts = java("class K { int f() { return f(1); } int f(int a) { return a; } }")
    assert [each.cognitive for each in facts.functions[1:]] == [0, 0]


def test_the_parts_of_a_class():
    source = (
        "package a.b;\nimport java.util.List;\nimport static x.Y.z;\nimport q.*;\nimport org.web.GetMapping;\n"
        "@Service\npublic class K<T> extends Base<T> implements I, J {\n@Autowired Foo foo, bar = new Foo<T>(1);\n"
        '  public K(@Qualifier("a") Foo foo, int... n) { super(foo); }\n'
        '  @GetMapping("/a") public List<T> list(@PathVariable final String id) { return z(foo.bar().baz(1)); }\n'
        "  int getFoo() { return foo; }\n  public static void main(String[] args) {}\n"
        "  interface Q { void m(); }\n  @Test void works() {}\n}\n"
    )
    facts = java(source)
    assert facts.package == "a.b"
    assert facts.is_entry
    assert [(each.target, each.names, each.flags) for each in facts.imports] == [
        ("java.util.List", (), 0),
        ("x.Y.z", (), ImportFlag.STATIC),
        ("q", ("*",), 0),
        ("org.web.GetMapping", (), ImportFlag.ERASED),
    ]
    assert (facts.classes[0].bases, facts.classes[0].fields) == (("Base", "I", "J"), ("foo", "bar"))
    assert facts.classes[0].decorators == ("Service",)
    constructor, listed, getter, _main, abstract, test = facts.functions[1:]
    assert constructor.flags & FunctionFlag.CONSTRUCTOR
    assert [(each.name, each.annotation) for each in constructor.parameters] == [("foo", "Foo"), ("n", "")]
    assert listed.decorators == ('org.web.GetMapping("/a")',)
    assert listed.calls == ("x.Y.z", "foo.bar().baz", "foo.bar")
    assert getter.flags & FunctionFlag.ACCESSOR
    assert (abstract.name, abstract.owner) == ("K.Q.m", "K.Q")
    assert abstract.flags & FunctionFlag.ABSTRACT
    assert test.flags & FunctionFlag.TEST
    assert facts.exports == ("K",)
    assert [(each.function, each.kind, each.detail) for each in facts.entries] == [
        ("K.list", "request", 'GET "/a"'),
        ("K.main", "main", "main"),
    ]


def test_constructors_are_called_by_their_class():
    source = "import java.io.FileInputStream;\nclass K { void f() { new FileInputStream(p); new ArrayList<B>(); } }"
    assert java(source).functions[1].calls == ("java.io.FileInputStream", "ArrayList")


def test_names_of_a_chain_leave_out_arguments_comments_and_type_arguments():
    source = """import x.Order;
    class K { void f() { Order.<T>of(a("(")) // all of them
        .with('(')
        .each(new Row<T>(1).cells()); } }"""
    assert java(source).functions[1].calls == (
        "x.Order.of().with().each",
        "x.Order.of().with",
        "x.Order.of",
        "a",
        "newRow().cells",
        "Row",
    )


def test_loops_and_stream_callbacks():
    source = (
        "class K { void f() { for (Order o : repo.findAll()) { String r = o.region();\n"
        "    load(r); }\n  orders.stream().filter(x -> x.ok()).forEach(o -> repo.save(o));\n maybe.map(x -> x.y()); } }"
    )
    loop, first, second = java(source).loops
    assert (loop.variables, loop.iterable) == (("o",), "repo.findAll()")
    assert [(each.callee, each.uses_variable) for each in loop.calls] == [("o.region", True), ("load", True)]
    assert (first.kind, first.variables, first.iterable) == ("callback", ("x",), "orders")
    assert [(each.callee, each.uses_variable) for each in second.calls] == [("repo.save", True)]


def test_a_method_of_an_anonymous_class_belongs_to_the_method_around_it():
    facts = java("class K { void f() { run(new Runnable() { public void run() { if (a) x(); } }); } }")
    assert [(each.name, each.parent, each.cognitive) for each in facts.functions[1:]] == [
        ("K.f", 0, 0),
        ("K.f.run", 1, 2),
    ]
