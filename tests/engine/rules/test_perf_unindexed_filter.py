import pytest

from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-unindexed-filter"

FLAGGED = [
    ("shop/work.py", "def f(x):\n    return Order.objects.get(reference=x)", 2),
    ("shop/work.py", "def f(x):\n    return list(Order.objects.filter(total__gt=x)[:9])", 2),
    ("shop/work.py", "def f(x):\n    Order.objects.filter(reference=x).update(total=1)", 2),
    ("shop/work.ts", "const rows = await prisma.customer.findMany({ where: { name: wanted } });", 1),
    (
        "shop/work.ts",
        "async function f(name) {\n  const where = { name };\n  return prisma.customer.findMany({ where });\n}",
        3,
    ),
]
FINE = [
    ("shop/work.py", "def f(x, **more):\n    return Order.objects.get(reference=x, **more)"),
    ("shop/work.py", "def f(x):\n    return Order.objects.get(pk=x)"),
    ("shop/work.py", "def f(x):\n    return Region.objects.get(code=x)"),
    ("shop/work.py", "def f(x, c):\n    return list(Order.objects.filter(reference=x, customer=c))"),
    ("shop/work.py", "def f(x, c):\n    return list(Order.objects.filter(reference=x, customer__email=c))"),
    ("shop/work.py", "def f(x):\n    return list(Order.objects.filter(is_paid=x))"),
    ("shop/work.py", "def f(x):\n    return list(Order.objects.filter(status=x))"),
    ("shop/work.py", "def f(x):\n    return list(Customer.objects.filter(note__icontains=x))"),
    (
        "shop/work.py",
        "def f(x, c):\n    rows = Order.objects.filter(reference=x)\n    return rows.filter(customer=c).first()",
    ),
    ("shop/work.py", "def f(x, rows):\n    return list(Order.objects.filter(reference=x, lines__in=rows))"),
    ("shop/work.py", "def f(x, rows):\n    return list(Order.objects.filter(reference=x, lines=rows[0]))"),
    ("shop/work.py", "def f(x):\n    return list(Order.objects.exclude(reference=x))"),
    ("shop/work.ts", "const rows = await prisma.order.findMany({ where: { customerId } });"),
    ("shop/work.ts", "const row = await prisma.customer.findUnique({ where: { email } });"),
    ("shop/management/commands/work.py", "def f(x):\n    return Order.objects.get(reference=x)"),
]


@pytest.mark.parametrize(("path", "source", "line"), FLAGGED)
def test_a_search_without_an_index_is_found(path, source, line):
    assert lines(RULE, source, path) == [line]


@pytest.mark.parametrize(("path", "source"), FINE)
def test_a_search_with_an_index_or_over_few_values_is_fine(path, source):
    assert lines(RULE, source, path) == []


@pytest.mark.parametrize(("size", "severities"), [("S", []), ("M", ["info"]), ("XL", ["critical"])])
def test_the_severity_follows_the_declared_volume(size, severities):
    found = findings(RULE, "Order.objects.get(reference=x)", volumes={"shop_order": size})
    assert [finding.severity for finding in found] == severities


@pytest.mark.parametrize(("path", "confidence"), [("db/liquibase-core.xml", "medium"), ("db/other.xml", "high")])
def test_a_changelog_may_say_more_of_indexes_than_the_entities(path, confidence):
    entity = (
        'import jakarta.persistence.*;\n@Entity\n@Table(name = "orders", indexes = @Index(columnList = "day"))\n'
        "public class Order { @Id private Long id; private String day; private String reference; }\n"
    )
    repository = "interface OrderRepository extends JpaRepository<Order, Long> { Order findByReference(String r); }\n"
    work = "class A { OrderRepository orderRepository;\nvoid f(String r) { orderRepository.findByReference(r); } }\n"
    files = {"a/Order.java": entity, "a/OrderRepository.java": repository, "a/A.java": work, path: "<a/>"}
    assert [each.confidence for each in findings_of(RULE, files)] == [confidence]


def test_one_finding_per_column_names_the_other_places():
    (finding,) = findings(RULE, "Order.objects.get(reference=x)\nOrder.objects.filter(reference=y).delete()")
    assert finding.message == ("`Order.reference` is searched without an index (table `shop_order`, M); also line 4")


def test_columns_of_few_values_are_worth_knowing_on_large_tables():
    (finding,) = findings(RULE, "list(Order.objects.filter(is_paid=x))", volumes={"Order": "XXL"})
    assert finding.severity == "info"
    assert "few values" in finding.message


def test_an_index_that_a_migration_makes_counts():
    others = {"db/migrations/001_names.sql": 'CREATE INDEX name_idx ON "Customer" ("name");'}
    source = "const rows = await prisma.customer.findMany({ where: { name: wanted } });"
    assert lines(RULE, source, "shop/work.ts", others=others) == []


def test_what_is_left_out_is_not_searched_for():
    assert lines(RULE, "def f(x):\n    return list(Order.objects.exclude(reference=x)[:9])") == []


def test_a_sum_over_a_span_reads_most_rows_anyway():
    source = "def f(x):\n    return Order.objects.filter(total__gt=x).aggregate(Sum('total'))"
    assert lines(RULE, source) == []


def test_a_foreign_key_alone_has_no_index_of_its_own_in_postgresql():
    source = (
        "from sqlalchemy import select\nclass Post(Base):\n    __tablename__ = 'posts'\n"
        "    id = mapped_column(Integer, primary_key=True)\n    user_id = mapped_column(ForeignKey('users.id'))\n"
        "    title = mapped_column(String)\n    user = relationship('User', uselist=False)\n"
        "def f(session, x):\n    session.scalars(select(Post).where(Post.user_id == x))\n"
        "    session.scalars(select(Post).where(Post.user_id == x, Post.title == x))\n"
    )
    (finding,) = findings(RULE, source)
    assert (finding.message.partition(" is ")[0], finding.confidence) == ("`Post.user_id`", "medium")


@pytest.mark.parametrize(
    ("condition", "confidence"),
    [("total=x", "high"), ("total__gt=x", "medium"), ("total__lt=x, reference=x", "medium")],
)
def test_a_span_may_hold_most_rows(condition, confidence):
    (finding,) = findings(RULE, f"def f(x):\n    return list(Order.objects.filter({condition}).order_by('pk'))")
    assert finding.confidence == confidence


@pytest.mark.parametrize(("options", "found"), [("max_length=9", 1), ("max_length=9, choices=GRADES", 0)])
def test_a_column_whose_values_are_listed_holds_few(options, found):
    source = (
        f"from django.db import models\n\nclass Paper(models.Model):\n    grade = models.CharField({options})\n\n"
        "def f(x):\n    return list(Paper.objects.filter(grade=x))\n"
    )
    assert len(findings(RULE, source)) == found


@pytest.mark.parametrize("kind", ["Enum(Grade)", "sa.Enum('a', 'b')", "SQLEnum(Grade)"])
def test_an_enumeration_of_sqlalchemy_holds_few_values(kind):
    source = (
        "from sqlalchemy import select\nclass Paper(Base):\n    __tablename__ = 'papers'\n"
        f"    id = mapped_column(Integer, primary_key=True)\n    grade = mapped_column({kind})\n"
        "def f(session, x):\n    session.scalars(select(Paper).where(Paper.grade == x))\n"
    )
    assert findings(RULE, source) == []


@pytest.mark.parametrize(("kind", "found"), [("Grade", 0), ("String", 1)])
def test_an_enumeration_of_prisma_holds_few_values(kind, found):
    files = {
        "prisma/schema.prisma": f"model Paper {{\n  id Int @id\n  grade {kind}\n}}\n",
        "work.ts": "export const f = (x) => prisma.paper.findMany({ where: { grade: x }, take: 9 });\n",
    }
    assert len(findings_of(RULE, files)) == found


def test_a_class_of_a_migration_is_what_the_model_was_once():
    model = (
        "class Paper(Base):\n    __tablename__ = 'papers'\n    id = mapped_column(Integer, primary_key=True)\n"
        "    title = mapped_column(String%s)\n"
    )
    files = {
        "shop/migrations/versions/0123456789ab_titles.py": model % "",
        "shop/models.py": model % ", index=True",
        "shop/work.py": (
            "from sqlalchemy import select\ndef f(session, x):\n"
            "    session.scalars(select(Paper).where(Paper.title == x))\n"
        ),
    }
    assert findings_of(RULE, files) == []


INDEXED = '@Table(indexes = @Index(columnList = "b"))'


@pytest.mark.parametrize(("annotation", "confidence"), [("", "medium"), (INDEXED, "high")])
def test_indexes_of_jpa_may_all_be_made_elsewhere(annotation, confidence):
    files = {
        "src/main/java/shop/Paper.java": (
            f"package shop;\nimport jakarta.persistence.*;\n@Entity\n{annotation}\npublic class Paper {{\n"
            "  @Id private Long id;\n  private String a;\n  private String b;\n}\n"
        ),
        "src/main/java/shop/PaperRepository.java": (
            "package shop;\nimport org.springframework.data.jpa.repository.JpaRepository;\n"
            "public interface PaperRepository extends JpaRepository<Paper, Long> {\n  Paper findByA(String a);\n}\n"
        ),
    }
    assert [str(each.confidence) for each in findings_of(RULE, files)] == [confidence]


def test_the_values_of_an_update_are_no_conditions():
    work = "const {{ Paper }} = require('./models'); // sequelize\nasync function f() {{ await Paper.update({0}); }}\n"
    model = {"models.js": "const Paper = sequelize.define('Paper', { title: DataTypes.STRING });\n"}
    values = model | {"work.js": work.format("{ title: 'x' }")}
    picked = model | {"work.js": work.format("{ a: 1 }, { where: { title: wanted } }")}
    assert [len(findings_of(RULE, files)) for files in (values, picked)] == [0, 1]


@pytest.mark.parametrize(("value", "found"), [("x", 1), ("'urgent'", 0)])
def test_a_value_that_is_written_out_names_a_kind(value, found):
    assert len(lines(RULE, f"def f(x):\n    return list(Order.objects.filter(reference={value}))")) == found


@pytest.mark.parametrize(
    ("conditions", "found"),
    [("is_paid=True", 1), ("is_paid=x", 1), ("reference=x", 0), ("customer=x", 0), ("", 1)],
)
def test_an_order_under_a_limit_where_many_rows_are_left(conditions, found):
    source = f"def f(x):\n    return list(Order.objects.filter({conditions}).order_by('total')[:25])"
    told = findings(RULE, source)
    assert len([each for each in told if "`Order.total`" in each.message]) == found


def test_a_column_that_only_has_a_type():
    source = (
        "class Paper(Base):\n    __tablename__ = 'papers'\n    __table_args__ = (Index('a', 'grade', 'day'),)\n"
        "    id: Mapped[int] = mapped_column(primary_key=True)\n    grade: Mapped[int]\n"
        "    day: Mapped[date | None]\n\n\n"
        "def f(session, x):\n    return session.query(Paper).filter(Paper.{0} == x).limit(9).all()\n"
    )
    found = [
        findings_of(RULE, {"shop/work.py": "import sqlalchemy\n" + source.format(name)}) for name in ("day", "grade")
    ]
    assert [len(each) for each in found] == [1, 0]


@pytest.mark.parametrize(
    ("fields", "count"), [("['room_id', 'taken_at']", 0), ("['roomId', 'takenAt']", 0), ("['taken_at']", 1)]
)
def test_an_index_of_sequelize_by_the_names_of_the_columns(fields, count):
    model = "const { DataTypes } = require('sequelize');\nmodule.exports = (db) => db.define('Reading', {\n"
    model += "  roomId: DataTypes.INTEGER,\n  takenAt: DataTypes.DATE,\n"
    model += f"}}, {{ tableName: 'readings', underscored: true, indexes: [{{ fields: {fields} }}] }});\n"
    source = "const { Reading } = require('./models');\n"
    source += "exports.of = (roomId) => Reading.findAll({ where: { roomId }, limit: 50 });\n"
    assert len(findings_of(RULE, {"src/reading.js": model, "src/list.js": source})) == count


@pytest.mark.parametrize(("size", "severities"), [("M", []), ("XL", ["info"])])
def test_a_flag_that_is_compared_with_what_is_written_out_is_worth_knowing_on_large_tables(size, severities):
    found = findings(RULE, "list(Order.objects.filter(is_paid=False))", volumes={"shop_order": size})
    assert [finding.severity for finding in found] == severities


ORDERS_OF_ALEMBIC = """from sqlalchemy import select
from sqlalchemy.orm import Mapped, mapped_column
class Parcel(Base):
    __tablename__ = "parcels"
    id: Mapped[int] = mapped_column(primary_key=True)
    label: Mapped[str] = mapped_column()
def f(session, label):
    return session.scalars(select(Parcel).where(Parcel.label == label)).all()
"""


@pytest.mark.parametrize(
    ("made", "count"),
    [
        ("    op.create_index('i', 'parcels', ['label'])", 0),
        ("    op.create_unique_constraint('i', 'parcels', ['label'])", 0),
        (
            "    with op.get_context().autocommit_block():\n        op.create_index(op.f('i'), 'parcels', ['label'])",
            0,
        ),
        ("    with op.batch_alter_table('parcels') as batch:\n        batch.create_index('i', ['label'])", 0),
        ("    with op.batch_alter_table('boxes') as batch:\n        batch.create_index('i', ['label'])", 1),
        ("    op.create_index('i', 'parcels', ['id', 'label'])", 1),
        ("    pass\n\ndef downgrade():\n    op.create_index('i', 'parcels', ['label'])", 1),
    ],
)
def test_an_index_that_a_migration_of_alembic_makes_counts(made, count):
    migration = f"from alembic import op\n\ndef upgrade():\n{made}\n"
    files = {"shop/parcels.py": ORDERS_OF_ALEMBIC, "migrations/versions/0002_index.py": migration}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("coalesce(sum(grams), 0)", 0),
        ("max(grams)", 0),
        ("grams", 1),
        ("label, max(grams)", 1),
    ],
)
def test_a_sum_in_sql_over_a_span_reads_most_rows_anyway(asked, count):
    files = {
        "db/schema.sql": "CREATE TABLE parcels (id int primary key, label text, grams int);\n",
        "a.py": f"def f(cur, n):\n    cur.execute('SELECT {asked} FROM parcels WHERE grams > %s', [n])\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("key", "count"), [("bigserial", 1), ("int AUTO_INCREMENT", 0), ("bigint", 0)])
def test_a_foreign_key_in_sql_has_an_index_of_its_own_but_in_postgresql(key, count):
    files = {
        "db/schema.sql": f"CREATE TABLE parcels (id {key} PRIMARY KEY, van_id bigint NOT NULL REFERENCES vans (id));\n",
        "a.py": "def f(cur, van):\n    cur.execute('SELECT id FROM parcels WHERE van_id = %s', [van])\n",
    }
    assert len(findings_of(RULE, files)) == count


def test_rows_that_are_loaded_for_others_are_found_by_their_keys():
    source = "def f(x):\n    return Prefetch('orders', queryset=Order.objects.filter(reference=x), to_attr='wanted')"
    assert lines(RULE, source) == []
    assert lines(RULE, "def f(x):\n    return list(Order.objects.filter(reference=x))") == [2]
