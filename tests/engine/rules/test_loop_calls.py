import pytest

from analysis.engine.facts import Function, Loop, LoopCall, Parameter
from analysis.engine.rules.loop_calls import changing_parameters

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
