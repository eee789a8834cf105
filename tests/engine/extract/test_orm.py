"""Queries and models that extract reads from code, schema files and SQL."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.facts import Query


def queries(source: str, language: str = "python") -> tuple[Query, ...]:
    return extract(source.encode(), language).queries


DJANGO = "from .models import Order, TaxRate as Rate\ndef f(x):\n    "


@pytest.mark.parametrize(
    ("text", "model", "operation", "terminal", "limit"),
    [
        ("Order.objects.get(pk=x)", "Order", "select", "get", 1),
        ("Rate.objects.filter(a=1).first()", "TaxRate", "select", "first", 1),
        ("Order.objects.filter(a=1).count()", "Order", "count", "count", 0),
        ("Order.objects.all()", "Order", "select", "", 0),
        ("list(Order.objects.all()[:10])", "Order", "select", "list", 10),
        ("list(Order.objects.all()[a:b])", "Order", "select", "list", -1),
        ("[o.a for o in Order.objects.all()]", "Order", "select", "iter", 0),
        ("Order.objects.filter(a=1).update(b=2)", "Order", "update", "update", 0),
        ("Order.objects.bulk_create(x)", "Order", "bulk_insert", "bulk_create", 0),
        ("Order.objects.filter(a=1).exists()", "Order", "exists", "exists", 1),
    ],
)
def test_a_chain_on_a_manager_is_one_query(text, model, operation, terminal, limit):
    (query,) = queries(DJANGO + text)
    assert (query.model, query.operation, query.terminal, query.limit) == (model, operation, terminal, limit)


def test_the_parts_of_a_queryset():
    (query,) = queries(
        DJANGO + "a = Order.objects.filter(Q(a=1) | Q(b__gt=2), c__name__in=x).select_related('d__e')"
        ".order_by('-g').values('h').select_for_update().get(i=3)"
    )
    assert [(each.column, each.operator, each.constant) for each in query.filters] == [
        ("c.name", "in", False),
        ("a", "eq", False),
        ("b", "range", False),
        ("i", "eq", True),
    ]
    assert (query.eager, query.order, query.columns, query.lock) == (("d.e",), ("-g",), ("h",), True)
    assert query.variable == "a"


def test_a_chain_goes_on_from_its_variable_and_runs_in_a_loop():
    found = queries(
        DJANGO + "qs = Order.objects.filter(a=x)\n    qs = qs.select_related('b')\n"
        "    for order in qs:\n        Rate.objects.get(r=order.r)\n        order.save()\n"
    )
    lazy, joined, inner, write = found
    assert (lazy.terminal, joined.terminal) == ("", "iter")
    assert (joined.eager, [each.column for each in joined.filters]) == (("b",), ["a"])
    assert (inner.loop, inner.uses_loop_variable) == (0, True)
    assert (write.model, write.operation, write.loop) == ("Order", "update", 0)


def test_transactions_are_seen_on_the_function_and_around_the_block():
    source = "from django.db import transaction\n@transaction.atomic\ndef f():\n    A.objects.create(a=1)\n"
    assert queries(source)[0].in_transaction
    source = (
        "from django.db import transaction\ndef f():\n    with transaction.atomic():\n        A.objects.create(a=1)\n"
    )
    assert queries(source)[0].in_transaction
    assert not queries("def f():\n    A.objects.create(a=1)\n")[0].in_transaction


def test_django_models_with_columns_relations_and_indexes():
    source = (
        "from django.db import models\nclass Order(models.Model):\n"
        "    region = models.ForeignKey('shop.Region', on_delete=models.CASCADE, related_name='orders', null=True)\n"
        "    number = models.CharField(max_length=9, unique=True)\n    tags = models.ManyToManyField(Tag)\n"
        "    class Meta:\n        db_table = 'shop_order'\n        indexes = [models.Index(fields=['a', '-b'])]\n"
        "        unique_together = (('c', 'd'),)\n"
    )
    (model,) = extract(source.encode(), "python").models
    assert (model.orm, model.name, model.table, model.line) == ("django", "Order", "shop_order", 2)
    assert [(each.name, each.nullable, each.unique, each.indexed) for each in model.columns] == [
        ("region", True, False, True),
        ("number", False, True, True),
    ]
    assert [(each.name, each.kind, each.target, each.reverse, each.on_delete) for each in model.relations] == [
        ("region", "to_one", "Region", "orders", "cascade"),
        ("tags", "to_many", "Tag", "", ""),
    ]
    assert model.indexes == (("a", "b"), ("c", "d"))


def test_sqlalchemy_queries_and_models():
    source = (
        "from sqlalchemy import select\nclass User(Base):\n    __tablename__ = 'users'\n"
        "    id: Mapped[int] = mapped_column(primary_key=True)\n    name = Column(String(9), index=True)\n"
        "    posts: Mapped[list['Post']] = relationship(back_populates='user', lazy='selectin')\n"
        "def f(session, x):\n    session.query(User).filter(User.name == x).limit(5).all()\n"
        "    session.scalars(select(User).where(User.id.in_(x)))\n    session.get(User, 1)\n    session.commit()\n"
    )
    facts = extract(source.encode(), "python")
    assert [(each.model, each.operation, each.terminal, each.limit) for each in facts.queries] == [
        ("User", "select", "all", 5),
        ("User", "select", "scalars", 0),
        ("User", "select", "get", 1),
        ("", "commit", "commit", 0),
    ]
    assert [[(each.column, each.operator) for each in query.filters] for query in facts.queries[:2]] == [
        [("name", "eq")],
        [("id", "in")],
    ]
    (model,) = facts.models
    assert (model.table, [(each.name, each.indexed) for each in model.columns]) == (
        "users",
        [("id", True), ("name", True)],
    )
    assert [(each.kind, each.target, each.fetch) for each in model.relations] == [("to_many", "Post", "selectin")]


SQLALCHEMY_MODEL = """class Room(Base):
    __tablename__ = 'rooms'
    id = Column(Integer, primary_key=True)
    owner_id = Column(ForeignKey('users.id'))
    made_by = Column(ForeignKey('users.id'))
    label = Column(String)
%s
"""


@pytest.mark.parametrize(
    ("relation", "kind", "fetch"),
    [
        ("owner = relationship('User', lazy='subquery')", "to_one", "subquery"),
        ("maker = relationship('User', lazy=False, foreign_keys=[made_by])", "to_one", "joined"),
        ("maker = relationship('User', foreign_keys=made_by)", "to_one", ""),
        ("parent = relationship('Room', remote_side=[id], lazy=True)", "to_one", "select"),
        ("fans = relationship('User', secondary=fans)", "to_many", ""),
        ("bookings = relationship('Booking', foreign_keys='Booking.room_id')", "to_many", ""),
        ("bookings = relationship('Booking')", "to_many", ""),
    ],
)
def test_relations_of_sqlalchemy_lead_to_one_where_their_key_is(relation, kind, fetch):
    (model,) = extract((SQLALCHEMY_MODEL % f"    {relation}").encode(), "python").models
    assert [(each.kind, each.fetch) for each in model.relations] == [(kind, fetch)]


@pytest.mark.parametrize(
    ("index", "indexes", "searchable"),
    [
        ("__table_args__ = (Index('a', 'label', 'id'), {'schema': 'x'})", (("label", "id"),), ()),
        ("__table_args__ = (UniqueConstraint('label', name='b'),)", (("label",),), ()),
        ("newest = Index('a', label.desc())", (("label",),), ()),
        ("folded = Index('a', func.lower(label), unique=True)", ((),), ("label()",)),
        ("folded = db.Index(None, db.func.lower(label))", ((),), ("label()",)),
        ("found = Index('a', 'label', postgresql_using='gin')", (("label",),), ("label",)),
        ("found = Index('a', 'label', postgresql_ops={'label': 'gin_trgm_ops'})", (("label",),), ("label",)),
    ],
)
def test_indexes_of_sqlalchemy(index, indexes, searchable):
    (model,) = extract((SQLALCHEMY_MODEL % f"    {index}").encode(), "python").models
    assert (model.indexes, model.searchable) == (indexes, searchable)


@pytest.mark.parametrize(
    ("index", "indexes", "searchable"),
    [
        ("Index('a', Room.label.desc(), Room.id)", (("label", "id"),), ()),
        ("by_label = sa.Index(\n    'a',\n    Room.__table__.c.label,\n)", (("label",),), ()),
        ("Index('a', func.lower(Room.label))", ((),), ("label()",)),
        ("Index('a', Other.label)", (), ()),
        ("def later():\n    Index('a', Room.label)", (), ()),
    ],
)
def test_indexes_of_sqlalchemy_that_stand_behind_the_class(index, indexes, searchable):
    source = (SQLALCHEMY_MODEL % "") + f"\n\n{index}\n"
    (model,) = extract(source.encode(), "python").models
    assert (model.indexes, model.searchable) == (indexes, searchable)


@pytest.mark.parametrize(("taken", "limit"), [("first", 1), ("one_or_none", 1), ("all", 0)])
def test_what_is_taken_of_the_scalars_of_sqlalchemy(taken, limit):
    source = "from sqlalchemy import select\nasync def f(db):\n    return (await db.scalars(select(User))).%s()\n"
    (query,) = queries(source % taken)
    assert (query.terminal, query.limit) == (taken, limit)


def test_sql_text_is_a_query():
    (query,) = queries(
        "def f():\n    cursor.execute('SELECT a, (SELECT n FROM u WHERE u.id = o.b) AS n FROM o WHERE c = %s')\n"
    )
    assert query.model == "o"
    (query,) = queries("def f():\n    cursor.execute('SELECT a FROM shop.orders WHERE b = %s ORDER BY c, d LIMIT 5')\n")
    assert (query.orm, query.model, query.operation, query.limit) == ("sql", "orders", "select", 5)
    assert ([each.column for each in query.filters], query.order) == (["b"], ("c", "d"))
    (query,) = queries('package p\nfunc f() { db.Query("DELETE FROM t WHERE a IN (?)", x) }', "go")
    assert (query.model, query.operation, query.filters[0].operator) == ("t", "delete", "in")


def test_calls_of_the_prisma_client():
    source = (
        "import { PrismaClient } from '@prisma/client';\nasync function f(x) {\n"
        "  const a = await prisma.order.findMany({ where: { paid: true, user: { id: { in: x } } }, take: 10, skip: n,\n"
        "    include: { lines: true }, orderBy: { id: 'asc' } });\n"
        "  for (const o of a) { await prisma.line.create({ data: { order: o.id } }); }\n}\n"
    )
    read, write = queries(source, "typescript")
    assert (read.model, read.operation, read.limit, read.offset, read.eager) == ("order", "select", 10, -1, ("lines",))
    assert [(each.column, each.operator, each.constant) for each in read.filters] == [
        ("paid", "eq", True),
        ("user.id", "in", False),
    ]
    assert (write.operation, write.loop, write.uses_loop_variable) == ("insert", 0, True)


@pytest.mark.parametrize(
    ("before", "columns"),
    [
        ("const where: Prisma.OrderWhereInput = { userId };\n  if (paid) { where.paid = true; }", ["userId"]),
        ("const where = { userId };\n  where.paid = paid;", ["userId", "paid"]),
        ("const where = { userId };\n  where.line = { id: { in: ids } };", ["userId", "line.id"]),
        ("const where = { userId };\n  narrow(where);", []),
        ("let where = { userId };\n  where = { paid };", []),
        ("const where = this.conditions(userId);", []),
    ],
)
def test_conditions_of_prisma_that_a_variable_holds(before, columns):
    source = f"async function f(userId, paid, ids) {{\n  {before}\n  return prisma.order.findMany({{ where }});\n}}\n"
    (read,) = queries(source, "typescript")
    assert [each.column for each in read.filters] == columns


def test_models_of_a_prisma_schema():
    source = (
        "model Order {\n  id Int @id\n  number String @unique\n  userId Int?\n"
        "  user User? @relation(fields: [userId], references: [id], onDelete: Cascade)\n  lines Line[]\n"
        '  @@index([userId, number])\n  @@map("orders")\n}\nmodel User {\n  id Int @id\n}\n'
        "model Line {\n  id Int @id\n}\n"
    )
    order, user, _line = extract(source.encode(), "prisma").models
    assert (order.name, order.table, order.indexes, user.line) == ("Order", "orders", (("userId", "number"),), 10)
    assert [(each.name, each.nullable, each.unique) for each in order.columns] == [
        ("id", False, False),
        ("number", False, True),
        ("userId", True, False),
    ]
    assert [(each.name, each.kind, each.target, each.on_delete) for each in order.relations] == [
        ("user", "to_one", "User", "cascade"),
        ("lines", "to_many", "Line", ""),
    ]


def test_braces_in_a_prisma_model_do_not_end_it():
    source = (
        'model Order {\n  id Int @id\n  more Json @default("{}") // of {any}\n  paid Boolean\n  @@map("orders")\n}\n'
    )
    (order,) = extract(source.encode(), "prisma").models
    assert (order.table, [each.name for each in order.columns]) == ("orders", ["id", "more", "paid"])


def test_what_a_prisma_condition_denies_is_no_value():
    source = "async function f(x) {\n  return prisma.order.findMany({ where: { code: { not: { equals: x } } } });\n}\n"
    (query,) = extract(source.encode(), "typescript").queries
    assert [(each.column, each.operator) for each in query.filters] == [("code", "other")]


def test_tables_and_indexes_of_sql_files():
    source = (
        "-- orders\nCREATE TABLE IF NOT EXISTS shop.orders (\n  id BIGINT PRIMARY KEY,\n"
        "  total NUMERIC(10, 2) NOT NULL,\n"
        "  user_id INT REFERENCES users (id) ON DELETE CASCADE,\n  UNIQUE (user_id, total)\n);\n"
        'CREATE INDEX i ON "orders" USING btree (total, id);\nALTER TABLE users ADD COLUMN name TEXT;\n'
    )
    orders, users = extract(source.encode(), "sql").models
    assert (orders.name, orders.line, orders.indexes) == ("orders", 2, (("user_id", "total"), ("total", "id")))
    assert [(each.name, each.nullable, each.primary_key, each.line) for each in orders.columns] == [
        ("id", False, True, 3),
        ("total", False, False, 4),
        ("user_id", True, False, 5),
    ]
    assert [(each.name, each.target, each.on_delete) for each in orders.relations] == [("user_id", "users", "cascade")]
    assert [each.name for each in users.columns] == ["name"]


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("SELECT nextval('ids') FROM generate_series(1, 9)", ""),
        ("SELECT a FROM orders JOIN unnest(ids) i ON i = a", "orders"),
        ("INSERT INTO orders(a) VALUES (1)", "orders"),
    ],
)
def test_a_function_that_makes_rows_is_no_table(text, table):
    (query,) = queries(f'def f(cursor):\n    cursor.execute("{text}")\n')
    assert query.model == table


def test_what_is_written_is_no_condition():
    script = (
        "import { Sequelize } from 'sequelize';\nimport { OrderModel } from './models/order';\n"
        "async function f(x) {\n  await OrderModel.create({ customer: x, paid: true });\n}\n"
    )
    java = (
        "package a;\nimport org.hibernate.Session;\nclass A {\n  Session session;\n"
        "  void f(Order order) {\n    session.saveOrUpdate(Order.class.getName(), order);\n  }\n}\n"
    )
    queries = (*extract(script.encode(), "typescript").queries, *extract(java.encode(), "java").queries)
    assert [(each.operation, each.filters) for each in queries] == [("insert", ()), ("update", ())]


BUN = """package shop

import "github.com/uptrace/bun"

type orderRow struct {
	bun.BaseModel `bun:"table:orders,alias:o"`
	Timestamps
	ID       int64     `bun:",pk,autoincrement"`
	Number   string    `bun:"no,unique,type:varchar(20)"`
	BuyerID  int64
	Buyer    *buyerRow `bun:"rel:belongs-to,join:buyer_id=id"`
	Lines    []Line    `bun:"rel:has-many,join:id=order_id"`
	Computed int       `bun:"-"`
}
"""


def test_structs_of_bun():
    (model,) = extract(BUN.encode(), "go").models
    assert (model.orm, model.name, model.table, model.bases) == ("bun", "orderRow", "orders", ("Timestamps",))
    assert [(each.name, each.type, each.unique, each.primary_key) for each in model.columns] == [
        ("id", "int64", True, True),
        ("no", "varchar(20)", True, False),
        ("buyer_id", "int64", False, False),
    ]
    assert [(each.name, each.kind, each.target) for each in model.relations] == [
        ("Buyer", "to_one", "buyerRow"),
        ("Lines", "to_many", "Line"),
    ]


@pytest.mark.parametrize(
    ("text", "model", "operation", "terminal", "limit"),
    [
        ("db.NewSelect().Model(&rows).Limit(5).Scan(ctx)", "orderRow", "select", "Scan", 5),
        ("db.NewSelect().Model(one).WherePK().Scan(ctx)", "orderRow", "select", "Scan", 1),
        ('db.NewSelect().Model((*orderRow)(nil)).Column("id").Scan(ctx, &ids)', "orderRow", "select", "Scan", 0),
        ('db.NewSelect().Table("orders").ColumnExpr("max(id)").Scan(ctx, &top)', "orders", "aggregate", "Scan", 0),
        ("db.NewSelect().Model((*orderRow)(nil)).Count(ctx)", "orderRow", "count", "Count", 0),
        ("db.NewInsert().Model(&rows).Exec(ctx)", "orderRow", "bulk_insert", "Exec", 0),
        ("db.NewInsert().Model(one).Exec(ctx)", "orderRow", "insert", "Exec", 0),
        ("db.NewUpdate().Model(one).WherePK().Exec(ctx)", "orderRow", "update", "Exec", 0),
        ('db.NewDelete().Model((*orderRow)(nil)).Where("o.id = ?", 1).Exec(ctx)', "orderRow", "delete", "Exec", 0),
    ],
)
def test_chains_of_bun(text, model, operation, terminal, limit):
    declared = "var rows []orderRow\n\tvar ids []int64\n\tone := new(orderRow)"
    body = f"\nfunc f(ctx context.Context, db *bun.DB) {{\n\t{declared}\n\t{text}\n}}\n"
    (query,) = queries(BUN + body, "go")
    assert (query.orm, query.model, query.operation, query.terminal, query.limit) == (
        "bun",
        model,
        operation,
        terminal,
        limit,
    )
    assert {each.column for each in query.filters} <= {"id"}


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("source.manager.increment(Order, { id }, 'total', 5)", [("update", "increment")]),
        ("em.delete(Order, { id })", [("delete", "delete")]),
        ("em.find(Order, { where: { id } })", [("select", "find")]),
        ("em.delete(other, { id })", []),
        ("cart.delete(Order, { id })", []),
    ],
)
def test_a_manager_of_typeorm_that_another_file_makes(call, found):
    source = "import { source } from './db';\nimport { Order } from './entities';\n"
    source += f"async function f(id, em) {{ await {call}; }}\n"
    queries = extract(source.encode(), "typescript").queries
    assert [(each.operation, each.terminal) for each in queries] == found


@pytest.mark.parametrize(
    ("given", "operation"),
    [("s", "update"), ("address", "update"), ("seats", "bulk_insert"), ("seatList", "bulk_insert")],
)
def test_what_spring_saves_is_a_list_by_its_name(given, operation):
    source = f"class A {{ SeatRepository repository; void f(Seat {given}) {{ repository.save({given}); }} }}"
    assert [each.operation for each in queries(source, "java")] == [operation]
