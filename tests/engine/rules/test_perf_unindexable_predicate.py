import pytest

from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-unindexable-predicate"

FLAGGED = [
    "def f(t):\n    return list(Order.objects.filter(reference__icontains=t))",
    "def f(t):\n    return Order.objects.filter(reference__endswith=t).count()",
    "def f():\n    return Order.objects.order_by('?').first()",
]
FINE = [
    "def f(t):\n    return list(Order.objects.filter(reference__startswith=t))",
    "def f(t, c):\n    return list(Order.objects.filter(reference__icontains=t, customer=c))",
    "def f(t):\n    return list(Region.objects.filter(code='a', code__icontains=t))",
    "def f(t):\n    return Order.objects.filter(reference__icontains=t)",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_what_reads_every_row_is_found(source):
    assert lines(RULE, source) == [2]


@pytest.mark.parametrize("source", FINE)
def test_prefixes_narrowed_and_lazy_queries_are_fine(source):
    assert lines(RULE, source) == []


def test_severity_follows_the_size_of_the_table():
    severities = [
        [each.severity for each in findings(RULE, FLAGGED[0], volumes={"Order": size})] for size in ("S", "XL")
    ]
    assert severities == [[], ["warning"]]
    (finding,) = findings(RULE, FLAGGED[0], volumes={"Order": "XXL"})
    assert finding.severity == "critical"
    assert finding.message == (
        "`Order.reference` is searched inside of its text: every row is read (table `shop_order`, XXL)"
    )


PARCELS = """from sqlalchemy import Column, Integer, String
from shop.base import Base


class Parcel(Base):
    __tablename__ = "parcels"
    id = Column(Integer, primary_key=True)
    label = Column(String)


def f(session, text):
    return session.query(Parcel).filter(Parcel.label.%s).all()
"""


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("ilike(f'%{text}')", "is searched inside of its text"),
        ("ilike(text)", "is searched inside of its text"),
        ("ilike(f'{text}%')", "is compared inside of a function"),
    ],
)
def test_letters_of_both_cases_are_no_search_inside_of_a_text(condition, said):
    (finding,) = findings_of(RULE, {"shop/work.py": PARCELS % condition})
    assert said in finding.message
