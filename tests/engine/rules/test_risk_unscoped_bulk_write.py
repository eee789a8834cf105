import pytest

from tests.engine.rules.shop import findings, lines

RULE = "risk-unscoped-bulk-write"

FLAGGED = [
    ("shop/work.py", "def f():\n    Order.objects.all().delete()"),
    ("shop/work.py", "def f():\n    Order.objects.update(is_paid=True)"),
    ("shop/work.py", "def f(cursor):\n    cursor.execute('DELETE FROM shop_order')"),
    ("shop/work.ts", "const f = async () =>\n  prisma.order.deleteMany();"),
    ("shop/work.ts", "const f = async () =>\n  prisma.order.updateMany({ data: { status: 'x' } });"),
]
FINE = [
    ("shop/work.py", "def f(pk):\n    Order.objects.filter(pk=pk).delete()"),
    ("shop/work.py", "def f(wanted):\n    Order.objects.filter(**wanted).delete()"),
    ("shop/work.py", "def f(rows):\n    rows.delete()"),
    ("shop/work.py", "def f():\n    order = Order.objects.get(pk=1)\n    order.delete()"),
    ("shop/work.py", "def f(cursor):\n    cursor.execute('DELETE FROM shop_order WHERE id = 1')"),
    ("shop/work.py", "def f(cursor):\n    cursor.execute('DELETE FROM tmp_order')"),
    ("shop/work.ts", "const f = async () =>\n  prisma.order.deleteMany({ where: { id: { in: ids } } });"),
    ("shop/work.ts", "const f = async (where) =>\n  prisma.order.deleteMany({ where });"),
    ("shop/management/commands/cleardb.py", "def f():\n    Order.objects.all().delete()"),
    ("tests/test_work.py", "def f():\n    Order.objects.all().delete()"),
]


@pytest.mark.parametrize(("path", "source"), FLAGGED)
def test_a_write_without_a_condition_is_found(path, source):
    assert lines(RULE, source, path) == [2]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_a_write_with_one_is_fine(path, source):
    assert lines(RULE, source, path) == []


def test_the_severity_follows_the_volume():
    (finding,) = findings(RULE, "Order.objects.all().delete()", volumes={"shop_order": "XL"})
    assert finding.message == "Every row of `Order` is deleted in one statement (table `shop_order`, XL)"
    assert finding.severity == "critical"


def test_a_function_that_says_all_means_all():
    assert lines(RULE, "def delete_all():\n    Order.objects.all().delete()") == []
    assert lines(RULE, "def delete_all():\n    Order.objects.all().delete()", volumes={"shop_order": "XL"}) == [2]
