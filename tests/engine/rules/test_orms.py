"""The rules over queries, for TypeORM, Sequelize, Mongoose, Drizzle, JPA with Spring Data, GORM, and Bun."""

import pytest

from tests.engine.rules.orms import FRAMES, JPA, findings, lines
from tests.engine.rules.reading import findings_of

FLAGGED = [
    # One query per round
    (
        "perf-n-plus-one-query",
        "typeorm",
        "for (const id of ids) {\n await this.orders.findOne({ where: { id } });\n}",
        2,
    ),
    (
        "perf-n-plus-one-query",
        "typeorm",
        "for (const id of ids) {\n await this.conn\n  .getRepository(ctx, Order)\n"
        "  .createQueryBuilder('o').where('o.id = :id', { id })\n"
        "  .getOne();\n}",
        2,
    ),
    ("perf-n-plus-one-query", "sequelize", "for (const id of ids) {\n await Customer.findByPk(id);\n}", 2),
    (
        "perf-n-plus-one-query",
        "mongoose",
        "for (const id of ids) {\n await Order.findOne({ customer: id }).lean();\n}",
        2,
    ),
    (
        "perf-n-plus-one-query",
        "drizzle",
        "for (const id of ids) {\n await db.select().from(orders).where(eq(orders.id, id));\n}",
        2,
    ),
    (
        "perf-n-plus-one-query",
        "drizzle",
        "return Promise.all(ids.map(async (id) => {\n"
        " return db.query.orders.findFirst({ where: eq(orders.id, id) });\n}));",
        2,
    ),
    ("perf-n-plus-one-query", "jpa", "for (Long id : ids) {\n orders.findById(id);\n}", 2),
    ("perf-n-plus-one-query", "jpa", "ids.forEach(id -> {\n em.find(Order.class, id);\n});", 2),
    ("perf-n-plus-one-query", "gorm", "for _, id := range ids {\n var o Order\n db.First(&o, id)\n}", 3),
    # Relations row by row
    (
        "perf-n-plus-one-relation",
        "typeorm",
        "const rows = await this.orders.find({ where: { isPaid: true } });\nfor (const o of rows) {\n"
        "  mail(await o.customer);\n}",
        3,
    ),
    (
        "perf-n-plus-one-relation",
        "sequelize",
        "const rows = await Order.findAll({ where: { isPaid: true } });\nfor (const o of rows) {\n"
        "  mail(await o.getCustomer());\n}",
        3,
    ),
    (
        "perf-n-plus-one-relation",
        "jpa",
        "List<Order> rows = orders.findByPaid(true);\nfor (Order o : rows) {\n  mail(o.getCustomer().getEmail());\n}",
        3,
    ),
    (
        "perf-n-plus-one-relation",
        "jpa",
        "orders.findAll().stream()\n  .map(o -> o.getLines().size())\n  .toList();",
        2,
    ),
    (
        "perf-n-plus-one-relation",
        "gorm",
        "var rows []Order\ndb.Find(&rows)\nfor _, o := range rows {\n"
        '  db.Model(&o).Association("Lines").Find(&o.Lines)\n}',
        4,
    ),
    # Writes row by row
    ("perf-write-in-loop", "typeorm", "for (const o of x) {\n await this.orders.save(o);\n}", 2),
    ("perf-write-in-loop", "sequelize", "for (const o of x) {\n await Line.create({ amount: o.amount });\n}", 2),
    (
        "perf-write-in-loop",
        "mongoose",
        "for (const o of x) {\n await Order.updateOne({ _id: o.id }, { total: 1 });\n}",
        2,
    ),
    (
        "perf-write-in-loop",
        "drizzle",
        "for (const id of ids) {\n await db.insert(lines).values({ orderId: id });\n}",
        2,
    ),
    (
        "perf-write-in-loop",
        "drizzle",
        "for (const id of ids) {\n await db.delete(lines).where(eq(lines.id, id));\n}",
        2,
    ),
    ("perf-write-in-loop", "jpa", "for (Order o : rows) {\n orders.save(o);\n}", 2),
    ("perf-write-in-loop", "gorm", "for _, id := range ids {\n db.Create(&Line{OrderID: id})\n}", 2),
    # Unbounded
    ("perf-unbounded-query", "typeorm", "const all = await this.orders.find();\nuse(all);", 1),
    (
        "perf-unbounded-query",
        "typeorm",
        "return this.orders.createQueryBuilder('o').leftJoin('o.lines', 'l').getMany();",
        1,
    ),
    ("perf-unbounded-query", "sequelize", "return Order.findAll({ where: { isPaid: true } });", 1),
    ("perf-unbounded-query", "mongoose", "return Order.find({}).sort({ total: 1 }).lean();", 1),
    ("perf-unbounded-query", "drizzle", "return db.select().from(orders).where(eq(orders.isPaid, true));", 1),
    (
        "perf-unbounded-query",
        "drizzle",
        "const all = await db.query.orders.findMany({ with: { lines: true } });\nuse(all);",
        1,
    ),
    ("perf-unbounded-query", "jpa", "List<Order> rows = orders.findAll();\nuse(rows);", 1),
    ("perf-unbounded-query", "jpa", 'return em.createQuery("select o from Order o", Order.class).getResultList();', 1),
    ("perf-unbounded-query", "gorm", 'var rows []Order\ndb.Where("is_paid = ?", true).Find(&rows)\nuse(rows)', 2),
    # Without an index
    ("perf-unindexed-filter", "typeorm", "return this.orders.findOneBy({ reference: x });", 1),
    ("perf-unindexed-filter", "sequelize", "return Order.findOne({ where: { reference: x } });", 1),
    ("perf-unindexed-filter", "sequelize", "return Order.findAll({ order: [['total', 'DESC']], limit: 5 });", 1),
    ("perf-unindexed-filter", "drizzle", "return db.select().from(orders).where(eq(orders.reference, x)).limit(1);", 1),
    (
        "perf-unindexed-filter",
        "drizzle",
        "return db.query.orders.findMany({ where: (o, { eq }) => eq(o.reference, x) });",
        1,
    ),
    ("perf-unindexed-filter", "drizzle", "await db.delete(lines).where(eq(lines.orderId, x));", 1),
    ("perf-unindexed-filter", "mongoose", "return Order.findOne({ reference: x });", 1),
    ("perf-unindexed-filter", "mongoose", "return Line.find({ order: x });", 1),
    ("perf-unindexed-filter", "jpa", "orders.findByReference(x);", 1),
    ("perf-unindexed-filter", "gorm", 'var o Order\ndb.Where("reference = ?", x).First(&o)', 2),
    ("perf-unindexed-filter", "gorm", 'var rows []Line\ndb.Where("amount > ?", x).Limit(5).Find(&rows)', 2),
    # Predicates that no index serves
    (
        "perf-unindexable-predicate",
        "typeorm",
        "return this.orders.find({ where: { reference: Like(`%${x}%`) }, take: 5 });",
        1,
    ),
    (
        "perf-unindexable-predicate",
        "sequelize",
        "return Order.findAll({ where: { reference: { [Op.like]: `%${x}` } } });",
        1,
    ),
    ("perf-unindexable-predicate", "mongoose", "return Order.find({ reference: { $regex: x } }).limit(9);", 1),
    (
        "perf-unindexable-predicate",
        "jpa",
        'return em.createQuery("select o from Order o where lower(o.reference) = :x", Order.class).getResultList();',
        1,
    ),
    ("perf-unindexable-predicate", "mongoose", "return Order.find({ reference: new RegExp(x) }).limit(5);", 1),
    ("perf-write-in-loop", "mongoose", "for (const row of rows) {\n await new Line(row).save();\n}", 2),
    ("perf-unindexable-predicate", "gorm", 'var rows []Order\ndb.Where("reference LIKE ?", "%"+x+"%").Find(&rows)', 2),
    ("perf-unindexable-predicate", "gorm", 'var rows []Order\ndb.Where("DATE(created_at) = ?", x).Find(&rows)', 2),
    # Counted in memory
    ("perf-count-by-loading", "typeorm", "return (await this.orders.find({ where: { customerId: x } })).length;", 1),
    (
        "perf-count-by-loading",
        "sequelize",
        "const rows = await Order.findAll({ where: { customerId: x } });\nreturn rows.length;",
        1,
    ),
    (
        "perf-count-by-loading",
        "mongoose",
        "const rows = await Order.find({ customer: x });\nreturn rows.length > 3;",
        1,
    ),
    ("perf-count-by-loading", "jpa", "int n = orders.findByPaid(true).size();", 1),
    (
        "perf-count-by-loading",
        "gorm",
        'var rows []Order\ndb.Where("customer_id = ?", x).Find(&rows)\nuse(len(rows))',
        2,
    ),
    # Filtered in memory
    (
        "perf-filter-in-memory",
        "typeorm",
        "const rows = await this.orders.find();\nreturn rows.filter(row => row.isPaid);",
        1,
    ),
    (
        "perf-unindexable-predicate",
        "drizzle",
        "return db.select().from(orders).where(like(orders.reference, `%${x}%`)).limit(5);",
        1,
    ),
    (
        "perf-unindexable-predicate",
        "drizzle",
        "return db.select().from(orders).where(eq(sql`lower(${orders.reference})`, x)).limit(5);",
        1,
    ),
    (
        "perf-count-by-loading",
        "drizzle",
        "return (await db.select().from(orders).where(eq(orders.customerId, x))).length;",
        1,
    ),
    (
        "perf-count-by-loading",
        "drizzle",
        "const rows = await db.query.orders.findMany({ where: eq(orders.customerId, x) });\nreturn rows.length;",
        1,
    ),
    (
        "perf-filter-in-memory",
        "drizzle",
        "return (await db.select().from(orders)).filter((o) => o.reference === x);",
        1,
    ),
    ("perf-filter-in-memory", "typeorm", "return (await this.orders.find()).find(row => row.reference === x);", 1),
    (
        "perf-filter-in-memory",
        "jpa",
        "return orders.findAll().stream().filter(o -> o.getReference().equals(x)).toList();",
        1,
    ),
    ("perf-filter-in-memory", "mongoose", "return (await Order.find()).filter((row) => row.isPaid);", 1),
    (
        "perf-filter-in-memory",
        "jpa",
        "return orders.findAll().stream()\n .filter(o -> o.getReference().compareTo(x) > 0).toList();",
        1,
    ),
    (
        "perf-filter-in-memory",
        "jpa",
        "return orders.findAll().stream().collect(Collectors.groupingBy(Order::getReference));",
        1,
    ),
    (
        "perf-filter-in-memory",
        "gorm",
        "var rows []Order\ndb.Find(&rows)\nfor _, o := range rows {\n if o.Reference == x {\n  n++\n }\n}",
        2,
    ),
    # Bun
    (
        "perf-n-plus-one-query",
        "bun",
        'for _, id := range ids {\n o := new(Order)\n err := db.NewSelect().Model(o).Where("id = ?", id).Scan(ctx)\n}',
        3,
    ),
    (
        "perf-write-in-loop",
        "bun",
        "for _, o := range rows {\n row := orderOf(o)\n _, err := db.NewInsert().Model(&row).Exec(ctx)\n}",
        3,
    ),
    ("perf-unbounded-query", "bun", "var rows []Order\ndb.NewSelect().Model(&rows).Scan(ctx)\nuse(rows)", 2),
    (
        "perf-unbounded-query",
        "bun",
        'var rows []customerRow\nq := db.NewSelect().Model(&rows)\nq = q.Order("id")\nq.Scan(ctx)\nuse(rows)',
        4,
    ),
    (
        "perf-unbounded-query",
        "bun",
        'var rows []Order\ndb.NewSelect().Model(&rows).Where("is_paid = FALSE").Scan(ctx)\nuse(rows)',
        2,
    ),
    (
        "perf-unindexed-filter",
        "bun",
        'o := new(Order)\ndb.NewSelect().Model(o).Where("o.reference = ?", x).Scan(ctx)',
        2,
    ),
    (
        "perf-count-by-loading",
        "bun",
        'var rows []Order\nerr := db.NewSelect().Model(&rows).Where("customer_id = ?", x).Scan(ctx)\nuse(len(rows))',
        2,
    ),
    # Deep offsets of large tables stand in test_perf_deep_offset
]
FINE = [
    ("perf-n-plus-one-query", "bun", 'db.NewSelect().Model(&rows).Where("id IN (?)", bun.In(ids)).Scan(ctx)'),
    ("perf-n-plus-one-query", "bun", "for _, id := range ids {\n db.NewCursor().Model(o).Scan(id)\n}"),
    ("perf-write-in-loop", "bun", "var rows []Order\ndb.NewInsert().Model(&rows).Exec(ctx)"),
    ("perf-unbounded-query", "bun", "var rows []Order\ndb.NewSelect().Model(&rows).Limit(20).Scan(ctx)\nuse(rows)"),
    ("perf-unbounded-query", "bun", "var rows []Order\ndb.NewSelect().Model(&rows).Apply(mine).Scan(ctx)\nuse(rows)"),
    (
        "perf-unbounded-query",
        "bun",
        'var rows []Order\nq := db.NewSelect().Model(&rows)\nq.Where("? = ?", bun.Ident(x), 1)\nq.Scan(ctx)\nuse(rows)',
    ),
    ("perf-unbounded-query", "bun", "var rows []Order\nq := mine(db.NewSelect())\nq.Model(&rows).Scan(ctx)\nuse(rows)"),
    ("perf-unbounded-query", "bun", 'var n int\ndb.NewSelect().Model((*Order)(nil)).ColumnExpr("1").Scan(ctx, &n)'),
    ("perf-unindexed-filter", "bun", 'c := new(customerRow)\ndb.NewSelect().Model(c).Where("email = ?", x).Scan(ctx)'),
    (
        "perf-count-by-loading",
        "bun",
        'n, err := db.NewSelect().Model((*Order)(nil)).Where("customer_id = ?", x).Count(ctx)\nuse(n)',
    ),
    ("perf-n-plus-one-query", "drizzle", "return db.select().from(orders).where(inArray(orders.id, ids));"),
    (
        "perf-n-plus-one-relation",
        "drizzle",
        "const rows = await db.query.orders.findMany({ limit: 99, with: { customer: true } });\n"
        "for (const o of rows) {\n  mail(o.customer, o.customerId, o.lines);\n}",
    ),
    ("perf-write-in-loop", "drizzle", "await db.insert(lines).values(ids.map((orderId) => ({ orderId })));"),
    ("perf-unbounded-query", "drizzle", "return db.select().from(orders).limit(x);"),
    ("perf-unbounded-query", "drizzle", "return db.select().from(orders).where(eq(orders.customerId, x));"),
    ("perf-unbounded-query", "drizzle", "return db.select().from(orders).where(x);"),
    ("perf-unbounded-query", "drizzle", "return db.select({ n: count() }).from(orders);"),
    (
        "perf-unbounded-query",
        "drizzle",
        "return db.delete(lines).where(inArray(lines.orderId, db.select().from(orders)));",
    ),
    ("perf-unindexed-filter", "drizzle", "return db.select().from(orders).where(eq(orders.customerId, x));"),
    ("perf-unindexed-filter", "drizzle", "return db.select().from(customers).where(eq(customers.email, x));"),
    (
        "perf-unindexable-predicate",
        "drizzle",
        "return db.select().from(orders).where(like(orders.reference, `${x}%`));",
    ),
    ("perf-count-by-loading", "drizzle", "return db.$count(orders, eq(orders.customerId, x));"),
    (
        "perf-filter-in-memory",
        "drizzle",
        "return (await db.select().from(orders).limit(5)).filter((o) => o.reference === x);",
    ),
    ("perf-unindexed-filter", "typeorm", "await this.orders.save({ reference: x, total: y });"),
    ("perf-unindexable-predicate", "mongoose", "return Order.find({ reference: new RegExp('^' + x) }).limit(5);"),
    ("perf-n-plus-one-query", "typeorm", "await this.orders.find({ where: { id: In(ids) } });"),
    (
        "perf-n-plus-one-query",
        "mongoose",
        "for (const id of ids) {\n if (!seen.has(id)) seen.set(id, await Order.findById(id));\n}",
    ),
    ("perf-n-plus-one-query", "jpa", "for (Order o : orders.findAll()) {\n use(o);\n}"),
    ("perf-n-plus-one-query", "gorm", "for _, chunk := range chunks {\n var o []Order\n db.Find(&o, chunk)\n}"),
    (
        "perf-n-plus-one-relation",
        "typeorm",
        "const rows = await this.orders.find({ relations: { customer: true } });\nfor (const o of rows) {\n"
        "  mail(await o.customer);\n}",
    ),
    (
        "perf-n-plus-one-relation",
        "typeorm",
        "const rows = await this.orders.find();\nfor (const o of rows) {\n  use(o.lines);\n}",
    ),
    (
        "perf-n-plus-one-relation",
        "sequelize",
        "const rows = await Order.findAll({ include: ['customer'] });\nfor (const o of rows) {\n  use(o.customer);\n}",
    ),
    (
        "perf-n-plus-one-relation",
        "jpa",
        "List<Order> rows = orders.withCustomers();\nfor (Order o : rows) {\n  mail(o.getCustomer().getEmail());\n}",
    ),
    ("perf-n-plus-one-relation", "jpa", "for (Order o : orders.findByPaid(true)) {\n  use(o.getReference());\n}"),
    ("perf-write-in-loop", "typeorm", "await this.orders.save(rows);"),
    ("perf-write-in-loop", "sequelize", "await Line.bulkCreate(x);"),
    ("perf-write-in-loop", "jpa", "orders.saveAll(rows);"),
    ("perf-write-in-loop", "gorm", "db.CreateInBatches(rows, 500)"),
    ("perf-unbounded-query", "typeorm", "return this.orders.find({ take: 50 });"),
    ("perf-unbounded-query", "typeorm", "return this.orders.find(options);"),
    ("perf-unbounded-query", "typeorm", "return ids.find(id => id.x);"),
    ("perf-unbounded-query", "sequelize", "return Order.findAll({ where, limit });"),
    ("perf-unbounded-query", "sequelize", "return Order.findAll({ where: { customerId: x } });"),
    ("perf-unbounded-query", "mongoose", "return Order.find(filter).exec();"),
    ("perf-unbounded-query", "mongoose", "for await (const o of Order.find().cursor()) use(o);"),
    ("perf-unbounded-query", "jpa", "return orders.findAll(PageRequest.of(0, 20));"),
    ("perf-unbounded-query", "jpa", "return orders.findByTotalGreaterThan(3, page);"),
    ("perf-unbounded-query", "jpa", "return orders.findAllById(ids);"),
    ("perf-unbounded-query", "jpa", "return orders.findAll(specification);"),
    ("perf-unbounded-query", "gorm", "var rows []Order\ndb.Limit(20).Find(&rows)"),
    ("perf-unbounded-query", "gorm", "var rows []Order\ndb.latest(x).Find(&rows)"),
    ("perf-unbounded-query", "gorm", 'var rows []Order\ndb.Where("id IN ?", ids).Find(&rows)'),
    ("perf-unbounded-query", "gorm", "var rows []Order\ndb.FindInBatches(&rows, 100, each)"),
    ("perf-unindexed-filter", "typeorm", "return this.orders.findOneBy({ customerId: x });"),
    ("perf-unindexed-filter", "typeorm", "return this.customers.findOneBy({ email: x });"),
    ("perf-unindexed-filter", "sequelize", "return Order.findOne({ where: { customerId: x, reference: y } });"),
    ("perf-unindexed-filter", "mongoose", "return Order.find({ customer: x });"),
    ("perf-unindexed-filter", "jpa", "customers.findByEmail(x);"),
    ("perf-unindexed-filter", "gorm", 'var o Order\ndb.First(&o, "customer_id = ?", x)'),
    ("perf-unindexable-predicate", "mongoose", "return Order.find({ reference: /^AB/ });"),
    ("perf-unindexable-predicate", "mongoose", "return Order.find({ note: { $regex: x } });"),
    ("perf-unindexable-predicate", "gorm", 'var rows []Order\ndb.Where("reference LIKE ?", x+"%").Find(&rows)'),
    (
        "perf-unindexable-predicate",
        "typeorm",
        "return this.orders.find({ where: { customerId: x, reference: Like('%a') } });",
    ),
    (
        "perf-count-by-loading",
        "typeorm",
        "const rows = await this.orders.find({ where: { customerId: x } });\nuse(rows, rows.length);",
    ),
    ("perf-count-by-loading", "jpa", "long n = orders.count();"),
    (
        "perf-filter-in-memory",
        "typeorm",
        "const rows = await this.orders.find();\nreturn rows.filter(row => allowed(row));",
    ),
]


@pytest.mark.parametrize(("rule", "orm", "body", "line"), FLAGGED)
def test_it_is_found_in_the_words_of_the_orm(rule, orm, body, line):
    assert lines(rule, orm, body) == [line]


@pytest.mark.parametrize(("rule", "orm", "body"), FINE)
def test_it_is_fine_in_the_words_of_the_orm(rule, orm, body):
    assert lines(rule, orm, body) == []


@pytest.mark.parametrize(
    ("orm", "body", "table"),
    [
        ("typeorm", "const all = await this.orders.find();\nuse(all);", "orders"),
        ("sequelize", "const all = await Order.findAll();\nuse(all);", "orders"),
        ("mongoose", "const all = await Order.find();\nuse(all);", "orders"),
        ("drizzle", "const all = await db.select().from(orders);\nuse(all);", "orders"),
        ("jpa", "List<Order> all = orders.findAll();\nuse(all);", "orders"),
        ("gorm", "var all []Order\ndb.Find(&all)\nuse(all)", "orders"),
        ("bun", "var all []Order\ndb.NewSelect().Model(&all).Scan(ctx)\nuse(all)", "orders"),
    ],
)
def test_the_finding_has_the_declared_table_and_its_volume(orm, body, table):
    (finding,) = findings("perf-unbounded-query", orm, body, volumes={"orders": "XL", "Order": "XL"})
    assert (finding.table, finding.volume, finding.severity, finding.confidence) == (table, "XL", "critical", "high")


TAKEN = [
    ("typeorm", "const rows = await this.orders.find();\nfor (const row of rows) {\n  use(row.total);\n}"),
    ("drizzle", "const rows = await db.select().from(orders);\nfor (const row of rows) {\n  use(row.total);\n}"),
    ("jpa", "List<Order> rows = orders.findAll();\nfor (Order row : rows) {\n  use(row.getTotal());\n}"),
    ("gorm", "var rows []Customer\ndb.Find(&rows)\nfor _, row := range rows {\n  use(row.email)\n}"),
]


@pytest.mark.parametrize(("orm", "body"), TAKEN)
def test_whole_objects_of_a_large_table_are_found_when_one_column_is_read(orm, body):
    (finding,) = findings("perf-over-fetch", orm, body, volumes={"orders": "XL", "Order": "XL", "Customer": "XL"})
    assert (finding.severity, finding.confidence) == ("warning", "medium")
    assert findings("perf-over-fetch", orm, body) == []


@pytest.mark.parametrize(("orm", "body"), TAKEN)
def test_rows_that_go_on_as_a_whole_are_needed_as_a_whole(orm, body):
    given = body.replace("use(row.", "send(row); use(row.")
    assert findings("perf-over-fetch", orm, given, volumes={"orders": "XL", "Order": "XL", "Customer": "XL"}) == []


def test_two_collections_joined_in_one_query_multiply_their_rows():
    body = (
        'return em.createQuery("select o from Order o join fetch o.lines join fetch o.%s", Order.class)'
        ".getResultList();"
    )
    (finding,) = findings("perf-eager-collection", "jpa", body % "notes")
    assert finding.message.startswith("`lines` and `notes` of `Order` are joined in one query")
    assert findings("perf-eager-collection", "jpa", body % "customer") == []


@pytest.mark.parametrize(
    ("orm", "body"),
    [
        ("gorm", "var rows []Order\nfor _, option := range options {\n  db = option(db)\n}\ndb.Find(&rows)"),
        ("mongoose", "const query = Order.find();\nreturn query.countDocuments({ total: 1 });"),
        ("sequelize", "return Order.findAll({ attributes: ['total'], group: ['total'] });"),
    ],
)
def test_queries_that_other_steps_complete_are_not_unbounded(orm, body):
    source = body.replace("Order.find()", "mongoose.model('Order').find()")
    assert lines("perf-unbounded-query", orm, source) == []


def test_an_index_of_the_table_counts_under_the_name_of_the_attribute():
    files = {
        **JPA,
        "db/tables.sql": "CREATE TABLE orders (Id int, Reference varchar(500), KEY `IX` (`Reference`(191)));",
        "src/main/java/shop/Work.java": FRAMES["jpa"][1].replace("§", "orders.findByReference(x);"),
    }
    assert [each for each in findings_of("perf-unindexed-filter", files) if "reference" in each.message] == []


def test_a_loop_over_a_service_asks_by_the_class_that_implements_it():
    files = {
        **JPA,
        "src/main/java/shop/OrderService.java": "package shop;\n\npublic interface OrderService {\n"
        "    Order byReference(String reference);\n}\n",
        "src/main/java/shop/OrderServiceImpl.java": "package shop;\n\n"
        "class OrderServiceImpl implements OrderService {\n"
        "    private final OrderRepository orders;\n    public Order byReference(String reference) {\n"
        "        return orders.findByReference(reference).get();\n    }\n}\n",
        "src/main/java/shop/Work.java": "package shop;\n\nclass Work {\n    private final OrderService orderService;\n"
        "    void work(List<String> names) {\n        for (String name : names) {\n"
        "            orderService.byReference(name);\n        }\n    }\n}\n",
    }
    assert [(each.line, each.table) for each in findings_of("perf-n-plus-one-query", files)] == [(7, "orders")]
    service = "src/main/java/shop/OrderServiceImpl.java"
    files[service] = files[service].replace(
        "        return", "        Order cached = known.get(reference);\n        if (cached != null) {\n"
        "            return cached;\n        }\n        return"
    )  # fmt: skip
    assert findings_of("perf-n-plus-one-query", files) == []
