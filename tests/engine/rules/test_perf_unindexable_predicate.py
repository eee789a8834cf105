import pytest

from tests.engine.rules.orms import findings as of_orm
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


def test_a_random_order_of_chosen_rows_says_so():
    (finding,) = findings(
        RULE, "def f():\n    return Order.objects.filter(status__in=['a', 'b']).order_by('?').first()"
    )
    assert finding.message.startswith("All rows of `Order` that match are sorted in random order")


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
    ("index", "count"),
    [
        ("models.Index(fields=['note'], name='a')", 1),
        ("models.Index(Upper('note'), name='a')", 1),
        ("models.UniqueConstraint(Lower('note').desc(), name='a')", 1),
        ("GinIndex(fields=['note'], name='a', opclasses=['gin_trgm_ops'])", 0),
        ("GinIndex(OpClass(Upper('note'), name='gin_trgm_ops'), name='a')", 0),
        ("models.UniqueConstraint('note', name='a')", 1),
    ],
)
def test_an_index_that_django_makes_for_it(index, count):
    models = (
        "from django.db import models\n\nclass Letter(models.Model):\n    note = models.CharField(max_length=9)\n"
        f"    class Meta:\n        indexes = [{index}]\n\n"
        "def f(text):\n    return list(Letter.objects.filter(note__icontains=text))\n"
    )
    assert len(findings_of(RULE, {"shop/models.py": models})) == count


@pytest.mark.parametrize(("lookup", "count"), [("iexact", 0), ("icontains", 1)])
def test_an_index_on_a_function_serves_the_function_and_nothing_inside_of_the_text(lookup, count):
    models = (
        "from django.db import models\n\nclass Letter(models.Model):\n    note = models.CharField(max_length=9)\n"
        "    class Meta:\n        indexes = [models.Index(Upper('note'), name='a')]\n\n"
        f"def f(text):\n    return list(Letter.objects.filter(note__{lookup}=text))\n"
    )
    assert len(findings_of(RULE, {"shop/models.py": models})) == count


@pytest.mark.parametrize(
    ("index", "count"),
    [
        ("CREATE INDEX a ON letters (lower(note))", 1),
        ("CREATE INDEX a ON letters USING gin (lower(note) gin_trgm_ops)", 0),
        ("CREATE INDEX a ON letters USING gin (to_tsvector('simple', note))", 0),
    ],
)
def test_what_stands_inside_of_a_text_needs_an_index_of_its_own(index, count):
    files = {
        "db/migrations/001_letters.sql": f"CREATE TABLE letters (id int primary key, note text);\n{index};\n",
        "a.py": 'def f(cur, text):\n    cur.execute("SELECT id FROM letters WHERE note LIKE \'%" + text + "\'")\n',
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("index", "count"),
    [
        ("CREATE INDEX a ON letters (note)", 1),
        ("CREATE UNIQUE INDEX a ON letters (lower(note))", 0),
        ("CREATE INDEX a ON letters (id, (lower((note)::text)))", 0),
        ("CREATE INDEX a ON letters USING gin (note gin_trgm_ops)", 0),
        ("CREATE FULLTEXT INDEX a ON letters (note)", 0),
    ],
)
def test_an_index_that_sql_makes_for_it(index, count):
    files = {
        "db/migrations/001_letters.sql": f"CREATE TABLE letters (id int primary key, note text);\n{index};\n",
        "a.py": "def f(cur, text):\n    cur.execute('SELECT id FROM letters WHERE lower(note) = %s', [text])\n",
    }
    assert len(findings_of(RULE, files)) == count


def test_a_few_picked_rows_may_be_shuffled():
    source = PARCELS.replace("filter(Parcel.label.%s)", "filter(Parcel.label == text).order_by(func.random())")
    assert findings_of(RULE, {"shop/work.py": source}) == []
    source = PARCELS.replace("filter(Parcel.label.%s)", "order_by(func.random())")
    assert len(findings_of(RULE, {"shop/work.py": source})) == 1


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


MONGOOSE = """const mongoose = require('mongoose');
const pageSchema = new mongoose.Schema({ path: { type: String, index: true } });
const Page = mongoose.model('Page', pageSchema);
async function find(text) {
  %s
}
"""


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return await Page.find({ path: { $regex: text } });", 1),
        ("const pattern = new RegExp('^/bin/');\n  return await Page.find({ path: { $regex: pattern } });", 0),
        ("const pattern = new RegExp(text, 'i');\n  return await Page.find({ path: { $regex: pattern } });", 1),
        ("const pattern = escapeRegExp(text);\n  return await Page.find({ path: { $regex: pattern } });", 1),
        ("const pattern = childrenRegExp(text);\n  return await Page.find({ path: { $regex: pattern } });", 0),
        ("return new PageQuery(Page.find({ path: { $regex: text } }));", 0),
    ],
)
def test_patterns_that_begin_at_the_start_and_queries_that_go_on(body, count):
    assert len(findings_of(RULE, {"src/pages.js": MONGOOSE % body})) == count


def test_a_chain_that_runs_twice_is_told_once():
    source = (
        "def f(x):\n    rows = Customer.objects.filter(email__iexact=x)\n    if rows.exists():\n"
        "        rows.delete()\n    return rows.count()\n"
    )
    assert len(findings(RULE, source)) == 1


@pytest.mark.parametrize(("condition", "found"), [("orders__in=rows, ", 0), ("", 1)])
def test_rows_that_belong_to_given_ones_are_few(condition, found):
    source = f"def f(x, rows):\n    return list(Customer.objects.filter({condition}email__iexact=x))"
    assert len(findings(RULE, source)) == found


@pytest.mark.parametrize(
    ("orm", "body"),
    [
        ("typeorm", "return await this.orders.createQueryBuilder('o').orderBy('RANDOM()').limit(5).getMany();"),
        ("sequelize", "return await Order.findAll({ order: sequelize.random(), limit: 5 });"),
        ("sequelize", "return await Order.findAll({ order: [[sequelize.fn('RAND')]], limit: 5 });"),
        ("sequelize", "return await Order.findAll({ order: [sequelize.literal('random()')], limit: 5 });"),
        ("gorm", '\tvar rows []Order\n\tdb.Order("RANDOM()").Limit(5).Find(&rows)'),
    ],
)
def test_a_random_order_in_other_words(orm, body):
    assert len(of_orm(RULE, orm, body)) == 1


def test_a_random_order_of_a_declared_query():
    files = {
        "src/main/java/shop/Paper.java": (
            "package shop;\nimport jakarta.persistence.*;\n@Entity\npublic class Paper {\n  @Id private Long id;\n}\n"
        ),
        "src/main/java/shop/PaperRepository.java": (
            "package shop;\nimport org.springframework.data.jpa.repository.*;\n"
            "public interface PaperRepository extends JpaRepository<Paper, Long> {\n"
            "  @Query(\"select p from Paper p order by function('RAND')\")\n  List<Paper> some();\n}\n"
        ),
    }
    assert len(findings_of(RULE, files)) == 1


@pytest.mark.parametrize(
    ("orm", "condition", "count"),
    [
        ("sequelize", "where(fn('lower', col('reference')), x)", 1),
        ("sequelize", "sequelize.where(sequelize.fn('date', sequelize.col('Order.createdAt')), x)", 1),
        ("sequelize", "{ [Op.and]: [where(fn('lower', col('reference')), x), { customerId: ids }] }", 0),
        ("sequelize", "{ [Op.or]: [{ reference: x }, { '$customer.email$': x }] }", 1),
        ("sequelize", "{ [Op.or]: [{ reference: x }, { total: x }] }", 0),
        ("typeorm", "[{ reference: x }, { customer: { email: x } }]", 1),
        ("typeorm", "[{ reference: x }, { total: x }]", 0),
        ("typeorm", "[{ reference: x }, { customer: { id: x } }]", 0),
    ],
)
def test_functions_and_alternatives_in_options(orm, condition, count):
    model = "this.orders.find" if orm == "typeorm" else "Order.findAll"
    assert len(of_orm(RULE, orm, f"return await {model}({{ where: {condition}, limit: 9 }});")) == count


def test_alternatives_of_a_builder():
    body = (
        "return await this.orders.createQueryBuilder('o').leftJoin('o.customer', 'c')"
        ".where('o.reference = :x', { x }).orWhere('%s = :x', { x }).getMany();"
    )
    assert [len(of_orm(RULE, "typeorm", body % column)) for column in ("c.email", "o.total")] == [1, 0]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("Q(reference=x) | Q(customer__email=x)", 1),
        ("Q(reference=x) | Q(customer_id=x)", 0),
        ("Q(reference=x) | Q(customer__id=x)", 0),
        ("Q(reference=x) | Q(status=x)", 0),
    ],
)
def test_alternatives_of_django(condition, count):
    assert len(lines(RULE, f"def f(x):\n    return list(Order.objects.filter({condition}))")) == count


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("or_(Parcel.label == text, Box.label == text)", 1),
        ("(Parcel.label == text) | (Box.label == text)", 1),
        ("or_(Parcel.label == text, Parcel.id == text)", 0),
        ("or_(Parcel.label == text, Box.label == text), Parcel.id == 9", 0),
    ],
)
def test_alternatives_of_sqlalchemy(condition, count):
    source = PARCELS.replace("filter(Parcel.label.%s)", f"join(Box).filter({condition})")
    assert len(findings_of(RULE, {"shop/work.py": source})) == count


def test_a_chain_that_goes_on_behind_a_slice():
    source = (
        "def f(x):\n    rows = Order.objects.filter(reference__icontains=x)[:20].values('id')\n"
        "    return JsonResponse({'rows': list(rows)})"
    )
    assert lines(RULE, source) == [2]


@pytest.mark.parametrize(("kind", "found"), [("JSONField()", 0), ("TextField()", 1)])
def test_what_a_document_contains_is_no_part_of_a_text(kind, found):
    models = f"from django.db import models\n\nclass Order(models.Model):\n    data = models.{kind}\n"
    work = "from shop.models import Order\ndef f(part):\n    return list(Order.objects.filter(data__contains=part))\n"
    assert len(findings_of(RULE, {"shop/models.py": models, "shop/work.py": work})) == found


def test_sql_names_a_column_otherwise_than_the_class():
    files = {
        "src/Parcel.java": (
            'import jakarta.persistence.*;\n@Entity\n@Table(name = "parcel")\nclass Parcel {\n  @Id Long id;\n'
            '  @Column(name = "origin_port") String originPort;\n}\n'
        ),
        "src/Search.java": (
            "import org.springframework.jdbc.core.JdbcTemplate;\n"
            "class Search {\n  JdbcTemplate jdbc;\n  Object f(String port) {\n"
            '    return jdbc.queryForList("SELECT id FROM parcel WHERE lower(origin_port) = ?", Long.class, port);\n'
            "  }\n}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == [5]


@pytest.mark.parametrize(
    ("condition", "found"), [("lower(code) = lower(?1)", [12]), ("code = ?1", []), ("started_at > ?1", [])]
)
def test_a_native_query_of_a_repository(condition, found):
    source = (
        "package a;\nimport jakarta.persistence.Entity;\n@Entity\npublic class Visit {\n  @Id Long id;\n"
        "  String code;\n  Instant startedAt;\n}\n"
        "interface Visits extends JpaRepository<Visit, Long> {\n"
        '  @Query(value = "select * from visit where ' + condition + '",\n      nativeQuery = true)\n'
        "  List<Visit> wanted(String text);\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/a/Visit.java": source})] == found


@pytest.mark.parametrize(
    ("index", "count"),
    [("", 1), ("CREATE INDEX ship_note ON ships USING gin (note gin_trgm_ops);", 0)],
)
@pytest.mark.parametrize(
    ("path", "source"),
    [
        (
            "harbour/ships.py",
            'TABLES = """CREATE TABLE ships (id INTEGER PRIMARY KEY, note TEXT); INDEX"""\n'
            "def find(conn, word):\n    conn.executescript(TABLES)\n"
            "    return conn.execute(\"SELECT id FROM ships WHERE note LIKE '%' || ? || '%'\", (word,)).fetchall()\n",
        ),
        (
            "src/Ships.java",
            'class Ships {\n  Object find(String word) {\n    statement.executeUpdate("CREATE TABLE ships'
            ' (id INTEGER PRIMARY KEY, note TEXT); INDEX");\n'
            "    return jdbc.queryForList(\"SELECT id FROM ships WHERE note LIKE '%' || ? || '%'\", word);\n  }\n}\n",
        ),
    ],
)
def test_tables_that_the_code_itself_makes(path, source, index, count):
    assert len(findings_of(RULE, {path: source.replace("INDEX", index)})) == count


@pytest.mark.parametrize(("kind", "count"), [("gin (upper(note) gin_trgm_ops)", 0), ("btree (id)", 1)])
def test_an_index_that_a_migration_of_django_writes_as_sql(kind, count):
    files = {
        "harbour/models.py": (
            "from django.db import models\n\nclass Ship(models.Model):\n    note = models.CharField(max_length=90)\n"
        ),
        "harbour/migrations/0002_search.py": (
            "from django.db import migrations\n\nclass Migration(migrations.Migration):\n    operations = [\n"
            '        migrations.RunSQL(\n            "CREATE INDEX CONCURRENTLY ship_note "\n'
            f'            "ON harbour_ship USING {kind}",\n        ),\n    ]\n'
        ),
        "harbour/views.py": (
            "from harbour.models import Ship\n\ndef find(request):\n"
            "    return list(Ship.objects.filter(note__icontains=request.GET['q']))\n"
        ),
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('jdbc.query("SELECT id FROM parcel WHERE port LIKE ?", MAPPER, "%" + part)', [4]),
        ('jdbc.query("SELECT id FROM parcel WHERE port LIKE ?", MAPPER, part + "%")', []),
        ('jdbc.query("SELECT id FROM parcel WHERE port LIKE ?", new Object[] {"%" + part}, MAPPER)', [4]),
        ('client.sql("SELECT id FROM parcel WHERE port LIKE :p").param("p", "%" + part).query(Long.class).list()', [4]),
        ('client.sql("SELECT id FROM parcel WHERE port LIKE ?").param(part + "%").query(Long.class).list()', []),
    ],
)
def test_what_java_binds_behind_a_mapper_or_in_steps(call, found):
    files = {
        "src/Search.java": (
            "import org.springframework.jdbc.core.simple.JdbcClient;\nclass Search {\n  Object f(String part) {\n"
            f"    return {call};\n  }}\n}}\n"
        ),
        "db/schema.sql": "CREATE TABLE parcel (id bigint primary key, port text);",
    }
    assert [each.line for each in findings_of(RULE, files)] == found


@pytest.mark.parametrize(
    ("conditions", "confidence"),
    [("total__gte=a, total__lt=b", "low"), ("total__gte=a", "high"), ("is_paid=True", "high")],
)
def test_the_rows_of_a_span_are_few(conditions, confidence):
    source = f"def f(t, a, b):\n    return Order.objects.filter(reference__iexact=t, {conditions}).count()"
    assert [str(each.confidence) for each in findings(RULE, source)] == [confidence]


LETTERS = """CREATE TABLE letters (id int primary key, note text, sent_at timestamp, place_id int);
CREATE TABLE places (id int primary key, name text);
CREATE INDEX a ON letters (note);
"""


@pytest.mark.parametrize(
    ("condition", "lines"),
    [
        ("l.note = %s OR p.name = %s", [2]),
        ("(p.name = %s OR l.note = %s) AND l.sent_at > %s", [2]),
        ("l.note = %s OR l.place_id = %s", []),
        ("(l.note = %s OR p.name = %s) AND l.id = %s", []),
        ("CAST(l.note AS CHAR(8)) = %s", [2]),
        ("CAST(l.sent_at AS DECIMAL(10, 2)) = %s", [2]),
    ],
)
def test_conditions_in_sql_that_no_index_serves(condition, lines):
    source = (
        "def f(cur, a, b, c):\n"
        "    cur.execute('SELECT l.id FROM letters l JOIN places p ON p.id = l.place_id"
        f" WHERE {condition}', [a, b, c])\n"
    )
    found = findings_of(RULE, {"db/migrations/001.sql": LETTERS, "a.py": source})
    assert [each.line for each in found] == lines


@pytest.mark.parametrize(
    ("chain", "count"),
    [
        ('db.Raw("SELECT id FROM customers WHERE lower(email) = ?", x).Scan(&rows)', 1),
        ('db.Raw("SELECT id FROM customers WHERE email = ?", x).Scan(&rows)', 0),
        ('db.Raw("SELECT id FROM customers WHERE email LIKE ?", "%"+x).Scan(&rows)', 1),
    ],
)
def test_sql_that_gorm_is_given(chain, count):
    body = f"\tvar rows []Customer\n\t{chain}"
    assert len(of_orm(RULE, "gorm", body)) == count


@pytest.mark.parametrize(
    ("chain", "count"),
    [
        ('knex("letters").whereRaw("upper(note) = ?", [x]).select("id")', 1),
        ('knex("letters").whereRaw("note = ?", [x]).select("id")', 0),
        ('knex("letters").whereRaw("note like ?", [`%${x}`]).select("id")', 1),
        ('knex("letters").orderByRaw("random()").limit(3)', 1),
        ('knex("letters").orderByRaw("note desc").limit(3)', 0),
        ('knex("letters").where({ id: x }).whereRaw("upper(note) = ?", [x])', 0),
    ],
)
def test_sql_that_knex_is_given(chain, count):
    source = f"const knex = require('knex')({{}});\nasync function find(x) {{\n  return await {chain};\n}}\n"
    assert len(findings_of(RULE, {"db/migrations/001.sql": LETTERS, "src/find.js": source})) == count


@pytest.mark.parametrize(
    ("chain", "count"),
    [
        ("Order.objects.exclude(id__in=Line.objects.values('order_id'))[:20]", 1),
        ("Order.objects.exclude(id__in=list(Line.objects.values_list('order_id', flat=True)))[:20]", 0),
        ("Order.objects.exclude(id__in=known)[:20]", 0),
        ("Order.objects.filter(id__in=Line.objects.values('order_id'))[:20]", 0),
        ("Order.objects.annotate(plain=Lower('reference')).filter(plain=t)", 1),
        ("Order.objects.alias(day=TruncDate(F('reference'))).filter(day__gt=t)", 1),
        ("Order.objects.annotate(plain=Lower('reference')).filter(reference=t)", 0),
        ("Order.objects.annotate(rows=Count('lines')).filter(rows=t)", 0),
    ],
)
def test_subqueries_that_are_excluded_and_functions_with_a_name_in_django(chain, count):
    assert len(findings(RULE, f"def f(t, known):\n    return list({chain})")) == count


@pytest.mark.parametrize("rows", ["select(Box.parcel_id)", "session.query(Box.parcel_id)", "[1, 2]"])
def test_a_subquery_of_sqlalchemy_that_is_excluded(rows):
    source = PARCELS.replace("Parcel.label.%s", f"Parcel.label.not_in({rows})")
    assert len(findings_of(RULE, {"shop/work.py": source})) == (rows[0] != "[")
