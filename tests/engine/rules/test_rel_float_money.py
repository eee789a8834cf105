import pytest

from analysis.engine.rules.rel_float_money import is_amount
from tests.engine.rules.reading import findings_of

RULE = "rel-float-money"

DJANGO = "from django.db import models\n\nclass Order(models.Model):\n    %s\n"


@pytest.mark.parametrize(
    "name", ["price", "unit_price", "unitPrice", "amounts", "account_balance", "grandTotal", "fee"]
)
def test_names_of_amounts(name):
    assert is_amount(name)


@pytest.mark.parametrize(
    "name", ["price_rate", "amount_cents", "tax_percent", "priceChange", "total", "distance", "fuel_price", "feedback"]
)
def test_names_of_other_things(name):
    assert not is_amount(name)


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        ("shop/models.py", DJANGO % "price = models.FloatField()", [4]),
        ("shop/models.py", DJANGO % "price = models.DecimalField(max_digits=9, decimal_places=2)", []),
        ("shop/models.py", DJANGO % "price_cents = models.FloatField()", []),
        ("shop/models.py", DJANGO % "total = models.FloatField()", [4]),
        ("shop/models.py", DJANGO.replace("Order", "Scan") % "total = models.FloatField()", []),
        ("schema.prisma", "model Order {\n  id Int @id\n  price Float\n  total Decimal\n}\n", [3]),
        ("db/schema.sql", "CREATE TABLE orders (\n  id int,\n  price double precision,\n  fee numeric(9, 2)\n);", [3]),
        ("Order.java", "class Order {\n  private double price;\n  private BigDecimal fee;\n}", [2]),
        ("order.go", "package a\n\ntype Order struct {\n\tPrice float64\n\tFeeCents int64\n}", [4]),
        ("order.py", "def total(order):\n    return float(order.price) * 3\n", [2]),
        ("order.py", "def total(order):\n    return float(order.weight) * 3\n", []),
        ("order.ts", "const total = parseFloat(req.body.amount);\n", [1]),
        ("order.ts", "const total = parseFloat(req.body.height);\n", []),
        ("order.py", "class Order(BaseModel):\n    price: float\n    weight: float\n    fee: Decimal\n", [2]),
        ("order.py", "class DailyStats(BaseModel):\n    balance: float\n    fee: float = 0\n", []),
        ("order.py", "def few(AMOUNT):\n    return int(AMOUNT * 0.6)\n", []),
        ("order.py", "def zoom(amount):\n    return math.log(226.8 * amount)\n", []),
        ("order.py", "def total(price):\n    return print(price * 0.6)\n", [2]),
        ("order.tsx", "const price = amount === '' ? null : parseFloat(amount);\n", []),
        ("order.tsx", "const price = amount === null ? null : parseFloat(amount);\n", [1]),
        ("order.py", "def total(price: float):\n    return price\n", []),
        ("order.py", "class Order(BaseModel):\n    price: float\n    quantity: int\n", [2]),
        ("order.py", "class Mix(BaseModel):\n    amount: float\n    quantity: int\n", []),
        (
            "Order.java",
            "import jakarta.persistence.*;\n\n@Entity\nclass Order {\n  private Float shippingCost;\n}",
            [5],
        ),
        ("order.go", "package a\n\ntype Order struct {\n\tgorm.Model\n\tTotal float64\n}", [5]),
        ("food.py", "class Ingredient(BaseModel):\n    amount: float\n    food: str\n", []),
        ("order.ts", "const shown = parseFloat(balance).toFixed(2);\n", []),
        ("order.py", "gross = order.price * 1.19\n", [1]),
        ("order.py", "gross = round(order.price * 1.19)\n", []),
        ("order.py", "long = order.weight * 1.19\n", []),
        ("order.ts", "const gross = item.unitPrice * 1.19;\n", [1]),
        ("order.ts", "const gross = item.priceCents * 2;\n", []),
        ("Order.java", "class Order {\n  double f(double price) {\n    return price * 0.9;\n  }\n}", [3]),
    ],
)
def test_amounts_in_floats(path, source, lines):
    assert [finding.line for finding in findings_of(RULE, {path: source})] == lines


def test_in_billing_code_it_is_critical():
    (finding,) = findings_of(RULE, {"billing/models.py": DJANGO % "price = models.FloatField()"})
    assert (finding.severity, finding.confidence) == ("critical", "medium")
    assert finding.message == "`Order.price` is an amount of money in a `FloatField`"
