import pytest

from tests.engine.rules.shop import findings

RULE = "risk-cascade-delete-large"
DELETING = "def f(pk):\n    Order.objects.filter(pk=pk).delete()"


def test_a_cascade_into_a_large_table_is_found_at_the_relation():
    (finding,) = findings(RULE, DELETING, volumes={"shop_line": "XXL"})
    assert (finding.file, finding.table, finding.volume, finding.severity) == (
        "shop/models.py", "shop_line", "XXL", "critical",
    )  # fmt: skip
    assert finding.message == (
        "Deleting a `Order` (`shop/work.py:4`) deletes its rows of `shop_line` (XXL) in the same transaction,"
        " through `Line.order`"
    )


@pytest.mark.parametrize(
    ("source", "volumes"),
    [
        (DELETING, {"shop_line": "M"}),
        (DELETING, {"shop_customer": "XL"}),
        ("def f(pk):\n    Order.objects.get(pk=pk)", {"shop_line": "XL"}),
        ("def f(pk):\n    Region.objects.filter(pk=pk).delete()", {"shop_customer": "XL"}),
    ],
)
def test_small_children_parents_that_stay_and_protected_rows_are_fine(source, volumes):
    assert findings(RULE, source, volumes=volumes) == []
