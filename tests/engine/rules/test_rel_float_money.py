import pytest

from analysis.engine.readers.money_names import is_amount
from tests.engine.rules.reading import findings_of, lines_of

RULE = "rel-float-money"

DJANGO = "from django.db import models\n\nclass Order(models.Model):\n    %s\n"
SQLALCHEMY = (
    "class Base(DeclarativeBase): ...\n\nclass Order(Base):\n    __tablename__ = 'orders'\n"
    "    id: Mapped[int] = mapped_column(primary_key=True)\n    %s\n"
)
DRIZZLE = "import { pgTable } from 'drizzle-orm/pg-core';\nexport const products = pgTable('products', {\n  %s,\n});\n"
FLASK = "db = SQLAlchemy()\n\nclass Order(db.Model):\n    id = db.Column(db.Integer, primary_key=True)\n    %s\n"


@pytest.mark.parametrize(
    "name",
    [
        "price",
        "unit_price",
        "unitPrice",
        "amounts",
        "account_balance",
        "grandTotal",
        "fee",
        "fuel_cost",
        "leaseCost",
        "totalprice",
        "hourly_wage",
        "grossPay",
    ],
)
def test_names_of_amounts(name):
    assert is_amount(name)


@pytest.mark.parametrize(
    "name",
    [
        "price_rate",
        "amount_cents",
        "tax_percent",
        "priceChange",
        "total",
        "distance",
        "fuel_price",
        "feedback",
        "coffee",
        "cost",
        "pathCost",
        "cpu_cost",
        "slopeSafetyCost",
        "walk_cost",
        "shippingCostRatio",
    ],
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
        ("Order.java", "class Order {\n  double price;\n}", [2]),
        ("Order.java", "record Order(String id, double price) {}", [1]),
        ("Scan.java", "record Scan(String id, double width) {}", []),
        ("Invoice.java", "class Invoice {\n  private double total;\n}", [2]),
        ("Scan.java", "class Scan {\n  private double total;\n}", []),
        ("Spin.java", "import java.awt.Graphics;\n\nclass Spin {\n  private double amount;\n}", []),
        ("Order.java", "class A {\n  double f(Item item) {\n    return item.getPrice() * 0.2;\n  }\n}", [3]),
        ("A.java", 'class A {\n  double f = Double.parseDouble(request.getParameter("price"));\n}', [2]),
        ("order.go", "package a\n\ntype Invoice struct {\n\tTotal float64\n}", [4]),
        ("order.go", "package a\n\ntype Scan struct {\n\tTotal float64\n}", []),
        ("order.go", "package a\n\nfunc f(o Order) float64 { return o.Price * 1.19 }", [3]),
        ("order.go", "package a\n\nfunc f(o Order) { paid, err := strconv.ParseFloat(o.Price, 64) }", [3]),
        ("order.py", "class Invoice(BaseModel):\n    total: float\n    tax: float\n", [2, 3]),
        ("order.py", "class Run(BaseModel):\n    total: float\n    cost: float\n", []),
        ("order.py", "class OrderOut(Serializer):\n    price = serializers.FloatField()\n", [2]),
        ("order.py", "tax = invoice.total * 0.19\n", [1]),
        ("order.py", "share = scan.total * 0.19\n", []),
        ("order.py", "price *= 1.19\n", [1]),
        ("order.py", "price *= 2\n", []),
        ("order.ts", "price += 0.5;\n", [1]),
        ("shop/models.py", DJANGO.replace("Order", "Product") % "cost = models.FloatField()", [4]),
        ("shop/models.py", SQLALCHEMY % "price: Mapped[float] = mapped_column()", [6]),
        ("shop/models.py", SQLALCHEMY % "price: Mapped[Optional[float]] = mapped_column()", [6]),
        ("shop/models.py", SQLALCHEMY % "price: Mapped[Decimal] = mapped_column()", []),
        ("src/schema.ts", DRIZZLE % "price: doublePrecision('price').notNull()", [3]),
        ("src/schema.ts", DRIZZLE % "price: real()", [3]),
        ("src/schema.ts", DRIZZLE % "price: numeric({ precision: 9, scale: 2 })", []),
        ("src/schema.ts", DRIZZLE % "priceCents: integer()", []),
        ("shop/models.py", FLASK % "price = db.Column(db.Float)", [5]),
        ("shop/models.py", FLASK % "price = db.Column(db.Numeric)", []),
    ],
)
def test_amounts_in_floats(path, source, lines):
    assert [finding.line for finding in findings_of(RULE, {path: source})] == lines


def test_one_finding_for_a_column_that_is_a_field_as_well():
    source = '@Entity\nclass Order {\n  @Id Long id;\n  @Column(name = "p")\n  private double price;\n}'
    (finding,) = findings_of(RULE, {"Order.java": f"import jakarta.persistence.*;\n{source}"})
    assert finding.line == 6


@pytest.mark.parametrize(("field", "confidence"), [("currency: str", "medium"), ("depth: int", "low")])
def test_an_amount_of_what_nobody_says_is_a_guess(field, confidence):
    (finding,) = findings_of(RULE, {"a.py": f"class Row(BaseModel):\n    amount: float\n    {field}\n"})
    assert finding.confidence == confidence


def test_in_billing_code_it_is_critical():
    (finding,) = findings_of(RULE, {"billing/models.py": DJANGO % "price = models.FloatField()"})
    assert (finding.severity, finding.confidence) == ("critical", "medium")
    assert finding.message == "`Order.price` is an amount of money in a `FloatField`"


def test_cents_of_another_field_say_nothing():
    source = "class Order(BaseModel):\n    price: float\n    total_cents: int\n"
    assert lines_of(RULE, source) == [2]
    assert lines_of(RULE, source.replace("price: float", "price: float  # in cents")) == []


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("shop/a.go", "package a\ntype Order struct {\n\tTotal float64\n}\n", 1),
        ("shop/a.go", "package a\ntype Page struct {\n\tTotal float64\n}\n", 0),
        ("shop/a.py", "class InvoiceOut(BaseModel):\n    total: float\n", 1),
        ("shop/A.java", "class Receipt { private double total; }", 1),
    ],
)
def test_the_total_of_a_bill_is_money(path, source, count):
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("class Food(BaseModel):\n    serving_amount: float\n", 0),
        ("energy = float(nutrient.get('amount'))\n", 0),
        ("paid = float(body.get('amount'))\n", 1),
    ],
)
def test_amounts_of_what_is_eaten(source, count):
    assert len(findings_of(RULE, {"a.py": source})) == count


@pytest.mark.parametrize(("name", "count"), [("max_rollover_amount", 0), ("usage_amount", 0), ("refund_amount", 1)])
def test_amounts_of_use_are_no_money(name, count):
    assert len(findings_of(RULE, {"shop/models.py": DJANGO % f"{name} = models.FloatField()"})) == count


@pytest.mark.parametrize(("name", "count"), [("__float__", 0), ("to_float", 0), ("total", 1)])
def test_who_asks_for_a_float_gets_one(name, count):
    source = f"class Money:\n    def {name}(self):\n        return float(self.price)\n"
    assert len(findings_of(RULE, {"shop/money.py": source})) == count


@pytest.mark.parametrize(("name", "count"), [("projectedRevenue", 0), ("revenue", 1)])
def test_a_guess_may_be_off_by_cents(name, count):
    source = f"export function {name}(row) {{ return row.amount * 4.33; }}\n"
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("formatPrice(row) { return parseFloat(row.price); }", 0),
        ("sum(row) { return parseFloat(row.price); }", 1),
        ("rain(amount) { return amount / 25.4; }", 0),
    ],
)
def test_what_is_shown_and_what_falls_as_rain(source, count):
    assert len(findings_of(RULE, {"src/a.ts": f"export function {source}\n"})) == count


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("test/fixtures.py", "x = order.price * 0.7\n", 0),
        ("shop/make_fixture.py", "x = order.price * 0.7\n", 0),
        ("shop/a.py", "x = order.price * 0.7\n", 1),
        ("shop/a.py", "x = '{:.2f}'.format(float(order.price))\n", 0),
    ],
)
def test_invented_data_and_texts_for_people(path, source, count):
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(("source", "count"), [("x = float(new_price) < low", 0), ("x = float(new_price) + low", 1)])
def test_which_price_is_lower_may_be_asked_of_floats(source, count):
    assert len(findings_of(RULE, {"shop/a.py": source + "\n"})) == count


@pytest.mark.parametrize(("package", "confidence"), [("tariff", []), ("shop", ["low"])])
def test_the_price_of_energy_is_a_rate(package, confidence):
    source = f"package {package}\ntype Zone struct {{\n\tPrice float64\n}}\n"
    assert [each.confidence for each in findings_of(RULE, {"a.go": source})] == confidence


@pytest.mark.parametrize(
    ("path", "source", "confidence"),
    [
        ("order.py", "class Line(BaseModel):\n    price: float\n", "low"),
        ("order.py", "class Line(BaseModel):\n    price: float\n    currency: str\n", "medium"),
        ("order.py", "class OrderLine(BaseModel):\n    price: float\n", "medium"),
        ("line.go", "package a\n\ntype Line struct {\n\tgorm.Model\n\tPrice float64\n}", "medium"),
        ("shop/models.py", DJANGO.replace("Order", "Row") % "loan_amount = models.FloatField()", "medium"),
        ("order.ts", "const total = rows.reduce((sum, row) => sum + parseFloat(row.price), 0);", "medium"),
        ("order.ts", "const price = parseFloat(row.price);", "low"),
    ],
)
def test_sure_is_what_is_stored_belongs_to_a_bill_or_is_added_up(path, source, confidence):
    assert [each.confidence for each in findings_of(RULE, {path: source})] == [confidence]


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("a.py", SQLALCHEMY % "fuel_cost: Mapped[float] = mapped_column(Float)", 1),
        ("a.py", SQLALCHEMY % "cost: Mapped[float] = mapped_column(Float)", 1),
        ("a.py", SQLALCHEMY % "scan_ratio: Mapped[float] = mapped_column(Float)", 0),
        (
            "a.ts",
            "import { Entity } from 'typeorm';\n@Entity('cars')\nclass Car {\n  @PrimaryGeneratedColumn() id: number;\n"
            "  @Column('double precision') leaseCost: number;\n}\n",
            1,
        ),
        ("a.ts", "const total = parseFloat(req.body.total);\n", 1),
        ("a.ts", "const total = parseFloat(node.total);\n", 0),
        ("a.go", "package a\n\n// in kWh\ntype Bill struct {\n\tGrossCost float64\n\tPowerPrice float64\n}\n", 1),
    ],
)
def test_costs_and_totals_that_were_asked_for(path, source, count):
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(
    ("other", "confidences"),
    [
        ("price = models.DecimalField(max_digits=9, decimal_places=2)", ["low"]),
        ("currency = models.CharField(max_length=3)", ["low"]),
        ("name = models.TextField()", []),
    ],
)
def test_a_bare_amount_is_one_of_money_where_tables_speak_of_money(other, confidences):
    models = DJANGO.replace("Order", "Feeding") % "amount = models.FloatField()"
    models += f"\nclass Plan(models.Model):\n    {other}\n"
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/models.py": models})] == confidences


@pytest.mark.parametrize(
    ("name", "flagged"), [("amount_due", True), ("price_eur", True), ("amount_ml", False), ("amount_due_cents", False)]
)
def test_what_an_amount_is_of_may_stand_behind_it(name, flagged):
    source = f"from django.db import models\nclass Invoice(models.Model):\n    {name} = models.FloatField()\n"
    assert bool(findings_of(RULE, {"shop/models.py": source})) is flagged


@pytest.mark.parametrize(("library", "flagged"), [("peewee", True), ("shapes", False)])
def test_columns_of_libraries_without_an_index(library, flagged):
    source = f"from {library} import FloatField, Model\nclass Product(Model):\n    price = FloatField()\n"
    assert bool(findings_of(RULE, {"shop/models.py": source})) is flagged


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("paid = float(body.get('amount')) + other", [("medium", "warning")]),
        ("paid = float(escrow.held_amount + escrow.paid_amount)", [("low", "info")]),
        ("shown = float(self.amount) + previous_boost_time", []),
        ("until = created_time + float(self.amount)", []),
    ],
)
def test_what_a_float_is_added_to(source, told):
    found = findings_of(RULE, {"shop/a.py": f"{source}\n"})
    assert [(each.confidence, each.severity) for each in found] == told


@pytest.mark.parametrize(
    ("name", "count"), [("Remittance", 1), ("Settlement", 1), ("SettlementChart", 0), ("ChartRow", 0), ("Charter", 0)]
)
def test_what_is_drawn_is_no_account(name, count):
    source = f'package a\n\ntype {name} struct {{\n\tTotal float64 `json:"y"`\n}}\n'
    assert len(findings_of(RULE, {"shop/rows.go": source})) == count


def test_cents_of_another_function_say_nothing():
    source = "def gross(row):\n    return float(row['amount']) * 1.19\n\n\ndef whole(cents):\n    return cents // 100\n"
    assert len(findings_of(RULE, {"shop/sums.py": source})) == 1


def test_a_table_of_wages_is_one_of_money():
    table = "CREATE TABLE salaries (\n  id BIGINT PRIMARY KEY,\n  tax REAL\n);\n"
    assert [each.line for each in findings_of(RULE, {"db/schema.sql": table})] == [3]


@pytest.mark.parametrize(
    ("given", "count"), [("formatEther(sale.amount)", 0), ("sale.amount", 1), ("formatUnits(sale.price, 18)", 0)]
)
def test_what_a_chain_counts_is_no_money_of_a_bank(given, count):
    source = f"export const worth = (sale) => {{\n  return Number.parseFloat({given});\n}};\n"
    assert len(findings_of(RULE, {"src/sales.ts": source})) == count


def test_what_is_only_handed_on_is_worth_knowing():
    source = "package a\n\ntype View struct {\n\tPrice float64\n}\n"
    (finding,) = findings_of(RULE, {"shop/view.go": source})
    assert (finding.confidence, finding.severity) == ("low", "info")


@pytest.mark.parametrize(
    ("model", "column", "beside", "confidences"),
    [
        ("Account", "balance", "name = Column(String)", ["medium"]),
        ("Club", "fee", "name = Column(String)", ["low"]),
        ("Tariff", "amount", "credit_limit = Column(Numeric(9, 2))", ["medium"]),
        ("Holiday", "balance", "name = Column(String)", []),
        ("Portion", "amount", "name = Column(String)", []),
    ],
)
def test_whose_balance_it_is_tells_what_it_is_of(model, column, beside, confidences):
    source = (
        "from sqlalchemy import Column, Float, Integer, Numeric, String\n\n\n"
        f'class {model}(Base):\n    __tablename__ = "rows"\n    id = Column(Integer, primary_key=True)\n'
        f"    {column} = Column(Float)\n    {beside}\n"
    )
    found = findings_of(RULE, {"shop/models.py": source})
    assert [str(each.confidence or "medium") for each in found] == confidences
