import pytest

from tests.engine.rules.shop import findings

RULE = "perf-over-fetch"


def test_all_columns_of_a_table_with_texts():
    source = "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer WHERE id = %s', [1])"
    (finding,) = findings(RULE, source, volumes={"Customer": "XL"})
    assert finding.message == "`SELECT *` fetches every column of `shop_customer`, among them `note` (3 columns)"
    assert (finding.severity, finding.table) == ("warning", "shop_customer")


def test_narrow_unknown_and_small_tables_and_named_columns_are_fine():
    for text in ("SELECT * FROM wallet", "SELECT * FROM other", "SELECT id FROM shop_customer"):
        assert findings(RULE, f"def f(cursor):\n    cursor.execute('{text}')") == []
    assert (
        findings(RULE, "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer')", volumes={"Customer": "S"})
        == []
    )


def test_the_text_may_stand_in_a_variable_or_in_a_call_that_wraps_it():
    held = "def f(cursor):\n    query = 'SELECT * FROM shop_customer'\n    cursor.execute(query)"
    wrapped = "from sqlalchemy import text\n\ndef f(session):\n    session.execute(text('SELECT * FROM shop_customer'))"
    assert len(findings(RULE, held)) == 1
    assert len(findings(RULE, wrapped)) == 1


def test_rows_that_are_kept_are_needed_whole():
    source = (
        "def f(kinds):\n    rows = list(Order.objects.filter(is_paid=True))\n"
        "    return {kind: [row for row in rows if row.status == kind] for kind in kinds}"
    )
    assert findings(RULE, source, volumes={"Order": "XL"}) == []


@pytest.mark.parametrize(("read", "count"), [("row.status", 1), ("row.customer", 0), ("row.customer.email", 0)])
def test_a_row_behind_a_key_is_no_column(read, count):
    source = f"def f():\n    rows = Order.objects.filter(is_paid=True)\n    for row in rows:\n        show({read})"
    assert len(findings(RULE, source, volumes={"Order": "XL"})) == count


def test_the_rows_of_one_parent_are_few():
    for condition, count in (("customer_id=key", 0), ("is_paid=True", 1)):
        source = (
            f"def f(key):\n    rows = Order.objects.filter({condition})\n    for row in rows:\n        show(row.status)"
        )
        assert len(findings(RULE, source, volumes={"Order": "XL"})) == count


def test_rows_that_a_value_picks_are_few():
    source = "def f(x):\n    rows = Order.objects.filter(status=x)\n    for row in rows:\n        show(row.total)"
    assert findings(RULE, source, volumes={"Order": "XL"}) == []


def test_rows_that_are_only_locked_are_not_read():
    text = "SELECT * FROM shop_customer WHERE id = 1 FOR UPDATE"
    assert findings(RULE, f"def f(cursor):\n    cursor.execute('{text}')") == []


def test_one_row_may_be_fetched_whole():
    assert findings(RULE, "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer LIMIT 1')") == []


def test_a_row_that_a_value_picks_is_a_guess():
    text = "SELECT * FROM shop_customer WHERE id = %s"
    (finding,) = findings(RULE, f"def f(cursor):\n    cursor.execute('{text}', [1])")
    assert finding.confidence == "low"


@pytest.mark.parametrize(("size", "confidence"), [("XL", "medium"), ("M", "low")])
def test_all_columns_of_a_few_rows_may_be_wanted(size, confidence):
    source = "def f(cursor):\n    cursor.execute('SELECT * FROM shop_customer')"
    (finding,) = findings(RULE, source, volumes={"Customer": size})
    assert finding.confidence == confidence
