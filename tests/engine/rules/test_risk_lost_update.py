import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of, lines_of
from tests.engine.rules.shop import findings, lines

RULE = "risk-lost-update"

FLAGGED = [
    "def f(wallet, price):\n    wallet.balance -= price\n    wallet.save()",
    "def f(wallet, price):\n    wallet.balance = wallet.balance - price\n    wallet.save(update_fields=['balance'])",
    "class Wallet:\n    def pay(self, price):\n        self.balance -= price\n        self.save()",
    "def f(order):\n    order.customer.total += 1\n    order.customer.save()",
]
FINE = [
    FLAGGED[0] + "\n\ndef g(key):\n    f(wallets_for_update().get(pk=key), 5)",
    "def f(wallet, price):\n    wallet.balance = F('balance') - price\n    wallet.save()",
    "def f(key):\n    w = Wallet.objects.select_for_update().get(pk=key)\n    w.balance -= 1\n    w.save()",
    "def f(key):\n    w = lock_wallet(key)\n    w.balance -= 1\n    w.save()",
    "def f(price):\n    wallet = Wallet(balance=5)\n    wallet.balance -= price\n    wallet.save()",
    "def f(wallet, price):\n    wallet.balance -= price",
    "def f(wallet, other):\n    wallet.balance -= 1\n    other.save()",
    "def f(order):\n    order.note += 'more'\n    order.save()",
    "def f(order):\n    order.total = 5\n    order.save()",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_read_change_write_is_found(source):
    assert len(lines(RULE, source)) == 1


@pytest.mark.parametrize("source", FINE)
def test_what_the_database_counts_or_locks_is_fine(source):
    assert lines(RULE, source) == []


def test_balances_are_critical_and_the_fix_names_the_column():
    (finding,) = findings(
        RULE, "def f(key, price):\n    wallet = Wallet.objects.get(pk=key)\n" + FLAGGED[0].partition("\n")[2]
    )
    assert (finding.severity, finding.confidence) == ("critical", "high")
    assert finding.message.startswith("`wallet.balance` is changed in memory and then saved")
    assert 'update(balance=F("balance") - ...)' in finding.suggestion


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("a.ts", "async function f(user, n) {\n  user.credits -= n;\n  await user.save();\n}", 1),
        (
            "a.ts",
            "async function f(user, n) {\n  user.credits = user.credits - n;\n  await this.users.save(user);\n}",
            1,
        ),
        ("a.ts", "async function f(user, n) {\n  user.credits -= n;\n  render(user);\n}", 0),
        ("a.ts", "async function f(repo) {\n  await user.increment('credits', 5);\n  await user.save();\n}", 0),
        (
            "A.java",
            "class A {\n  void f(Account a) {\n    a.setBalance(a.getBalance().subtract(x));\n    dao.save(a);\n  }\n}",
            1,
        ),
        (
            "A.java",
            "class A {\n  void f(Account a) {\n    em.lock(a, LockModeType.PESSIMISTIC_WRITE);\n"
            "    a.setBalance(a.getBalance() - x);\n    accounts.save(a);\n  }\n}",
            0,
        ),
        ("a.go", "package a\n\nfunc f(a *Account) {\n\ta.Balance -= 5\n\tdb.Save(&a)\n}", 1),
        ("a.go", "package a\n\nfunc f() {\n\ta := Account{Balance: 5}\n\ta.Balance -= 5\n\tdb.Save(&a)\n}", 0),
    ],
)
def test_other_languages(path, source, count):
    assert len(findings_of(RULE, {path: source})) == count


def test_an_entity_with_a_version_is_fine():
    source = "from shop.models import Purse\n\ndef f(purse):\n    purse.balance -= 1\n    purse.save()"
    model = "from django.db import models\nclass Purse(models.Model):\n    balance = models.IntegerField()\n"
    assert len(findings(RULE, source, others={"shop/more/models.py": model})) == 1
    versioned = model + "    version = models.IntegerField()\n"
    assert findings(RULE, source, others={"shop/more/models.py": versioned}) == []


def test_a_row_that_somebody_else_loaded_is_less_certain():
    (finding,) = findings(RULE, FLAGGED[0])
    assert finding.confidence == "low"


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        (
            "typescript",
            "async function f(id) {\nconst item = await prisma.item.findUnique(id);\n"
            "await prisma.item.update({ where, data: { stock: item.stock - 1 } });\n}",
            [3],
        ),
        (
            "typescript",
            "async function f(id) {\nconst item = await prisma.item.findUnique(id);\n"
            "await prisma.item.update({ where, data: { stock: { decrement: 1 } } });\n}",
            [],
        ),
        (
            "typescript",
            "async function f(id) {\nconst user = await User.findById(id);\nuser.visits++;\nawait user.save();\n}",
            [4],
        ),
        ("python", "def f(db, a):\n    user = db.query(User).first()\n    user.credits -= a\n    db.commit()", [4]),
        (
            "python",
            "async def f(a):\n    user = await User.objects.aget(pk=a)\n    user.credits -= 1\n    await user.asave()",
            [4],
        ),
        (
            "python",
            "def f(a):\n    user = User.objects.get(pk=a)\n    left = user.credits - 1\n"
            "    user.credits = left\n    user.save()",
            [5],
        ),
        (
            "python",
            "def f(a):\n    user = User.objects.get(pk=a)\n"
            "    User.objects.filter(pk=a).update(credits=user.credits - 1)",
            [3],
        ),
        ("python", "def f(a):\n    User.objects.filter(pk=a).update(credits=F('credits') - 1)", []),
        ("go", "package a\nfunc f(db *gorm.DB) {\ndb.First(&u)\nu.Visits++\ndb.Save(&u)\n}\n", [5]),
    ],
)
def test_more_ways_to_write_back(language, source, lines):
    assert lines_of(RULE, source, language) == lines


def test_a_row_that_the_object_holds_is_less_certain_and_texts_are_no_numbers():
    source = "class Job:\n    def step(self):\n        self.log.{} += done()\n        self.log.save()\n"
    assert [each.confidence for each in findings_of(RULE, {"a/job.py": source.format("imported")})] == ["low"]
    assert findings_of(RULE, {"a/job.py": source.format("msg")}) == []
    joined = source.format("steps").replace("done()", "done() + ' '")
    assert findings_of(RULE, {"a/job.py": joined}) == []


def test_columns_of_one_save_are_told_once_and_the_worst_of_them_always():
    head = "def f(key):\n    a = Account.objects.get(pk=key)\n"
    source = head + "    a.total += 1\n    a.{} += 1\n    a.save()\n"
    assert len(lines(RULE, source.format("length"))) == 1
    assert len(lines(RULE, source.format("balance"))) == 2
    assert len(lines(RULE, source.format("length").replace("    a.length", "    a.save()\n    a.length"))) == 2


def test_who_tries_again_when_the_version_has_changed_loses_nothing():
    source = (
        "package a\nfunc f(db *gorm.DB) error {\nfor {\ndb.First(&u)\nu.Visits++\nerr := db.Save(&u)\n"
        "if !errors.Is(err, ErrVersionConflict) {\nreturn err\n}\n}\n}\n"
    )
    assert lines_of(RULE, source, "go") == []
    assert lines_of(RULE, source.replace("ErrVersionConflict", "ErrDown"), "go") == [6]


@pytest.mark.parametrize(
    ("loaded", "count"),
    [
        ("await Account.findByPk(id, { transaction: t, lock: t.LOCK.UPDATE })", 0),
        ("await Account.findByPk(id, { transaction: t, lock: true })", 0),
        ("await Account.findByPk(id, { transaction: t })", 1),
    ],
)
def test_rows_that_sequelize_has_locked(loaded, count):
    change = "account.balance -= 1;\n  await account.save();"
    source = f"async function f(id, t) {{\n  const account = {loaded};\n  {change}\n}}\n"
    assert len(findings_of(RULE, {"src/a.js": source})) == count


def test_java_rows_that_are_locked_or_have_a_version():
    entity = (
        "import jakarta.persistence.*;\n@Entity\nclass Stock {{\n@Id\nprivate Long id;\n{}\nprivate int quantity;\n}}"
    )
    body = """class A {{ void take(Long id) {{
Stock s = stocks.{}(id);
s.setQuantity(s.getQuantity() - 1);
stocks.save(s); }} }}"""
    plain = {"src/Stock.java": entity.format(""), "src/A.java": body.format("findById")}
    assert len(findings_of(RULE, plain)) == 1
    assert findings_of(RULE, plain | {"src/Stock.java": entity.format("@Version private long version;")}) == []
    assert findings_of(RULE, plain | {"src/A.java": body.format("findLockedById")}) == []


JAVA = "class A {{\n{}\npublic void f(Long id, int n) {{\n Product p = products.{}(id);\n {}\n}} }}"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (JAVA.format("@Transactional", "findById", "p.setStock(p.getStock() - n);"), [5]),
        (JAVA.format("", "findById", "p.setStock(p.getStock() - n);"), []),
        (JAVA.format("@Transactional", "copy", "p.setStock(p.getStock() - n);"), []),
        (JAVA.format("", "findById", "int left = p.getStock() - n;\n p.setStock(left);\n products.save(p);"), [7]),
        (JAVA.format("", "findById", "int left = count(n);\n p.setStock(left);\n products.save(p);"), []),
    ],
)
def test_rows_of_java_that_a_commit_writes(source, lines):
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(("left", "count"), [("p.stock - n", 1), ("limit(n)", 0)])
def test_an_update_that_is_given_a_variable(left, count):
    source = (
        "export async function f(id, n) {\n  const p = await prisma.product.findUniqueOrThrow({ where: { id } });\n"
        f"  const left = {left};\n  await prisma.product.update({{ where: {{ id }}, data: {{ stock: left }} }});\n}}"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


def test_times_and_rows_that_a_block_opens_are_no_counters():
    source = "def f(key, step):\n    a = Plan.objects.get(pk=key)\n    a.{} += step\n    a.save()\n"
    assert lines(RULE, source.format("next_run")) == []
    assert lines(RULE, source.format("started_at")) == []
    assert len(lines(RULE, source.format("runs"))) == 1
    opened = (
        "def f(n):\n    with Report(name='x', total=len(n)) as report:\n"
        "        report.done += 1\n        report.save()\n"
    )
    assert lines(RULE, opened) == []


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("order = Order.objects.select_for_update().get(pk=key)\n    wallet = Wallet.objects.get(pk=user)", 1),
        ("wallet = Wallet.objects.select_for_update().get(pk=user)", 0),
        ("order = Order.objects.select_for_update().get(pk=key)\n    wallet = order.wallets.get(pk=user)", 0),
        ("with queue_lock:\n        tell(key)\n    wallet = Wallet.objects.get(pk=user)", 1),
        ("Order.objects.filter(pk=key).update(n=F('n') + 1)\n    wallet = Wallet.objects.get(pk=user)", 1),
        ("blocks = Block.objects.get(pk=key)\n    wallet = Wallet.objects.get(pk=user)", 1),
        ("wallet = Wallet.objects.get(pk=user)\n    wallet.refresh_from_db(from_queryset=locked())", 0),
    ],
)
def test_a_lock_of_something_else_saves_nothing(before, count):
    source = "def f(key, user, n):\n    BEFORE\n    wallet.balance -= n\n    wallet.save()\n".replace("BEFORE", before)
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("mu.Lock()\ncounts[id]++\nmu.Unlock()\ndb.First(&u)", 1),
        ("mu.Lock()\ndefer mu.Unlock()\ndb.First(&u)", 0),
        ("mu.Lock()\nif closed {\nmu.Unlock()\nreturn\n}\ndb.First(&u)", 0),
        ("db.Clauses(clause.Locking{Strength: strength}).First(&o)\ndb.First(&u)", 1),
        ("db.Clauses(clause.Locking{Strength: strength}).First(&u)", 0),
        ('db.Raw("SELECT * FROM users WHERE id = ? FOR UPDATE", id).Scan(&u)', 0),
    ],
)
def test_locks_of_go(before, count):
    source = f"package a\nfunc f(db *gorm.DB) {{\n{before}\nu.Visits++\ndb.Save(&u)\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("update", "count"),
    [
        ("where: {{ id }}, data: {{ stock: p.stock - n }}", 1),
        ("where: {{ id, stock: p.stock }}, data: {{ stock: p.stock - n }}", 0),
        ("where: {{ id, version: p.version }}, data: {{ stock: p.stock - n }}", 0),
    ],
)
def test_an_update_that_expects_what_was_read(update, count):
    source = (
        "export async function f(id, n) {\n  const p = await prisma.product.findUnique({ where: { id } });\n"
        f"  await prisma.product.updateMany({{ {update.format()} }});\n}}"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


def test_a_row_that_the_function_inserts_is_its_own():
    source = "def f(key):\n    job = {}\n    job.done += 1\n    job.save()\n"
    assert lines_of(RULE, source.format("Job.objects.create(key=key)")) == []
    assert lines_of(RULE, source.format("Job.objects.get(key=key)")) == [4]
    either = "Job.objects.get(key=key)\n    if not job:\n        job = Job.objects.create(key=key)"
    assert lines_of(RULE, source.format(either)) == [6]


def test_a_row_that_nobody_is_seen_to_load_is_less_certain():
    source = "def f(key):\n    job = {}\n    job.done += 1\n    job.save()\n"
    for value, confidence in (("Job.objects.get(pk=key)", "high"), ("job_of(key)", "medium")):
        assert [each.confidence for each in findings_of(RULE, {"a/job.py": source.format(value)})] == [confidence]


@pytest.mark.parametrize(("head", "count"), [("@Entity\n", 1), ('@TableName("product")\n', 0)])
def test_only_jpa_writes_at_the_commit_what_nobody_saves(head, count):
    change = JAVA.format("@Transactional", "findById", "p.setStock(p.getStock() - n);")
    entity = f"import jakarta.persistence.*;\n{head}class Product {{\n@Id\nprivate Long id;\nprivate int stock;\n}}"
    assert len(findings_of(RULE, {"src/A.java": change, "src/Product.java": entity})) == count


@pytest.mark.parametrize(
    ("update", "count"),
    [
        ('db.Model(&u).Update("visits", u.Visits + 1)', 1),
        ('db.Model(&u).Updates(map[string]any{"visits": u.Visits - 1})', 1),
        ('db.Model(&u).Update("visits", gorm.Expr("visits + 1"))', 0),
        ('db.Model(&u).Update("name", u.Name + "x")', 0),
    ],
)
def test_an_update_of_gorm_that_is_given_what_was_read(update, count):
    source = f"package a\nfunc f(db *gorm.DB) {{\ndb.First(&u)\n{update}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


def test_a_tally_is_worth_knowing():
    source = "def f(key):\n    post = Post.objects.get(pk=key)\n    post.views += 1\n    post.save()\n"
    (finding,) = findings_of(RULE, {"a/post.py": source})
    assert (finding.severity, finding.confidence) == ("info", "low")


def test_a_number_that_a_method_counts_from_nothing():
    body = """class A {{ void f(Long id) {{
Day d = days.findById(id);
{}
d.setVisits(d.getVisits() + 1);
days.save(d); }} }}"""
    assert lines_of(RULE, body.format("d.setVisits(0);"), "java") == []
    assert lines_of(RULE, body.format("d.setName(0);"), "java") == [5]


def test_a_time_that_an_update_is_given_is_no_number():
    source = (
        "def f(a):\n    job = Job.objects.get(pk=a)\n    until = job.{0} + extra\n"
        "    Job.objects.filter(pk=a).update({0}=until)"
    )
    assert lines_of(RULE, source.format("end_time")) == []
    assert lines_of(RULE, source.format("length")) == [4]


@pytest.mark.parametrize(
    ("column", "count"), [("@Version\nprivate int optLockRevision;", 0), ("private int optLockRevision;", 1)]
)
def test_a_version_column_of_a_base_by_any_name(column, count):
    head = "import jakarta.persistence.*;\n"
    files = {
        "src/Base.java": f"{head}@MappedSuperclass\npublic abstract class Base {{\n@Id\nprivate Long id;\n{column}\n}}",
        "src/Stock.java": f"{head}@Entity\npublic class Stock extends Base {{\nprivate int quantity;\n}}",
        "src/A.java": (
            "class A { void take(Long id) {\nStock s = stocks.findById(id);\ns.setQuantity(s.getQuantity() - 1);\n"
            "stocks.save(s); } }"
        ),
    }
    assert len(findings_of(RULE, files)) == count


def test_a_save_with_a_condition_knows_of_others():
    source = "def f(pk):\n    row = Row.objects.get(pk=pk)\n    row.left = row.left - 1\n    row.save({})\n"
    assert len(lines_of(RULE, source.format(""))) == 1
    assert lines_of(RULE, source.format("save_condition=before")) == []


@pytest.mark.parametrize(("name", "count"), [("_total", 0), ("total", 1)])
def test_a_private_attribute_is_no_column(name, count):
    assert len(lines_of(RULE, f"class A:\n    def f(self):\n        self.{name} += 1\n        self.save()\n")) == count


@pytest.mark.parametrize(
    ("saved", "count"),
    [
        ("db.Save(&p)", 1),
        ("p.sum = crc32.Update(p.sum, table, line)", 0),
        ('s.SetExpr("links", "links + 1").Update(&p)', 0),
    ],
)
def test_what_go_calls_an_update(saved, count):
    source = f"package a\nfunc F(id int) {{\n\tp := find(id)\n\tp.links++\n\t{saved}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


LOADED = "async function f(id, n) {\n  const row = await Row.findById(id);\n"


@pytest.mark.parametrize(
    ("rest", "lines"),
    [
        ("  const left = Math.max(row.left - n, 0);\n  row.left = left;\n  await row.save();\n}", [5]),
        ("  row.left = Number(row.left) + n;\n  await row.save();\n}", [4]),
        ("  row.left = (row.left || 0) + n;\n  await row.save();\n}", [4]),
        ("  const left = row.left - n;\n  await Row.update({\n    where: { id },\n    data: { left },\n  });\n}", [4]),
        ("  await Row.update({ data: { left: Math.max(row.left - n, 0) } });\n}", [3]),
        ("  row.left = Math.max(n, 0);\n  await row.save();\n}", []),
        ("  row.left = row.top - n;\n  await row.save();\n}", []),
        ("  row.left = `${row.left}-${n}`;\n  await row.save();\n}", []),
        ("  const left = limit(n);\n  await Row.update({ data: { left } });\n}", []),
    ],
)
def test_numbers_that_reach_the_row_by_other_ways(rest, lines):
    assert lines_of(RULE, LOADED + rest, "typescript") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("int left = p.getStock();\n p.setStock(left - n);\n products.save(p);", [7]),
        ("p.setStock(Math.max(p.getStock() - n, 0));\n products.save(p);", [6]),
        ("int left = p.getSize();\n p.setStock(left - n);\n products.save(p);", []),
        ("p.setLockerCode(code);\n p.setStock(p.getStock() - n);\n products.save(p);", [7]),
    ],
)
def test_setters_that_are_given_what_was_read_off_before(body, lines):
    assert lines_of(RULE, JAVA.format("", "findById", body), "java") == lines


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ('left := u.Visits + n\ndb.Model(&u).Update("visits", left)', [5]),
        ('left := other.Count(n)\ndb.Model(&u).Update("visits", left)', []),
        ("u.Visits = max(u.Visits-n, 0)\ndb.Save(&u)", [5]),
        ("u.Visits--\ndb.Save(&u)", [5]),
    ],
)
def test_variables_of_go(change, lines):
    assert lines_of(RULE, f"package a\nfunc f(db *gorm.DB, n int) {{\ndb.First(&u)\n{change}\n}}\n", "go") == lines


SQL_GO = (
    "package a\nfunc f(db *sql.DB, id, n int) error {\nvar left int\n"
    'db.QueryRow("SELECT left FROM rows WHERE id = $1", id).Scan(&left)\n%s\n}\n'
)


@pytest.mark.parametrize(
    ("language", "source", "lines"),
    [
        ("go", SQL_GO % 'db.Exec("UPDATE rows SET left = $1 WHERE id = $2", left-n, id)', [5]),
        ("go", SQL_GO % 'left += n\ndb.Exec("UPDATE rows SET left = $1 WHERE id = $2", left, id)', [6]),
        ("go", SQL_GO % 'db.Exec("UPDATE rows SET left = $1 WHERE id = $2", n, id)', []),
        ("go", SQL_GO % 'db.Exec("UPDATE rows SET left = left - $1 WHERE id = $2", n, id)', []),
        ("go", SQL_GO % 'db.Exec("UPDATE rows SET left = $1 WHERE id = $2 AND left = $3", left-n, id, left)', []),
        ("go", SQL_GO % 'db.Exec("UPDATE others SET left = $1 WHERE id = $2", left-n, id)', []),
        (
            "go",
            SQL_GO.replace("id = $1", "id = $1 FOR UPDATE") % 'db.Exec("UPDATE rows SET left = $1", left-n)',
            [],
        ),
        (
            "python",
            "def f(cur, key, n):\n    cur.execute('SELECT left FROM rows WHERE id = %s', (key,))\n"
            "    left = cur.fetchone()[0]\n    cur.execute('UPDATE rows SET left = %s WHERE id = 1', (left - n,))\n",
            [4],
        ),
        (
            "typescript",
            "async function f(n) {\n  const { rows } = await db.query('SELECT left FROM rows WHERE id = 1');\n"
            "  await db.query('UPDATE rows SET left = $1 WHERE id = 1', [rows[0].left - n]);\n}",
            [3],
        ),
    ],
)
def test_statements_that_are_given_what_was_read(language, source, lines):
    assert lines_of(RULE, source, language) == lines


VERSIONED = {
    "sqlalchemy": (
        "class Row(Base):\n    __tablename__ = 'rows'\n    left: Mapped[int] = mapped_column()\n"
        "    rev: Mapped[int] = mapped_column()\n{}",
        "    __mapper_args__ = {'version_id_col': rev}\n",
    ),
    "typeorm": (
        "import { Entity, Column } from 'typeorm';\n@Entity()\nexport class Row {\n  @Column() left: number;\n{}}\n",
        "  @VersionColumn() rev: number;\n",
    ),
    "sequelize": (
        "const Row = sequelize.define('Row', { left: DataTypes.INTEGER }, { tableName: 'rows'{} });\n",
        ", version: true",
    ),
    "mongoose": (
        "const rows = new Schema({ left: Number }, { id: true{} });\nconst Row = mongoose.model('Row', rows);\n",
        ", optimisticConcurrency: true",
    ),
}


@pytest.mark.parametrize("orm", list(VERSIONED))
def test_a_model_with_a_version_knows_who_was_first(orm):
    model, version = VERSIONED[orm]
    if orm == "sqlalchemy":
        path, source = "a/rows.py", "def f(db, key):\n    it = db.get(Row, key)\n    it.left -= 1\n    db.commit()\n"
    else:
        path = "a/rows.ts"
        source = (
            "async function f(id) {\n  const row = await Row.findByPk(id);\n  row.left -= 1;\n  await row.save();\n}"
        )
    models = path.replace("rows", "models")
    assert len(findings_of(RULE, {path: source, models: model.replace("{}", "")})) == 1
    assert findings_of(RULE, {path: source, models: model.replace("{}", version)}) == []


@pytest.mark.parametrize(("told", "count"), [("", 1), ("    __mapper_args__ = {'version_id_col': version}\n", 0)])
def test_a_column_of_sqlalchemy_counts_versions_only_where_it_is_told_so(told, count):
    model = (
        "from app.extensions import db\n\n\nclass Customer(db.Model):\n    __tablename__ = 'customers'\n"
        "    id = db.Column(db.Integer, primary_key=True)\n    points = db.Column(db.Integer)\n"
        f"    version = db.Column(db.Integer, nullable=False)\n{told}"
    )
    source = (
        "from app.extensions import db\nfrom app.models import Customer\n\n\ndef reward(key, n):\n"
        "    customer = db.session.get(Customer, key)\n    customer.points += n\n    db.session.commit()\n"
    )
    assert len(findings_of(RULE, {"app/models.py": model, "app/rewards.py": source})) == count


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        (
            "shop/work.py",
            "def f(pk, n):\n    points = Customer.objects.values_list('points', flat=True).get(pk=pk)\n"
            "    Customer.objects.filter(pk=pk).update(points=points - n)\n",
            1,
        ),
        (
            "shop/work.py",
            "def f(pk, n):\n    left = session.execute(select(Visit.seats).where(Visit.id == pk)).scalar_one()\n"
            "    session.execute(update(Visit).where(Visit.id == pk).values(seats=left - n))\n",
            1,
        ),
        (
            "shop/work.py",
            "def f(pk, n):\n    left = session.execute(select(Visit.seats).with_for_update()).scalar_one()\n"
            "    session.execute(update(Visit).where(Visit.id == pk).values(seats=left - n))\n",
            0,
        ),
        ("shop/work.py", "def f(pk, n, seats):\n    Visit.objects.filter(pk=pk).update(seats=seats - n)\n", 0),
        (
            "shop/work.ts",
            "const f = async (n) => {\n  const { stock } = await prisma.item.findUniqueOrThrow({ where, select });\n"
            "  await prisma.item.update({ where, data: { stock: stock - n } });\n};\n",
            1,
        ),
        (
            "shop/work.ts",
            "const f = async ({ stock }, n) => {\n  const item = await prisma.item.findFirst({ where });\n"
            "  await prisma.item.update({ where, data: { stock: stock - n } });\n};\n",
            0,
        ),
    ],
)
def test_a_column_that_a_query_gives_alone(path, source, count):
    assert len(findings(RULE, source, path)) == count


@pytest.mark.parametrize(
    "change",
    ["order!.count += n;", "order.count = order.count! - n;", "order!.count++;", "order!.count = order!.count - n;"],
)
def test_a_row_of_typescript_that_is_said_to_be_there(change):
    source = f"const f = async (n: number) => {{\n  const order = await Order.findByPk(1);\n  {change}\n"
    assert len(lines_of(RULE, f"{source}  await order!.save();\n}};\n", "typescript")) == 1


def test_a_row_that_flask_loads_or_answers_for():
    source = (
        "def enter(pk):\n    room = Room.query.get_or_404(pk)\n    room.guests = (room.guests or 0) + 1\n"
        "    db.session.commit()\n"
    )
    assert lines_of(RULE, source) == [4]


@pytest.mark.parametrize(
    ("body", "is_told"),
    [
        ("p := model.Product{}\ndb.First(&p, id)\np.Stock = p.Stock - n\nreturn db.Save(&p).Error", True),
        (
            'p := &model.Product{}\ndb.First(p, id)\np.Stock -= n\nreturn db.Model(p).Update("stock", p.Stock).Error',
            True,
        ),
        ('db.Take(s)\ns.Points += 10\nreturn db.Model(s).Update("points", s.Points).Error', True),
        ('db.Take(s)\ns.Points++\nreturn db.Model(s).Updates(map[string]any{"points": s.Points}).Error', True),
        ("p := model.Product{}\np.Stock = p.Stock - n\nreturn db.Save(&p).Error", False),
        ('db.Take(s)\ns.Points += 10\nreturn db.Model(s).Update("name", s.Name).Error', False),
        ("p := &model.Product{}\ndb.Take(p, id)\np.Stock = p.Stock - n\nreturn db.Save(p).Error", True),
        ("p := &model.Product{}\ndb.Take(q, id)\np.Stock = p.Stock - n\nreturn db.Save(p).Error", False),
        ('left := s.Points - n\ns.Points = left\nreturn db.Model(s).Update("points", s.Points).Error', True),
        ('left := other.Points - n\ns.Points = left\nreturn db.Model(s).Update("points", s.Points).Error', False),
    ],
)
def test_rows_of_go_that_are_read_into_a_value(body, is_told):
    source = f'package a\nimport "gorm.io/gorm"\nfunc f(db *gorm.DB, s *Shopper, n int) error {{\n{body}\n}}\n'
    assert bool(lines_of(RULE, source, "go")) == is_told


@pytest.mark.parametrize(("session", "is_told"), [("Session", True), ("db_session", True), ("ledger", False)])
def test_sessions_by_whatever_name(session, is_told):
    source = f"def f(k):\n    row = {session}.get(Product, k)\n    row.stock -= 1\n    {session}.commit()\n"
    assert bool(lines_of(RULE, source)) == is_told


@pytest.mark.parametrize(("step", "count"), [("get_one", 1), ("get", 1), ("forget", 0)])
def test_a_row_of_sqlalchemy_by_its_key(step, count):
    source = (
        "from sqlalchemy.ext.asyncio import AsyncSession\nfrom shop.models import Permit\n"
        f"async def f(session: AsyncSession, key):\n    permit = await session.{step}(Permit, key)\n"
        "    permit.uses += 1\n    await session.commit()\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("loaded", "count"),
    [
        ("User.query.filter_by(id=key).one()", 1),
        ("(\n        db.session.query(User)\n        .filter_by(id=key)\n        .one()\n    )", 1),
        ("(\n        await db.scalars(select(User).where(User.id == key))\n    ).first()", 1),
        ("(\n        db.session.query(User)\n        .with_for_update()\n        .get(key)\n    )", 0),
        ("(\n        User(\n            key)\n    )", 0),
    ],
)
def test_a_row_that_a_statement_over_several_lines_gives(loaded, count):
    source = f"async def pay(db, key, sum):\n    user = {loaded}\n    user.balance -= sum\n    await db.commit()\n"
    assert len(findings_of(RULE, {"shop/work.py": source})) == count


@pytest.mark.parametrize(
    ("load", "save", "count"),
    [
        ('db.NewSelect().Model(v).Where("id = ?", id).Scan(ctx)', "db.NewUpdate().Model(v).WherePK().Exec(ctx)", 1),
        (
            'tx.NewSelect().Model(v).Where("id = ?", id).For("UPDATE").Scan(ctx)',
            "tx.NewUpdate().Model(v).WherePK().Exec(ctx)",
            0,
        ),
        ("fill(v)", "db.NewUpdate().Model(v).WherePK().Exec(ctx)", 0),
        (
            'db.NewSelect().Model(v).Where("id = ?", id).Scan(ctx)',
            'db.NewUpdate().Model(v).Set("visits = visits + 1").WherePK().Exec(ctx)',
            0,
        ),
        ('db.NewSelect().Model(v).Where("id = ?", id).Scan(ctx)', "db.NewUpdate().Model(other).Exec(ctx)", 0),
    ],
)
def test_a_row_of_bun(load, save, count):
    source = f"package a\nfunc f(db *bun.DB) {{\nv := new(Visitor)\n{load}\nv.Visits += n\n{save}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


LOAD_OF_SQLX = 'db.GetContext(ctx, &a, "SELECT * FROM accounts WHERE id = $1", id)'


@pytest.mark.parametrize(
    ("load", "change", "save", "count"),
    [
        (LOAD_OF_SQLX, "a.Balance -= n", 'db.ExecContext(ctx, "UPDATE accounts SET balance = $1", a.Balance)', 1),
        (LOAD_OF_SQLX, "a.Balance -= n", 'db.NamedExecContext(ctx, "UPDATE accounts SET balance = :balance", a)', 1),
        (LOAD_OF_SQLX, "", 'db.ExecContext(ctx, "UPDATE accounts SET balance = $1", a.Balance-n)', 1),
        (LOAD_OF_SQLX, "a.Balance -= n", 'db.ExecContext(ctx, "UPDATE accounts SET owner = $1", a.Owner)', 0),
        (
            LOAD_OF_SQLX.replace(' WHERE id = $1"', ' WHERE id = $1 FOR UPDATE"'),
            "a.Balance -= n",
            'db.ExecContext(ctx, "UPDATE accounts SET balance = $1", a.Balance)',
            0,
        ),
        (LOAD_OF_SQLX, "a.Balance -= n", 'db.ExecContext(ctx, "UPDATE accounts SET balance = balance - $1", n)', 0),
    ],
)
def test_a_row_of_sqlx(load, change, save, count):
    source = f"package a\nfunc f(db *sqlx.DB, id, n int) {{\nvar a Account\n{load}\n{change}\n{save}\n}}\n"
    assert len(lines_of(RULE, source, "go")) == count


def test_a_row_of_bun_over_several_lines():
    source = (
        "package a\nfunc f(db *bun.DB, n int) {\na := new(Account)\nerr := db.NewSelect().\n\tModel(a).\n\tScan(ctx)\n"
        "a.Balance = a.Balance - n\n_, err = db.NewUpdate().\n\tModel(a).\n\tWherePK().\n\tExec(ctx)\n}\n"
    )
    assert len(lines_of(RULE, source, "go")) == 1
    assert lines_of(RULE, source.replace("NewSelect", "NewInsert"), "go") == []


@pytest.mark.parametrize(
    ("change", "where", "count"),
    [
        ("row.total + x", "eq(orders.id, x)", 1),
        ("row.total + x", "and(eq(orders.id, x), eq(orders.total, row.total))", 0),
        ("row.total + x", "and(eq(orders.id, x), eq(orders.version, row.version))", 0),
        ("sql`${orders.total} + ${x}`", "eq(orders.id, x)", 0),
        ("x", "eq(orders.id, x)", 0),
    ],
)
def test_an_update_of_drizzle_that_is_given_what_was_read(change, where, count):
    body = (
        "const [row] = await db\n  .select()\n  .from(orders)\n  .where(eq(orders.id, x));\n"
        f"await db\n  .update(orders)\n  .set({{ total: {change} }})\n  .where({where});"
    )
    found = orms.findings(RULE, "drizzle", body)
    assert [each.line - orms.HEADER for each in found] == [5] * count
    assert all("`sql` (`total + n`)" in each.suggestion for each in found)


def test_what_a_map_is_given_is_no_update():
    source = "async function f(id, n) {\n  const row = await find(id);\n  totals.set('total', row.total + n);\n}\n"
    assert lines_of(RULE, source, "typescript") == []


@pytest.mark.parametrize(("column", "severity"), [("credits", "critical"), ("times_used", "warning")])
def test_how_often_something_was_used_is_a_tally(column, severity):
    source = (
        "from shop.models import Invite\n\n\ndef f(key):\n    invite = Invite.objects.get(pk=key)\n"
        f"    invite.{column} += 1\n    invite.save()\n"
    )
    assert [str(each.severity) for each in findings_of(RULE, {"shop/a.py": source})] == [severity]


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("Card card = em.find(Card.class, id);\ncard.credits = card.credits + n;\nem.merge(card);", [5]),
        ("Card card = em.find(Card.class, id);\ncard.credits += n;\ncard.persist();", [5]),
        (
            "Card card = em.find(Card.class, id, LockModeType.PESSIMISTIC_WRITE);\ncard.credits -= n;\nem.merge(card);",
            [],
        ),
        ("Card card = new Card();\ncard.credits += n;\nem.persist(card);", []),
        ("Card card = em.find(Card.class, id);\ncard.credits = n;\nem.merge(card);", []),
        ('Card card = em.find(Card.class, id);\ncard.label += "!";\nem.merge(card);', []),
    ],
)
def test_fields_of_java_without_setters(body, lines):
    source = f"class A {{\nvoid f(long id, int n) {{\n{body}\n}} }}"
    assert lines_of(RULE, source, "java") == lines


@pytest.mark.parametrize(("version", "count"), [("  @VersionColumn() rev: number;\n", 0), ("", 1)])
def test_the_query_says_of_which_model_a_row_is(version, count):
    model = "import { Entity, Column } from 'typeorm';\n@Entity('desk_settings')\nexport class DeskSettings {\n"
    model += f"  @Column() id: number;\n  @Column() prints: number;\n{version}}}\n"
    source = "import { DeskSettings } from './settings';\nasync function count(id) {\n"
    source += "  const repo = source.getRepository(DeskSettings);\n  const row = await repo.findOneByOrFail({ id });\n"
    source += "  row.prints += 1;\n  await repo.save(row);\n}\n"
    assert len(findings_of(RULE, {"a/settings.ts": model, "a/desk.ts": source})) == count


TANKS = """package tank

import "database/sql"

type Tanks struct{ db *sql.DB }

func (t *Tanks) Get(ctx context.Context, id int) (*Tank, error) {
	var tank Tank
	err := t.db.QueryRowContext(ctx, `SELECT id, stock FROM tanks WHERE id = $1`, id).Scan(&tank.ID, &tank.Stock)
	return &tank, err
}

func (t *Tanks) SetStock(ctx context.Context, tank *Tank) error {
	_, err := t.db.ExecContext(ctx, `UPDATE tanks SET stock = $1 WHERE id = $2`, tank.Stock, tank.ID)
	return err
}

func (t *Tanks) SetNamed(ctx context.Context, tank *Tank) error {
	_, err := t.db.NamedExecContext(ctx, `UPDATE tanks SET stock = :stock WHERE id = :id`, tank)
	return err
}

func (t *Tanks) SetName(ctx context.Context, tank *Tank) error {
	_, err := t.db.ExecContext(ctx, `UPDATE tanks SET name = $1 WHERE id = $2`, tank.Name, tank.ID)
	return err
}

func (t *Tanks) Swap(ctx context.Context, tank *Tank) error {
	v := tank.Version
	_, err := t.db.ExecContext(ctx, `UPDATE tanks SET stock = $1 WHERE id = $2 AND version = 3`, tank.Stock, v)
	return err
}
"""


@pytest.mark.parametrize(
    ("load", "write", "lines"),
    [
        ("tank, err := p.tanks.Get(ctx, id)", "p.tanks.SetStock(ctx, tank)", [9]),
        ("tank, err := p.tanks.Get(ctx, id)", "p.tanks.SetNamed(ctx, tank)", [9]),
        ("tank, err := p.tanks.Get(ctx, id)", "p.tanks.SetName(ctx, tank)", []),
        ("tank, err := p.tanks.Get(ctx, id)", "p.tanks.Swap(ctx, tank)", []),
        ("tank, err := p.tanks.Get(ctx, id)", "p.show(ctx, tank)", []),
        ("tank := &Tank{ID: id}", "p.tanks.SetStock(ctx, tank)", []),
        ("p.mu.Lock()\n\ttank, err := p.tanks.Get(ctx, id)", "p.tanks.SetStock(ctx, tank)", []),
    ],
)
def test_a_row_that_go_hands_to_a_method_which_writes_it(load, write, lines):
    source = (
        "package tank\n\ntype Pump struct{ tanks *Tanks }\n\n"
        f"func (p *Pump) Draw(ctx context.Context, id, n int) error {{\n\t{load}\n\tcheck(err)\n"
        f"\ttank.Stock -= n\n\treturn {write}\n}}\n"
    )
    found = findings_of(RULE, {"tank/tanks.go": TANKS, "tank/pump.go": source})
    assert [each.line for each in found] == lines


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("row = type(self.row).objects.select_for_update().get(pk=self.row.pk)\n        self.row = row", 0),
        ("log(self.row)", 1),
    ],
)
def test_a_decorator_of_the_project_that_locks_the_row(body, count):
    files = {
        "shop/__init__.py": "",
        "shop/locks.py": "def locked(function):\n    def wrapper(self, *args):\n"
        f"        {body}\n        return function(self, *args)\n    return wrapper\n",
        "shop/work.py": "from shop.locks import locked\n\n\nclass Manager:\n    @locked\n    def fail(self):\n"
        "        self.row.runs += 1\n        self.row.save(update_fields=['runs'])\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("added", "count"), [('" " + error', 0), ("error", 1)])
def test_a_text_that_java_appends(added, count):
    source = (
        "class Records {\n  void fail(long key, int error) {\n    Row row = rows.findById(key);\n"
        f"    row.setState(row.getState() + {added});\n    rows.save(row);\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"Records.java": source})) == count


@pytest.mark.parametrize(("column", "severity"), [("comment_count", "warning"), ("balance", "critical")])
def test_how_many_there_are_is_critical_where_requests_change_it(column, severity):
    source = f"def add(key):\n    row = Document.objects.get(pk=key)\n    row.{column} += 1\n    row.save()\n"
    assert [str(each.severity) for each in findings_of(RULE, {"shop/a.py": source})] == [severity]
    view = "from rest_framework.views import APIView\nfrom shop.a import add\n\n\nclass Add(APIView):\n"
    view += "    def post(self, request):\n        add(request.data['key'])\n"
    found = findings_of(RULE, {"shop/__init__.py": "", "shop/a.py": source, "shop/views.py": view})
    assert [str(each.severity) for each in found] == ["critical"]


@pytest.mark.parametrize(
    ("again", "confidences"),
    [
        ("wallet.refresh_from_db()", ["high"]),
        ("session.refresh(wallet)", ["high"]),
        ("session.refresh(wallet, with_for_update=True)", []),
        ("wallet.refresh_from_db(from_queryset=Wallet.objects.select_for_update())", []),
        ("other.refresh_from_db()", []),  # who calls may hold the lock that another function takes
    ],
)
def test_a_row_that_was_given_and_is_read_anew(again, confidences):
    change = "def pay(wallet, other, price):\n    {}\n    wallet.balance -= price\n    wallet.save()\n\n\n"
    source = change.format(again)
    source += "def take(key):\n    return Wallet.objects.select_for_update().get(pk=key)\n"
    assert [each.confidence for each in findings(RULE, source)] == confidences


@pytest.mark.parametrize(
    ("given_back", "count"),
    [
        ("Mail(owner=user)", 0),
        ("Mail.objects.create(owner=user)", 0),
        ("mail", 0),
        ("Mail.objects.get(owner=user)", 1),
        ("last or Mail(owner=user)", 1),
        ("None\n    return Mail(owner=user)", 0),
        ("last\n    return Mail(owner=user)", 1),
        ("Mail(\n        owner=first(of(user)),\n    )", 0),
        ("Mail(owner=user).stored()", 1),
    ],
)
def test_a_row_that_a_helper_of_the_file_makes(given_back, count):
    source = "def reply(user, price):\n    mail = _get_mail(user)\n    mail.cost += price\n    mail.save()\n\n\n"
    source += "def _get_mail(user):\n    last = Mail.objects.first()\n    mail = Mail(owner=user)\n"
    assert len(findings(RULE, source + f"    return {given_back}\n")) == count


def test_a_new_row_of_other_languages_that_a_helper_makes():
    script = (
        "async function pay(price) {\n  const mail = getMail(price);\n  mail.cost += price;\n  await mail.save();\n}\n"
    )
    assert lines_of(RULE, script + "function getMail(price) {\n  return new Mail(price);\n}\n", "typescript") == []
    assert len(lines_of(RULE, script + "function getMail(price) {\n  return mails[price];\n}\n", "typescript")) == 1
    go = "package a\n\nfunc pay(db *gorm.DB, n int) {\n\titem := getItem(n)\n\titem.Stock += n\n\tdb.Save(&item)\n}\n\n"
    go += "func getItem(n int) *Item {\n"
    assert lines_of(RULE, go + "\treturn &Item{Stock: n}\n}\n", "go") == []
    assert len(lines_of(RULE, go + "\titem := &Item{}\n\tdb.First(item, n)\n\treturn item\n}\n", "go")) == 1


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("tank_id = :tank_id AND tank_version = :tank_version - 1", 0),
        ("tank_id = :tank_id AND version = :version", 0),
        ("tank_id = :tank_id", 1),
    ],
)
def test_a_store_of_go_whose_update_asks_for_the_version(condition, count):
    store = (
        'package tank\n\nimport "database/sql"\n\ntype Tanks struct{ db *sql.DB }\n\n'
        "func (t *Tanks) Update(ctx context.Context, tank *Tank) error {\n"
        "\tconst statement = `\n\tUPDATE tanks\n\tSET\n"
        f"\t\ttank_version = :tank_version\n\t\t,tank_stock = :tank_stock\n\tWHERE {condition}`\n"
        "\tquery, given, err := t.db.BindNamed(statement, tank)\n\tcheck(err)\n"
        "\t_, err = t.db.ExecContext(ctx, query, given...)\n\treturn err\n}\n"
    )
    source = (
        "package tank\n\ntype Pump struct{ tanks *Tanks }\n\n"
        "func (p *Pump) Draw(ctx context.Context, id int) error {\n\ttank, err := p.tanks.Find(ctx, id)\n\tcheck(err)\n"
        "\ttank.Stock++\n\treturn p.tanks.Update(ctx, tank)\n}\n"
    )
    assert len(findings_of(RULE, {"tank/tanks.go": store, "tank/pump.go": source})) == count
