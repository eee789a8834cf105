import pytest

from analysis.engine.facts import Function, Loop, LoopCall, Parameter
from analysis.engine.readers.loop_calls import changing_parameters, rounds_of, unchanged_parameters

TARGET = Function("Shop.load", 1, 9, 9, 1, 0, 0, 0, parameters=(Parameter("self"), Parameter("key"), Parameter("kind")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("load(row.key,kind)", {"key"}),
        ("load(key,f(a,row))", {"kind"}),
        ("load(kind=row.kind)", {"kind"}),
        ("load(shop,kind)", set()),
        ("load({row,kind})", set()),
        ("3f2b9a", set()),
        ("row.load(1)", {"self", "this", "cls", "super"}),
    ],
)
def test_what_changes_from_round_to_round(text, expected):
    loop = Loop(0, 1, 3, "for", ("row",), "rows")
    assert changing_parameters(LoopCall("load", 2, True, False, text), loop, TARGET) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("load(row.key,shop)", {"kind"}),
        ("load(key=text,kind=shop.kind)", {"kind"}),
        ("load(shop,kind_of(shop))", {"key"}),
        ("load(row,self.kind)", set()),
        ("3f2b9a", set()),
    ],
)
def test_what_is_the_same_in_each_round(text, expected):
    loop = Loop(0, 1, 3, "for", ("row",), "rows")
    caller = Function("Shop.all", 1, 9, 9, 1, 0, 0, 0, parameters=(Parameter("self"), Parameter("shop")))
    assert unchanged_parameters(LoopCall("load", 2, True, False, text), loop, caller, TARGET) == expected


@pytest.mark.parametrize(
    ("iterable", "variable", "expected"),
    [
        ("orders", "each", "many"),
        ("customer.getOrders()", "each", "many"),
        ("await load_all(db)", "level", "few"),
        ("await load_all(db)", "row", "unknown"),
        ("kinds.items()", "each", "few"),
        ("self.roles", "each", "few"),
    ],
)
def test_names_tell_how_many_rounds_there_are(iterable, variable, expected):
    assert rounds_of(Loop(0, 1, 3, "for", (variable,), iterable), None).value == expected
