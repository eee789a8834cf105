import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-n-plus-one-relation"

FLAGGED = [
    ("def f():\n    for order in Order.objects.filter(is_paid=False):\n        mail(order.customer.email)", 3),
    ("def f():\n    orders = Order.objects.all()\n    return [order.customer for order in orders]", 3),
    ("def f():\n    for order in Order.objects.all():\n        order.lines.count()", 3),
    ("def f():\n    qs = Order.objects.select_related('customer')\n    for o in qs:\n        list(o.lines.all())", 4),
    ("def f():\n    for o in Order.objects.prefetch_related('lines'):\n        o.lines.filter(amount=1)", 3),
    ("def f(customer):\n    for order in customer.orders.all():\n        order.lines.first()", 3),
    ("def f(found):\n    for o in Order.objects.all():\n        found |= set(o.lines.all())\n    return found", 3),
    ("def f(orders: list[Order]):\n    for order in orders:\n        mail(order.customer.email)", 3),
    ("def f(orders: 'QuerySet[Order]'):\n    return [order.customer.email for order in orders]", 2),
    (
        "def f():\n    for o in Order.objects.select_related('customer'):\n        use(o.customer.region.code)",
        3,
    ),
]
FINE = [
    "def f():\n    for o in Order.objects.all():\n        # o.customer is asked later\n        mail(o.status)",
    "def f():\n    for o in Order.objects.select_related('customer'):\n        mail(o.customer.email)",
    "def f():\n    for o in Order.objects.select_related('customer__region'):\n        mail(o.customer.email)",
    "def f():\n    for o in Order.objects.prefetch_related('lines'):\n        list(o.lines.all())",
    "def f():\n    for o in Order.objects.prefetch_related(Prefetch('lines', qs)):\n        list(o.lines.all())",
    "def f():\n    for o in Order.objects.prefetch_related(Prefetch('customer__region')):\n"
    "        mail(o.customer.region.code)",
    "def f():\n    for o in Order.objects.all():\n        mail(o.customer_id, o.status)",
    "def f(line):\n    for o in Order.objects.all():\n        o.lines.add(line)",
    "def f(lines):\n    for o in Order.objects.all():\n        lines |= o.lines.all()\n    return lines",
    "def f():\n    for o in Order.objects.all():\n        if 'lines' in o._prefetched_objects_cache:\n"
    "            list(o.lines.all())",
    "def f():\n    order = Order.objects.get(pk=1)\n    mail(order.customer.email)",
    "def f(orders):\n    for order in orders:\n        mail(order.customer.email)",
    "def f():\n    for order in Order.objects.all()[:5]:\n        mail(order.customer.email)",
    "def f():\n    for order in Order.objects.with_everything():\n        mail(order.customer.email)",
    "def f():\n    rows = list(Order.objects.all())\n    prefetch_related_objects(rows, 'customer')\n"
    "    for order in rows:\n        mail(order.customer.email)",
    "def f():\n    for order in Order.objects.values('customer'):\n        mail(order.customer)",
    "def f():\n    for order in Order.objects.all():\n        order.customer = None",
    "def f(pk):\n    customer = Customer.objects.prefetch_related('orders__lines').get(pk=pk)\n"
    "    for order in customer.orders.all():\n        list(order.lines.all())",
    "def f(customer):\n    for order in customer.orders.all():\n        list(order.lines.all())\n\n"
    "def g(pk):\n    for each in Customer.objects.prefetch_related('orders__lines'):\n        f(each)",
]


@pytest.mark.parametrize(("source", "line"), FLAGGED)
def test_a_relation_that_every_row_loads_is_found(source, line):
    assert lines(RULE, source) == [line]


@pytest.mark.parametrize("source", FINE)
def test_a_relation_that_the_query_loads_or_nobody_reads_is_fine(source):
    assert lines(RULE, source) == []


def test_the_finding_names_the_relation_its_table_and_the_step_to_add():
    (finding,) = findings(
        RULE,
        "def f():\n    for order in Order.objects.filter(is_paid=False):\n        mail(order.customer.email)",
        volumes={"shop_customer": "XL"},
    )

    assert finding.message == (
        "`Order.customer` is loaded once per `order` of the loop over `Order.objects.filter(is_paid=False)` (line 4)"
        " (table `shop_customer`, XL)"
    )
    assert finding.suggestion == "Add `select_related('customer')` to the query at line 4."
    assert (finding.severity, finding.confidence, finding.volume) == ("critical", "high", "XL")


def test_what_may_have_been_loaded_with_the_object_is_a_guess():
    (finding,) = findings(
        RULE, "def f(customer):\n    for order in customer.orders.all():\n        show(order.customer.email)"
    )
    assert finding.confidence == "low"


def test_rows_of_another_relation_are_of_medium_confidence():
    (finding,) = findings(
        RULE, "def f(customer):\n    for order in customer.orders.all():\n        order.lines.first()"
    )
    assert finding.confidence == "medium"


SQLALCHEMY = """
from sqlalchemy.orm import relationship, mapped_column
class User(Base):
    __tablename__ = "users"
    id = mapped_column(Integer, primary_key=True)
    posts = relationship("Post", lazy={lazy})
class Post(Base):
    __tablename__ = "posts"
    id = mapped_column(Integer, primary_key=True)
def f(session):
    for user in session.query(User).filter(User.age > 3).all():
        print(user.posts)
"""


@pytest.mark.parametrize(("lazy", "found"), [('"select"', 1), ('"selectin"', 0), ('"joined"', 0)])
def test_sqlalchemy_relations_are_lazy_unless_they_are_mapped_otherwise(lazy, found):
    assert len(findings(RULE, SQLALCHEMY.format(lazy=lazy))) == found


SERIALIZERS = """
from rest_framework import serializers
class CustomerSerializer(serializers.ModelSerializer):
    region = serializers.CharField(source="region.code")
class OrderSerializer(serializers.ModelSerializer):
    customer = CustomerSerializer()
"""


@pytest.mark.parametrize(
    ("view", "found"),
    [
        ("class Orders(ListAPIView):\n    queryset = Order.objects.all()\n    serializer_class = OrderSerializer", 1),
        ("def f():\n    orders = Order.objects.filter(total=1)\n    return OrderSerializer(orders, many=True).data", 1),
        ("def f():\n    return 1, OrderSerializer(Order.objects.select_related('customer'), many=True).data", 1),
        (
            "def f():\n    it = Order.objects.select_related('customer__region')\n    OrderSerializer(it, many=True)",
            0,
        ),
        (
            "class Orders(ListAPIView):\n    queryset = Order.objects.all()\n    serializer_class = OrderSerializer\n"
            "    def get_queryset(self):\n        return super().get_queryset().select_related('customer__region')",
            0,
        ),
        ("def f():\n    order = Order.objects.get(pk=1)\n    return OrderSerializer(order).data", 0),
        ("class One(RetrieveAPIView):\n    queryset = Order.objects.all()\n    serializer_class = OrderSerializer", 0),
    ],
)
def test_a_serializer_of_many_rows_is_a_loop_over_them(view, found):
    shift = SERIALIZERS.count("\n")
    assert [line - shift for line in lines(RULE, SERIALIZERS + view)] == [2] * found


def test_a_serializer_that_goes_on_names_the_whole_path():
    (finding,) = findings(
        RULE, SERIALIZERS + "def f():\n    OrderSerializer(Order.objects.select_related('customer'), many=True)"
    )

    assert finding.message == (
        "`Order.customer.region` is loaded once per row that `OrderSerializer` writes out (table `shop_region`, M)"
    )
    assert finding.suggestion == "Add `select_related('customer__region')` to the query at line 10."


def test_what_was_prefetched_is_asked_for_again_by_first():
    (finding,) = findings(RULE, "def f():\n    for order in Order.objects.all():\n        order.lines.first()")
    assert finding.suggestion == (
        "`first` asks again whatever was prefetched: load the rows of `lines` for all of the loop in one query, or "
        "annotate what is needed with a `Subquery`."
    )


HELPERS = {
    "open_orders": "def open_orders():\n    return Order.objects.filter(is_paid=False)",
    "in_two_steps": "def open_orders():\n    rows = Order.objects.filter(is_paid=False)\n    return list(rows)",
    "with_customer": "def open_orders():\n    return Order.objects.select_related('customer')",
    "of_two": "def open_orders(all):\n    if all:\n        return Order.objects.all()\n    return Order.objects.none()",
    "one": "def open_orders():\n    return Order.objects.first()",
}


@pytest.mark.parametrize(
    ("helper", "found"),
    [("open_orders", 1), ("in_two_steps", 1), ("with_customer", 0), ("of_two", 0), ("one", 0)],
)
@pytest.mark.parametrize("loop", ["for order in open_orders():", "rows = open_orders()\n    for order in rows:"])
def test_the_rows_may_come_from_a_function_of_another_file(helper, found, loop):
    files = {
        "shop/models.py": (
            "from django.db import models\n\nclass Customer(models.Model):\n    email = models.CharField()\n\n"
            "class Order(models.Model):\n    is_paid = models.BooleanField()\n"
            "    customer = models.ForeignKey(Customer, models.CASCADE)\n"
        ),
        "shop/selectors.py": f"from shop.models import Order\n\n{HELPERS[helper]}\n",
        "shop/work.py": (
            f"from shop.selectors import open_orders\n\ndef send():\n    {loop}\n        mail(order.customer.email)\n"
        ),
    }
    got = findings_of(RULE, files)
    assert [(each.file, each.confidence) for each in got] == [("shop/work.py", "medium")] * found


def test_a_callback_goes_through_the_rows_of_the_function_around_it():
    files = {
        "models.js": (
            "const Order = sequelize.define('Order', { code: DataTypes.STRING });\n"
            "const Line = sequelize.define('Line', { sku: DataTypes.STRING });\nOrder.hasMany(Line, { as: 'lines' });\n"
        ),
        "work.js": (
            "const { Order } = require('./models'); // sequelize\nasync function send() {\n"
            "  const orders = await Order.findAll({ limit: 50 });\n"
            "  return Promise.all(orders.map(async (o) => {\n    return (await o.getLines()).length;\n  }));\n}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == [5]


@pytest.mark.parametrize(("condition", "found"), [("customer_id=key", 0), ("is_paid=True", 1)])
def test_a_session_loads_the_parent_of_all_rows_once(condition, found):
    source = (
        "from sqlalchemy import select\nclass Customer(Base):\n    __tablename__ = 'customers'\n"
        "    id = mapped_column(Integer, primary_key=True)\n    email = mapped_column(String)\n"
        "class Order(Base):\n    __tablename__ = 'orders'\n    id = mapped_column(Integer, primary_key=True)\n"
        "    is_paid = mapped_column(Boolean)\n    customer_id = mapped_column(ForeignKey('customers.id'))\n"
        "    customer = relationship('Customer', uselist=False)\n"
        "def f(session, key):\n"
        f"    for order in session.scalars(select(Order).filter_by({condition})).all():\n"
        "        mail(order.customer.email)\n"
    )
    assert len(findings_of(RULE, {"work.py": source})) == found


@pytest.mark.parametrize(("step", "found"), [("select_related()", 0), ("all()", 1)])
def test_without_names_all_keys_are_followed(step, found):
    source = f"def f():\n    for order in Order.objects.{step}:\n        mail(order.customer.email)\n"
    assert len(findings(RULE, source)) == found


def test_a_column_is_no_relation_though_a_script_points_it_somewhere():
    files = {
        "db/schema.sql": (
            "CREATE TABLE accounts (account TEXT PRIMARY KEY);\n"
            "CREATE TABLE follows (id INT PRIMARY KEY, account TEXT REFERENCES accounts (account));\n"
        ),
        "models.py": (
            "class Account(Base):\n    __tablename__ = 'accounts'\n"
            "    account = mapped_column(String, primary_key=True)\n\n"
            "class Follow(Base):\n    __tablename__ = 'follows'\n    id = mapped_column(Integer, primary_key=True)\n"
            "    account = mapped_column(String)\n"
        ),
        "work.py": (
            "from sqlalchemy import select\ndef f(session):\n"
            "    for each in session.execute(select(Follow)).scalars().all():\n        show(each.account.name)\n"
        ),
    }
    assert findings_of(RULE, files) == []


@pytest.mark.parametrize("step", ["map(o -> o.getLines().size())", "mapToInt(o -> o.getLines().size())"])
def test_streams_of_numbers_are_loops_too(step):
    body = f"    List<Order> rows = orders.findByPaid(true);\n    rows.stream().{step}.toList();"
    assert orms.lines(RULE, "jpa", body) == [2]


@pytest.mark.parametrize(("lookup", "found"), [("lines__product", 0), ("lines__note", 1)])
def test_what_the_file_asks_for_comes_with_the_rows(lookup, found):
    models = (
        "from django.db import models\n\nclass Product(models.Model):\n    name = models.TextField()\n\n"
        "class Order(models.Model):\n    name = models.TextField()\n\n"
        "class Line(models.Model):\n    order = models.ForeignKey(Order, models.CASCADE, related_name='lines')\n"
        "    product = models.ForeignKey(Product, models.CASCADE)\n"
    )
    admin = (
        "from django.contrib.admin import ModelAdmin\nfrom shop.models import Order\n\nclass OrderAdmin(ModelAdmin):\n"
        "    def get_queryset(self, request):\n"
        f"        return super().get_queryset(request).prefetch_related('{lookup}')\n\n"
        "    def products(self, order: Order):\n"
        "        return ', '.join([line.product.name for line in order.lines.all()])\n"
    )
    assert len(findings_of(RULE, {"shop/models.py": models, "shop/admin.py": admin})) == found


FLASK = (
    "class Customer(db.Model):\n    id = db.Column(db.Integer, primary_key=True)\n    name = db.Column(db.String(9))\n"
    "    notes = db.relationship('Note', lazy='dynamic')\n\n"
    "class Note(db.Model):\n    id = db.Column(db.Integer, primary_key=True)\n\n"
    "class Account(db.Model):\n    id = db.Column(db.Integer, primary_key=True)\n"
    "    customer_id = db.Column(db.ForeignKey('customer.id'))\n    customer = db.relationship('Customer')\n"
)


@pytest.mark.parametrize(
    ("rows", "work", "found"),
    [
        ("Account.query.filter_by(closed=False).limit(500)", "show(each.customer.name)", 1),
        ("Account.query.options(joinedload(Account.customer))", "show(each.customer.name)", 0),
        ("Customer.query.filter(Customer.name == name).all()", "each.notes.append(note)", 0),
        ("Customer.query.filter(Customer.name == name).all()", "show(each.notes.count())", 1),
    ],
)
def test_queries_of_flask_and_relations_that_load_nothing(rows, work, found):
    source = f"from sqlalchemy.orm import joinedload\n\ndef f(name, note):\n    for each in {rows}:\n        {work}\n"
    assert len(findings_of(RULE, {"shop/models.py": "import sqlalchemy\n" + FLASK, "shop/work.py": source})) == found


def test_what_an_argument_calls_is_no_step_of_the_project():
    loop = "for order in Order.objects.filter(total__gte=limits.least({})):"
    source = f"def f():\n    {loop}\n        show(order.customer.email)"
    (found,) = findings(RULE, source.format("now()"))
    assert (str(found.confidence), found.line) == ("high", 5)
    assert findings(RULE, source.replace("filter(", "open(")) == []


@pytest.mark.parametrize(
    ("conditions", "told"),
    [
        ("total__gt=least", ("high", "warning")),
        ("total__gt=least, total__lt=most", ("medium", "info")),
        ("customer__region=a, lines__order=b", ("medium", "info")),
    ],
)
def test_the_rows_of_a_span_or_of_two_others_are_few(conditions, told):
    source = (
        f"def f(least, most, a, b):\n    for o in Order.objects.filter({conditions}):\n        show(o.customer.email)"
    )
    assert [(str(each.confidence), str(each.severity)) for each in findings(RULE, source)] == [told]


@pytest.mark.parametrize(("owner", "count"), [("OrderSerializer", 0), ("OrderTable", 1)])
def test_a_serializer_is_given_the_rows_of_a_view(owner, count):
    source = (
        f"class {owner}:\n    def get_regions(self, customer: Customer):\n"
        "        return [order.customer.email for order in customer.orders.all()]\n\n"
        "class Customers:\n    def get_queryset(self):\n        orders = Order.objects.select_related('customer')\n"
        "        return Customer.objects.prefetch_related(Prefetch('orders', queryset=orders))\n"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("orders.findByPaid(Flags.PAID)", [2]),
        ("Status.ALL", []),
        ("List.of(Status.ALL)", []),
    ],
)
def test_a_query_that_is_given_a_constant_still_brings_many_rows(rows, found):
    body = f"    for (Order o : {rows}) {{\n      show(o.getCustomer().getEmail());\n    }}"
    assert orms.lines(RULE, "jpa", body) == found


@pytest.mark.parametrize(("options", "count"), [("", 1), (".options(selectinload(Ship.trips))", 0)])
def test_a_relation_that_is_awaited_in_each_round(options, count):
    models = (
        "class Ship(Base):\n    __tablename__ = 'ship'\n    id: Mapped[int] = mapped_column(primary_key=True)\n"
        "    trips: Mapped[list[Trip]] = relationship(back_populates='ship')\n\n\nclass Trip(Base):\n"
        "    __tablename__ = 'trip'\n    id: Mapped[int] = mapped_column(primary_key=True)\n"
        "    ship_id: Mapped[int] = mapped_column(ForeignKey('ship.id'))\n"
        "    ship: Mapped[Ship] = relationship(back_populates='trips')\n"
    )
    head = "from sqlalchemy import ForeignKey\nfrom sqlalchemy.orm import Mapped, mapped_column, relationship\n"
    source = (
        "from sqlalchemy import select\nfrom harbour.models import Ship\n\nasync def ports(session):\n    found = []\n"
        f"    ships = await session.scalars(select(Ship){options}.limit(200))\n    for ship in ships:\n"
        "        for trip in await ship.awaitable_attrs.trips:\n            found.append(trip.port)\n    return found\n"
    )
    files = {"harbour/models.py": head + models, "harbour/ports.py": source}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ('find("price > ?1", least)', [6]),
        ('find("from Rental r join fetch r.bike where r.price > ?1", least)', []),
    ],
)
def test_rows_that_a_repository_of_panache_gives(asked, found):
    head = "package shop;\nimport io.quarkus.hibernate.orm.panache.*;\nimport jakarta.persistence.*;\n"
    files = {
        "src/Rental.java": head
        + (
            "@Entity\npublic class Rental extends PanacheEntity {\n"
            "  @ManyToOne(fetch = FetchType.LAZY) public Bike bike;\n  public int price;\n}\n"
        ),
        "src/Bike.java": head + "@Entity\npublic class Bike extends PanacheEntity {\n  public String code;\n}\n",
        "src/RentalRepository.java": head
        + (
            "public class RentalRepository implements PanacheRepository<Rental> {\n"
            f"  public List<Rental> dear(int least) {{\n    return {asked}.page(0, 99).list();\n  }}\n}}\n"
        ),
        "src/Board.java": (
            "package shop;\nclass Board {\n  private final RentalRepository rentals;\n  void f(Prices prices) {\n"
            "    List<Rental> rows = rentals.dear(prices.above(limit(Day.of(1))));\n"
            "    rows.forEach(row -> show(row.bike.code));\n  }\n}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == found


PREFETCHED = "Customer.objects.prefetch_related(Prefetch('orders', queryset=Order.objects.select_related({})))"


@pytest.mark.parametrize(
    ("brought", "count"),
    [
        (PREFETCHED.format("'customer__region'"), 0),
        (PREFETCHED.format("'customer'"), 1),
        ("Customer.objects.prefetch_related('orders__customer__region')", 0),
        ("Customer.objects.prefetch_related('orders')", 1),
        (
            "Region.objects.prefetch_related(Prefetch('customers__orders', queryset="
            "Order.objects.select_related('customer__region')))",
            0,
        ),
        ("Order.objects.select_related('customer__region')", 1),
    ],
)
def test_rows_that_were_prefetched_with_what_the_serializer_reads(brought, count):
    source = (
        f"def page():\n    return {brought}\n\ndef f(customer):\n    orders = customer.orders.all()\n"
        "    return OrderSerializer(orders, many=True).data"
    )
    assert len(findings(RULE, SERIALIZERS + source)) == count


@pytest.mark.parametrize(("field", "count"), [("OneToOneField", 0), ("ForeignKey", 1)])
def test_the_way_back_of_a_one_to_one_relation_is_known(field, count):
    models = (
        "from django.db import models\n\nclass Pupil(models.Model):\n    name = models.CharField(max_length=9)\n\n"
        f"class Card(models.Model):\n    pupil = models.{field}(Pupil, on_delete=models.CASCADE, related_name='card')\n"
    )
    source = (
        "from school.models import Card, Pupil\n\nclass PupilSerializer(serializers.ModelSerializer):\n"
        "    name = serializers.CharField(source='card.pupil.name')\n\n"
        "def f():\n    return PupilSerializer(Pupil.objects.select_related('card'), many=True).data\n"
    )
    assert len(findings_of(RULE, {"school/models.py": models, "school/views.py": source})) == count


@pytest.mark.parametrize(
    ("method", "found"),
    [
        ("return order.customer.email", 1),
        ("return order.customer_id", 0),
        ("return order.reference.upper()", 0),
        ("return self.context['names'][order.pk]", 0),
    ],
)
def test_a_method_of_a_serializer_reads_a_relation(method, found):
    source = (
        "from rest_framework import serializers\nfrom rest_framework.generics import ListAPIView\n"
        "class OrderSerializer(serializers.ModelSerializer):\n    email = serializers.SerializerMethodField()\n"
        f"    def get_email(self, order):\n        {method}\n"
        "    def get_other(self, order):\n        return order.customer.note\n"
        "class Orders(ListAPIView):\n    queryset = Order.objects.{}\n    serializer_class = OrderSerializer\n"
    )
    assert len(lines(RULE, source.replace("{}", "all()"))) == found
    assert lines(RULE, source.replace("{}", "select_related('customer')")) == []


@pytest.mark.parametrize(("cut", "found"), [("[:50]", 1), ("[:5]", 0), ("[:size]", 0)])
def test_a_slice_that_a_serializer_writes_out(cut, found):
    view = f"def f(size):\n    return OrderSerializer(Order.objects.order_by('-pk'){cut}, many=True).data"
    assert len(lines(RULE, SERIALIZERS + view)) == found


@pytest.mark.parametrize(
    ("parameter", "row", "found"),
    [
        ("orders []Order", "&orders[i]", 1),
        ("orders []*shop.Order", "orders[i]", 1),
        ("orders Orders", "&orders[i]", 0),
        ("orders []Order", "&other", 0),
    ],
)
def test_a_list_of_go_that_is_given(parameter, row, found):
    source = (
        f"package shop\n\nfunc trace(db *gorm.DB, {parameter}) {{\n\tfor i := range orders {{\n\t\tvar lines []Line\n"
        f'\t\tdb.Model({row}).Association("Lines").Find(&lines)\n\t}}\n}}\n'
    )
    assert len(findings_of(RULE, {**orms.GORM, "shop/work.go": source})) == found


@pytest.mark.parametrize(
    ("kind", "read", "found"),
    [
        ("Order[]", "await order.customer", 1),
        ("Array<Order>", "(await order.customer).email", 1),
        ("readonly Order[]", "await order.customer", 1),
        ("Order[]", "order.lines", 0),
        ("OrderPage", "await order.customer", 0),
    ],
)
def test_a_list_of_typescript_that_is_given(kind, read, found):
    source = (
        "import { Order } from './entities';\n"
        f"export async function f(orders: {kind}) {{\n  for (const order of orders) {{\n    show({read});\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {**orms.TYPEORM, "src/work.ts": source})) == found


@pytest.mark.parametrize(("end", "found"), [("first()", 1), ("all()", 0)])
def test_one_row_that_came_with_its_relation_is_no_list(end, found):
    source = (
        SQLALCHEMY.format(lazy='"select"').partition("def f")[0]
        + "def names(users: list[User]):\n    return [[post.id for post in user.posts] for user in users]\n"
        f"def one(session):\n    return session.query(User).options(selectinload(User.posts)).{end}\n"
    )
    assert len(findings(RULE, source)) == found


@pytest.mark.parametrize(
    ("newest", "found"), [("Prefetch('lines', queryset=Line.objects.all())", 0), ("Prefetch('customer')", 1)]
)
def test_a_prefetch_that_a_name_holds(newest, found):
    source = (
        f"def f():\n    newest = {newest}\n    for order in Order.objects.prefetch_related(newest):\n"
        "        use(list(order.lines.all()))\n"
    )
    assert len(findings(RULE, source)) == found
