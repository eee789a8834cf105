"""What extract reads from Go."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.extract.parsed import parse
from analysis.engine.facts import FileFacts, FunctionFlag, ImportFlag, decode, encode


def go(source: str) -> FileFacts:
    facts = extract(source.encode(), "go")
    assert facts.skipped == ""
    assert decode(encode(facts)) == facts
    return facts


COMPLEXITY = [
    ("return 1", 1, 0),
    ("if a { x() } else { y() }", 2, 2),
    ("if a { x() } else if b { y() } else { z() }", 3, 3),
    ("if err := g(); err != nil && a { x() }", 3, 2),
    ("for i, v := range a { if v { continue } }", 3, 3),
    ("for i := 0; i < 9; i++ { for x < 3 { for { y() } } }", 4, 6),
    ("switch a { case 1, 2: x(); case 3: default: z() }", 3, 1),
    ("switch v := a.(type) { case int: x(v); default: }", 2, 1),
    ("select { case <-ch: x(); default: }", 2, 1),
    ("outer: for { for { break outer } }", 3, 4),
    ("go func() { if a { x() } }()", 2, 2),
    ("return a || b && c", 3, 2),
    ("return f()", 1, 1),
]


@pytest.mark.parametrize(("text", "cyclomatic", "cognitive"), COMPLEXITY)
def test_complexity_is_counted_as_by_hand(text, cyclomatic, cognitive):
    found = go(f"package p\nfunc f() int {{ {text} }}\n").functions[1]
    assert (found.cyclomatic, found.cognitive) == (cyclomatic, cognitive)


def test_the_parts_of_a_file():
    source = (
        'package main\n\nimport (\n\t"net/http"\n\tm "x/y/v2"\n\t_ "w"\n\t"gopkg.in/yaml.v3"\n)\n\n'
        "// K is one.\ntype K struct {\n\tA, b int\n\t*m.Base\n}\n\ntype I interface{ M() }\ntype N int\n\n"
        "func (k *K) Serve(w http.ResponseWriter, r *http.Request) {\n\thttp.Get(k.b)\n\tm.F(yaml.Marshal(1))\n}\n\n"
        "func helper(a, b int, c ...string) {}\n\nfunc main() {}\n"
    )
    facts = go(source)
    assert (facts.package, facts.is_entry) == ("main", True)
    assert [(each.target, each.flags, each.aliases) for each in facts.imports] == [
        ("net/http", 0, ()),
        ("x/y/v2", 0, (("m", "x/y/v2"),)),
        ("w", ImportFlag.BARE, ()),
        ("gopkg.in/yaml.v3", 0, ()),
    ]
    assert [(each.name, each.fields, each.bases) for each in facts.classes] == [
        ("K", ("A", "b"), ("x/y/v2.Base",)),
        ("I", (), ()),
    ]
    serve, helper, _main = facts.functions[1:]
    assert (serve.name, serve.owner, serve.line) == ("K.Serve", "K", 19)
    assert serve.flags & FunctionFlag.METHOD
    assert serve.flags & FunctionFlag.EXPORTED
    assert serve.calls == ("net/http.Get", "x/y/v2.F", "gopkg.in/yaml.v3.Marshal")
    assert [(each.name, each.annotation) for each in helper.parameters] == [
        ("a", "int"),
        ("b", "int"),
        ("c", "...string"),
    ]
    assert [(each.function, each.kind) for each in facts.entries] == [("K.Serve", "request"), ("main", "main")]
    assert facts.exports == ("K", "I")


def test_loops_know_their_kind_and_variables():
    source = (
        "package p\nfunc f() {\n\tfor i, v := range items() {\n\t\tload(v)\n\t}\n\tfor i := 0; i < 5; i++ {\n\t}\n"
        "\tfor i := 0; i < n; i += size {\n\t}\n\tfor rows.Next() {\n\t\tscan()\n\t}\n}\n"
    )
    each_item, counted, stepped, repeated = go(source).loops
    assert (each_item.variables, each_item.iterable) == (("i", "v"), "items()")
    assert [(call.callee, call.uses_variable) for call in each_item.calls] == [("load", True)]
    assert (counted.bound, stepped.batched) == (5, True)
    assert (repeated.kind, [call.callee for call in repeated.calls]) == ("while", ["rows.Next", "scan"])


def test_a_loop_around_a_closure_is_not_a_loop_of_the_closure():
    file = parse(b"package p\nfunc f() {\n\tfor {\n\t\tgo func() { defer x() }()\n\t\tdefer y()\n\t}\n}\n", "go")
    inner, outer = (file.source.index(text) for text in (b"x()", b"y()"))
    node = file.tree.root_node.descendant_for_byte_range
    assert [file.in_loop(node(place, place + 3)) for place in (inner, outer)] == [False, True]


def test_functions_registered_for_routes_are_entries():
    source = (
        'package web\nimport "net/http"\n'
        "func routes(mux *http.ServeMux, r *gin.Engine, h *Handler) {\n"
        '\thttp.HandleFunc("/orders", list)\n'
        '\tmux.Handle("GET /orders/{id}", http.HandlerFunc(show))\n'
        '\tr.POST("/orders", auth, h.create)\n'
        '\tr.Get("/inline", func(c *gin.Context) {})\n'
        '\thttp.Post("/not/a/route", kind, body)\n'
        '\tcache.Get("key", fallback)\n'
        "}\n"
    )
    assert [(each.function, each.kind, each.detail) for each in go(source).entries] == [
        ("list", "request", "/orders"),
        ("show", "request", "GET /orders/{id}"),
        ("auth", "request", "POST /orders"),
        ("h.create", "request", "POST /orders"),
        ("routes", "request", "GET /inline"),
    ]


def test_a_long_function_called_where_it_stands_has_no_name():
    source = "package a\nfunc f() {\n\tdefer func() {\n" + "\t\tx := user.Load(a, b)\n" * 20 + "\t}()\n}\n"
    assert set(extract(source.encode(), "go").functions[1].calls) == {"()", "user.Load"}


def test_what_takes_messages_of_a_queue_is_a_job():
    source = (
        "package a\nfunc (c *C) take(ctx context.Context, m kafka.Message) {}\n"
        "func (c *C) hear(m *nats.Msg) {}\nfunc (c *C) keep(m mail.Message) {}\n"
    )
    assert [(each.function, each.kind) for each in go(source).entries] == [("C.take", "job"), ("C.hear", "job")]


def test_types_of_fields_and_what_an_interface_asks_for():
    source = (
        "package a\ntype S struct {\n\tout *till.Desk\n\tstore orderStore\n\tno int\n\tnames []string\n}\n"
        "type orderStore interface {\n\tio.Closer\n\tFind(ctx context.Context, a, b int) error\n}\n"
    )
    struct, interface = go(source).classes
    assert struct.field_types == (("out", "till.Desk"), ("store", "orderStore"))
    assert interface.methods == (("Find", 3),)


@pytest.mark.parametrize(("asked", "nesting"), [("err != nil", 4), ("loadErr != nil", 4), ("a.open", 5)])
def test_who_asks_for_the_error_guards_what_comes_behind_the_block(asked, nesting):
    loops = "for x { for y { for z { for a {"
    facts = extract(
        f"package a\nfunc f() int {{\n{loops}\nif {asked} {{ return 1 }}\n}}}}}}}}\nreturn 2\n}}\n".encode(), "go"
    )
    assert facts.functions[1].nesting == nesting
