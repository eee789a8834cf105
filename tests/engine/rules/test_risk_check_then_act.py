import pytest

from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "risk-check-then-act"

FLAGGED = [
    ("def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        Order.objects.create(reference=r)", 3),
    (
        "def f(r):\n    if "
        "Order.objects.filter(reference=r).exists():\n"
        "        raise Taken\n"
        "    Order.objects.create(reference=r)",
        4,
    ),
    ("def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        Order(reference=r).save()", 3),
]
FINE = [
    "def f(r):\n    Order.objects.get_or_create(reference=r)",
    "def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        Line.objects.create(amount=1)",
    "def f(r):\n    if not Order.objects.filter(reference=r).exists():\n        return None",
    "def f(r):\n    try:\n"
    "        if not "
    "Order.objects.filter(reference=r).exists():\n"
    "            Order.objects.create(reference=r)\n"
    "    except IntegrityError:\n        pass",
    "def f(r):\n    "
    "Customer.objects.select_for_update().get(pk=1)\n"
    "    if not Order.objects.filter(reference=r).exists():\n"
    "        Order.objects.create(reference=r)",
]


@pytest.mark.parametrize(("source", "line"), FLAGGED)
def test_a_row_looked_for_and_then_made_is_found_where_it_is_made(source, line):
    assert lines(RULE, source) == [line]


@pytest.mark.parametrize("source", FINE)
def test_atomic_or_handled_ways_are_fine(source):
    assert lines(RULE, source) == []


def test_a_unique_column_makes_it_worth_knowing():
    source = (
        "def f(c):\n    if "
        "Region.objects.filter(code=c).exists():\n"
        "        raise Taken\n"
        "    Region.objects.create(code=c)"
    )
    (finding,) = findings(RULE, source)
    assert finding.severity == "info"


def test_the_message_and_the_fix_name_the_columns():
    (finding,) = findings(RULE, FLAGGED[0][0])
    assert finding.message.startswith("`Order` is looked for on line 4 and created here")
    assert finding.suggestion == "Use `Order.objects.get_or_create(...)` backed by a unique constraint on reference."
    assert (finding.severity, finding.confidence) == ("warning", "medium")


VIEW = "import os\nfrom rest_framework.views import APIView\nclass A(APIView):\n    def get(self, request):\n        "


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if not os.path.exists(path):\n            os.makedirs(path)", 1),
        ("if os.path.exists(path):\n            os.remove(path)", 1),
        ("if not path.exists():\n            path.mkdir(parents=True)", 1),
        ("os.makedirs(path, exist_ok=True)", 0),
        ("if not os.path.exists(path):\n            os.makedirs(path, exist_ok=True)", 0),
        ("if os.path.exists(path):\n            read(path)", 0),
    ],
)
def test_files_on_the_request_path(body, count):
    assert len(findings_of(RULE, {"a.py": VIEW + body})) == count
    assert findings_of(RULE, {"a.py": "import os\ndef f(path):\n    " + body.replace("        ", "    ")}) == []


LOAD = "async function f(e) {\n  const user = await prisma.customer.findFirst({ where: { name: e } });\n"


@pytest.mark.parametrize(
    ("rest", "severities"),
    [
        ("  if (!user) {\n    await prisma.customer.create({ data });\n  }\n}", ["warning"]),
        ("  if (!user) {\n    throw new NotFound();\n  }\n}", []),
        (
            (
                "  if (!user) {\n    try { await "
                "prisma.customer.create({}); } "
                "catch (e) { if "
                "(e.code !== "
                "'P2002') throw e; }\n  }\n}"
            ),
            [],
        ),
    ],
)
def test_prisma(rest, severities):
    assert [each.severity for each in findings(RULE, LOAD + rest, "shop/work.ts")] == severities


def test_prisma_with_a_unique_column():
    source = LOAD.replace("name:", "email:") + "  if (!user) {\n    await prisma.customer.create({ data });\n  }\n}"
    assert [each.severity for each in findings(RULE, source, "shop/work.ts")] == ["info"]


@pytest.mark.parametrize(
    ("field", "count"),
    [
        ("private final Map<String, Row> rows = new HashMap<>();", 1),
        ("", 0),
        ("private Lock lock; private Map<A, B> rows = x;", 0),
    ],
)
def test_java_maps_that_are_shared(field, count):
    source = (
        f"class A {{\n  {field}\n  void f(K k) {{\n"
        f"    if (!rows.containsKey(k)) {{\n"
        f"      rows.put(k, v);\n    }}\n  }}\n}}"
    )
    assert len(findings_of(RULE, {"A.java": source})) == count


GO = """package a
import "os"

func main() {
	if _, err := os.Stat(p); os.IsNotExist(err) {
		os.%s(p, 0o755)
	}
}
"""


def test_go_files():
    assert [each.line for each in findings_of(RULE, {"a.go": GO % "Mkdir"})] == [6]
    assert findings_of(RULE, {"a.go": GO % "MkdirAll"}) == []
