"""What extract reads from Python."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.facts import FileFacts, Function, FunctionFlag, ImportFlag, decode, encode


def python(source: str) -> FileFacts:
    facts = extract(source.encode(), "python")
    assert decode(encode(facts)) == facts
    return facts


def function(source: str) -> Function:
    return python(source).functions[1]


def body(text: str) -> str:
    return "def f():\n" + "".join(f"    {line}\n" for line in text.splitlines())


# source of a body, cyclomatic, cognitive: counted by hand
COMPLEXITY = [
    ("return 1", 1, 0),
    ("if a:\n    x", 2, 1),
    ("if a:\n    x\nelse:\n    y", 2, 2),
    ("if a:\n    x\nelif b:\n    y\nelse:\n    z", 3, 3),
    ("if a:\n    x\nif b:\n    y", 3, 2),
    ("for i in a:\n    if i:\n        continue", 3, 3),
    ("for i in a:\n    for j in b:\n        if i:\n            if j:\n                x", 5, 10),
    ("while a:\n    x\nelse:\n    y", 2, 2),
    ("try:\n    x\nexcept A:\n    y\nexcept B:\n    z\nelse:\n    u\nfinally:\n    v", 3, 2),
    ("try:\n    x\nexcept A:\n    if a:\n        y", 3, 3),
    ("try:\n    x\nexcept A:\n    y\nelse:\n    z\nif a:\n    x", 3, 2),
    ("with a:\n    if b:\n        x", 2, 1),
    ("return a and b and c", 3, 1),
    ("return a and b or c", 3, 2),
    ("return a and b or c and d", 4, 3),
    ("return a or b and c or d", 4, 3),
    ("return a if b else c", 2, 1),
    ("return [i for i in a if i]", 3, 0),
    ("match a:\n    case 1:\n        x\n    case 2 | 3:\n        y\n    case _:\n        z", 3, 1),
    ("match a:\n    case 1 if b:\n        x", 3, 1),
    ("assert a", 1, 0),
    ("return f()", 1, 1),
    ("g(lambda x: x if a else b)", 2, 2),
]


@pytest.mark.parametrize(("text", "cyclomatic", "cognitive"), COMPLEXITY)
def test_complexity_is_counted_as_by_hand(text, cyclomatic, cognitive):
    found = function(body(text))
    assert (found.cyclomatic, found.cognitive) == (cyclomatic, cognitive)


def test_a_nested_function_has_its_own_entry_and_starts_a_level_deeper():
    facts = python("def f():\n    def g():\n        if a:\n            x\n")
    assert [(each.name, each.parent, each.cognitive) for each in facts.functions] == [
        ("module", -1, 0),
        ("f", 0, 0),
        ("f.g", 1, 2),
    ]


def test_nesting_names_the_first_structure_below_four_levels():
    text = (
        "for a in b:\n    if a:\n        while c:\n            with d:\n                try:\n                    x\n"
    )
    found = function(body(text + "                except E:\n                    y"))
    assert (found.nesting, found.nesting_line) == (5, 6)


def test_a_guard_clause_is_no_level():
    text = "for a in b:\n if a:\n  while c:\n   with d:\n    if e:\n     return\n    # why\n    x()"
    assert function(body(text)).nesting == 4


def test_what_guards_nothing_is_a_level():
    text = "for a in b:\n if a:\n  while c:\n   with d:\n    if e:\n     return a\n    # done"
    found = function(body(text))
    assert (found.nesting, found.nesting_line) == (5, 6)


def test_lines_of_code_leave_out_blanks_comments_and_docstrings():
    facts = python(
        '"""Doc\nof the file."""\n\n# why\ndef f():\n    """Doc."""\n\n    # why\n    x = 1  # here\n    return x\n'
    )
    assert (facts.lines, facts.code_lines, facts.comment_lines) == (10, 3, 5)
    assert facts.functions[1].code_lines == 3
    assert facts.functions[0].code_lines == 0


def test_methods_carry_owner_flags_and_decorators():
    source = (
        "from app.web import route as r\n"
        "class Shop(Base, models.Model):\n"
        "    name = 1\n"
        "    def __init__(self): self.items = []\n"
        "    @r('/x', methods=['GET'])\n"
        "    async def list(self): yield 1\n"
        "    def _hidden(self): ...\n"
        "def test_it(): ...\n"
    )
    facts = python(source)
    init, listed, hidden, test = facts.functions[1:]
    assert (init.name, init.owner, init.line) == ("Shop.__init__", "Shop", 4)
    assert init.flags & FunctionFlag.CONSTRUCTOR
    assert listed.decorators == ("app.web.route('/x', methods=['GET'])",)
    assert listed.flags & FunctionFlag.ASYNC and listed.flags & FunctionFlag.GENERATOR
    assert not hidden.flags & FunctionFlag.EXPORTED
    assert test.flags & FunctionFlag.TEST and test.owner == ""
    assert facts.classes[0].bases == ("Base", "models.Model")
    assert facts.classes[0].fields == ("name", "items")


def test_parameters_know_annotation_default_and_whether_they_are_keyword_only():
    found = function("def f(self, a, /, b: int = 1, *args, c, d: str = '', **options): ...\n").parameters
    assert [(each.name, each.annotation, each.has_default, each.keyword_only) for each in found] == [
        ("self", "", False, False),
        ("a", "", False, False),
        ("b", "int", True, False),
        ("*args", "", False, False),
        ("c", "", False, True),
        ("d", "str", True, True),
        ("**options", "", False, False),
    ]


def test_imports_and_their_flags():
    source = (
        "import a.b, c as d\n"
        "from . import e\n"
        "from ..f.g import h as i, j\n"
        "from k import *\n"
        "if TYPE_CHECKING:\n    import l\n"
        "def f():\n    import m\n"
        "if __name__ == '__main__':\n    import n\n"
    )
    found = [(each.target, each.line, each.names, each.level, each.flags) for each in python(source).imports]
    assert found == [
        ("a.b", 1, (), 0, 0),
        ("c", 1, (), 0, 0),
        ("", 2, ("e",), 1, 0),
        ("f.g", 3, ("h", "j"), 2, 0),
        ("k", 4, ("*",), 0, 0),
        ("l", 6, (), 0, ImportFlag.TYPE_ONLY),
        ("m", 8, (), 0, ImportFlag.DEFERRED),
        ("n", 10, (), 0, ImportFlag.DEFERRED),
    ]


def test_calls_are_distinct_and_resolved_through_imports():
    source = (
        "import os.path as p\nfrom requests import get as fetch\nfrom .models import Order\n"
        "def f():\n    fetch(p.join(a))\n    fetch(b)\n    Order.objects.filter(x=1).first()\n    x[1](2)\n"
    )
    assert function(source).calls == (
        "requests.get",
        "os.path.join",
        ".models.Order.objects.filter().first",
        ".models.Order.objects.filter",
        "x[]",
    )


def test_loops_know_what_runs_each_round_and_what_depends_on_it():
    source = body(
        "for order in Order.objects.all():\n    region = order.region\n    load(region)\n    log('x')\n"
        "    await send(order)\n[g(i) for i in h()]\nwhile pages():\n    x"
    )
    facts = python(source)
    walk, comprehension, repeat = facts.loops
    assert (walk.kind, walk.variables, walk.iterable) == ("for", ("order",), "Order.objects.all()")
    assert [(each.callee, each.uses_variable, each.awaited) for each in walk.calls] == [
        ("load", True, False),
        ("log", False, False),
        ("send", True, True),
    ]
    assert (comprehension.kind, [each.callee for each in comprehension.calls]) == ("comprehension", ["g"])
    assert (repeat.kind, [each.callee for each in repeat.calls]) == ("while", ["pages"])


@pytest.mark.parametrize(
    ("iterable", "bound", "batched"),
    [("[1, 2, 3]", 3, False), ("range(5)", 5, False), ("rows[:10]", 10, False), ("chunks(a, 9)", 0, True)],
)
def test_bounds_and_batches_of_loops(iterable, bound, batched):
    (loop,) = python(body(f"for i in {iterable}:\n    x")).loops
    assert (loop.bound, loop.batched) == (bound, batched)


def test_entries_are_routes_tasks_commands_and_main():
    source = (
        "from celery import shared_task\n"
        "@app.get('/orders')\ndef orders(): ...\n"
        "@shared_task\ndef send(): ...\n"
        "if __name__ == '__main__':\n    orders()\n"
    )
    facts = python(source)
    assert [(each.function, each.kind, each.detail) for each in facts.entries] == [
        ("orders", "request", "GET '/orders'"),
        ("send", "job", "celery.shared_task"),
        ("module", "main", "__main__"),
        ("orders", "main", "__main__"),
    ]
    assert facts.is_entry


def test_suppressions_cover_their_line_or_the_next_and_need_a_reason():
    source = (
        "# debt: ignore-file[a-b] generated by hand\n"
        "x = 1  # debt: ignore[c-d, e-f] the table is tiny\n"
        "# debt: ignore[g-h] known\n# and more\ny = 2\n"
        "z = 3  # debt: ignore[i-j]\n"
        "t = 'debt: ignore[k-l] in a string'\n"
    )
    facts = python(source)
    assert [(each.line, each.rules, each.reason) for each in facts.suppressions] == [
        (0, ("a-b",), "generated by hand"),
        (2, ("c-d", "e-f"), "the table is tiny"),
        (5, ("g-h",), "known"),
    ]
    assert facts.unreasoned_suppressions == (6,)


def test_outside_of_broken_code_everything_is_still_seen():
    source = (
        "def good():\n    if a:\n        run()\n\nclass ((( $$$ ???\n\ndef fine():\n    for i in b:\n        go()\n"
    )
    facts = python(source)
    assert {"good", "fine"} <= {each.name for each in facts.functions}
    assert facts.error_bytes > 0


def test_a_patched_test_is_no_route():
    facts = extract(
        b'from unittest.mock import patch\n\n@patch("shop.client.rates")\ndef test_it(rates):\n    pass\n', "python"
    )
    assert facts.entries == ()


def test_a_patch_route_is_one():
    facts = extract(b'@app.patch("/orders")\ndef change():\n    pass\n', "python")
    assert [(entry.kind, entry.function) for entry in facts.entries] == [("request", "change")]


def test_methods_of_views_and_resolvers_are_entries():
    source = """
from rest_framework.viewsets import ModelViewSet

class Orders(ModelViewSet):
    def get_queryset(self): ...
    def helper(self): ...

class Plain:
    def get(self): ...

class OrderCreate(Mutation):
    @classmethod
    def perform_mutation(cls, _root, info, /, **data): ...
    def resolve_total(root, info): ...
    def resolve_path(self, path): ...
"""
    facts = extract(source.encode(), "python")
    assert [(each.function, each.kind) for each in facts.entries] == [
        ("Orders.get_queryset", "request"),
        ("OrderCreate.perform_mutation", "request"),
        ("OrderCreate.resolve_total", "request"),
    ]


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("rows = sqs.receive_message(QueueUrl=url)", ["job"]),
        ("channel.start_consuming()", ["job"]),
        ("for row in KafkaConsumer('orders'):\n        done(row)", ["job"]),
        ("rows = sqs.send_message(QueueUrl=url)", []),
    ],
)
def test_who_waits_for_messages_of_a_queue_is_an_entry(body, kinds):
    facts = extract(f"from kafka import KafkaConsumer\ndef run(sqs, channel, url):\n    {body}\n".encode(), "python")
    assert [each.kind for each in facts.entries] == kinds
