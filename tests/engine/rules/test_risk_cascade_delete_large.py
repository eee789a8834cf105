from datetime import date

import pytest

from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.history import History
from analysis.engine.languages import reading_of
from analysis.engine.model import Volume
from analysis.engine.policy import Policy
from tests.engine.rules.shop import findings

RULE = "risk-cascade-delete-large"
DELETING = "def f(pk):\n    Order.objects.filter(pk=pk).delete()"


def test_a_cascade_into_a_large_table_is_found_at_the_relation():
    (finding,) = findings(RULE, DELETING, volumes={"shop_line": "XXL"})
    assert (finding.file, finding.table, finding.volume, finding.severity) == (
        "shop/models.py", "shop_line", "XXL", "critical",
    )  # fmt: skip
    assert finding.message == (
        "Deleting a `Order` (`shop/work.py:4`) deletes its rows of `shop_line` (XXL) in the same transaction,"
        " through `Line.order`"
    )


@pytest.mark.parametrize(
    ("source", "volumes"),
    [
        (DELETING, {"shop_line": "M"}),
        (DELETING, {"shop_customer": "XL"}),
        ("def f(pk):\n    Order.objects.get(pk=pk)", {"shop_line": "XL"}),
        ("def f(pk):\n    Region.objects.filter(pk=pk).delete()", {"shop_customer": "XL"}),
    ],
)
def test_small_children_parents_that_stay_and_protected_rows_are_fine(source, volumes):
    assert findings(RULE, source, volumes=volumes) == []


def test_most_rows_of_a_larger_table_have_none():
    found = findings(RULE, DELETING, volumes={"shop_line": "XL", "shop_order": "XXL"})
    assert "shop_line" not in {each.table for each in found}


def test_a_large_table_with_a_larger_one_below_is_a_warning():
    (finding,) = findings(RULE, DELETING, volumes={"shop_line": "XXL", "shop_order": "XL"})
    assert (finding.severity, finding.confidence) == ("warning", "high")


@pytest.mark.parametrize(
    "volumes",
    [
        {"shop_line": "XL", "shop_order": "XL"},
        {"shop_line": "XXL", "shop_customer": "XL"},  # the orders of a large table are many, however few were declared
    ],
)
def test_a_table_whose_rows_have_few_rows_of_their_own_is_worth_a_word(volumes):
    (finding,) = findings(RULE, DELETING, volumes=volumes)
    assert (finding.severity, finding.confidence) == ("info", "low")


def test_a_table_of_declared_middle_size_has_fewer_children_per_row():
    (finding,) = findings(RULE, DELETING, volumes={"shop_line": "XL", "shop_order": "M"})
    assert finding.severity == "warning"


def test_the_smallest_table_that_is_deleted_from_tells_how_grave_it_is():
    both = f"{DELETING}\n    Customer.objects.filter(pk=pk).delete()"
    found = findings(RULE, both, volumes={"shop_line": "XXL", "shop_order": "XL", "shop_customer": "S"})
    assert {(each.table, each.severity, each.message[:21]) for each in found} == {
        ("shop_order", "critical", "Deleting a `Customer`"),
        ("shop_line", "critical", "Deleting a `Customer`"),
    }


BLOG = """
from django.db import models

class Account(models.Model):
    name = models.TextField()

class Device(models.Model):
    account = models.ForeignKey(Account, on_delete=models.CASCADE)

class LogEntry(models.Model):
    device = models.ForeignKey(Device, on_delete=models.CASCADE)
"""


def cascades(sources, volumes):
    files = {name: extract(source.encode(), reading_of(name)) for name, source in sources.items()}
    policy = Policy(data_volumes={name: Volume(size) for name, size in volumes.items()})
    report = evaluate(files=files, history=History.empty(), policy=policy, today=date(2026, 1, 1))
    return [(each.file, each.line, each.severity, each.table) for each in report.findings if each.rule_id == RULE]


@pytest.mark.parametrize(
    ("view", "severity"),
    [
        ("def close(request, pk):\n    account = Account.objects.get(pk=pk)\n    account.delete()\n", "critical"),
        ("def show(request, pk):\n    return Account.objects.get(pk=pk)\n", "info"),
    ],
)
def test_a_chain_of_cascades_counts_the_largest_table_reached(view, severity):
    sources = {"log/models.py": BLOG, "log/views.py": "from log.models import Account\n" + view}
    assert cascades(sources, {"log_logentry": "XXL"}) == [("log/models.py", 11, severity, "log_logentry")]


def test_a_large_table_that_nobody_deletes_from_above_is_worth_a_word_only_for_the_largest():
    assert cascades({"log/models.py": BLOG}, {"log_logentry": "XL"}) == []


JPA = {
    "src/main/java/a/Account.java": """
package a;
import jakarta.persistence.*;

@Entity
@Table(name = "account")
public class Account {
    @Id private Long id;
    @OneToMany(mappedBy = "account", cascade = CascadeType.ALL, orphanRemoval = true)
    private List<LogEntry> entries;
}
""",
    "src/main/java/a/LogEntry.java": """
package a;
import jakarta.persistence.*;

@Entity
@Table(name = "log_entry")
public class LogEntry {
    @Id private Long id;
    @ManyToOne(fetch = FetchType.LAZY) private Account account;
}
""",
    "src/main/java/a/AccountRepository.java": """
package a;

public interface AccountRepository extends JpaRepository<Account, Long> {
}
""",
    "src/main/java/a/Accounts.java": """
package a;

class Accounts {
    private final AccountRepository accounts;

    void close(Long id) {
        accounts.deleteById(id);
    }
}
""",
}
PRISMA = {
    "prisma/schema.prisma": """
model Account {
  id      Int        @id
  entries LogEntry[]
}

model LogEntry {
  id        Int     @id
  accountId Int
  account   Account @relation(fields: [accountId], references: [id], onDelete: Cascade)
}
""",
    "src/work.ts": "import { prisma } from './db';\nexport async function close(id: number) {\n"
    "  await prisma.account.delete({ where: { id } });\n}\n",
}
TYPEORM = {
    "src/entities.ts": """
import { Entity, PrimaryGeneratedColumn, ManyToOne } from 'typeorm';

@Entity('account')
export class Account {
  @PrimaryGeneratedColumn() id: number;
}

@Entity('log_entry')
export class LogEntry {
  @PrimaryGeneratedColumn() id: number;
  @ManyToOne(() => Account, { onDelete: 'CASCADE' }) account: Account;
}
""",
    "src/work.ts": "import { Repository } from 'typeorm';\nimport { Account } from './entities';\nclass Work {\n"
    "  constructor(private accounts: Repository<Account>) {}\n"
    "  async close(id: number) {\n    await this.accounts.delete(id);\n  }\n}\n",
}
SEQUELIZE = {
    "src/models.js": """
const { DataTypes } = require('sequelize');
module.exports = (sequelize) => {
  const Account = sequelize.define('Account', { name: DataTypes.STRING }, { tableName: 'account' });
  const LogEntry = sequelize.define('LogEntry', { text: DataTypes.STRING }, { tableName: 'log_entry' });
  Account.hasMany(LogEntry, { as: 'entries', onDelete: 'CASCADE' });
};
""",
    "src/work.js": "const { Account } = require('./models');\nasync function close(id) {\n"
    "  await Account.destroy({ where: { id } });\n}\n",
}
SQLALCHEMY = """
from sqlalchemy import ForeignKey, select, delete
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

class Base(DeclarativeBase):
    pass

class Account(Base):
    __tablename__ = "account"
    id: Mapped[int] = mapped_column(primary_key=True)
    {parent}

class LogEntry(Base):
    __tablename__ = "log_entry"
    id: Mapped[int] = mapped_column(primary_key=True)
    {child}
"""
DELETED = (
    "from log.models import Account\n\n\n"
    "def close(session, pk):\n    session.query(Account).filter_by(id=pk).delete()\n"
)
BY_PARENT = {"parent": 'entries: Mapped[list["LogEntry"]] = relationship(cascade="all")', "child": ""}
BY_COLUMN = {
    "parent": "",
    "child": 'account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))',
}
DDL = {
    "db/schema.sql": "CREATE TABLE account (id int PRIMARY KEY);\n"
    "CREATE TABLE log_entry (id int PRIMARY KEY, account_id int REFERENCES account(id) ON DELETE CASCADE);\n",
    "app/work.py": 'def close(cursor, pk):\n    cursor.execute("DELETE FROM account WHERE id = %s", [pk])\n',
}


DRIZZLE = {
    "src/schema.ts": "import { integer, pgTable, serial } from 'drizzle-orm/pg-core';\n"
    "export const accounts = pgTable('account', { id: serial().primaryKey() });\n"
    "export const entries = pgTable('log_entry', {\n  accountId: integer()\n"
    "    .references(() => accounts.id, { onDelete: 'cascade' }),\n});\n",
    "src/work.ts": "import { eq } from 'drizzle-orm';\nimport { accounts } from './schema';\n"
    "export const close = (db, id) => db.delete(accounts).where(eq(accounts.id, id));\n",
}


@pytest.mark.parametrize(
    ("sources", "place"),
    [
        (DRIZZLE, ("src/schema.ts", 5)),
        (JPA, ("src/main/java/a/Account.java", 9)),
        (PRISMA, ("prisma/schema.prisma", 10)),
        (TYPEORM, ("src/entities.ts", 12)),
        (SEQUELIZE, ("src/models.js", 6)),
        ({"log/models.py": SQLALCHEMY.format(**BY_PARENT), "log/work.py": DELETED}, ("log/models.py", 11)),
        ({"log/models.py": SQLALCHEMY.format(**BY_COLUMN), "log/work.py": DELETED}, ("log/models.py", 16)),
        (DDL, ("db/schema.sql", 2)),
    ],
    ids=["drizzle", "jpa", "prisma", "typeorm", "sequelize", "sqlalchemy", "sqlalchemy column", "sql"],
)
def test_every_way_to_say_that_the_children_go_along(sources, place):
    table = "LogEntry" if sources is PRISMA else "log_entry"
    assert cascades(sources, {table: "XL"}) == [(*place, "critical", table)]
    assert cascades(sources, {table: "S"}) == []


def test_a_service_of_a_monorepo_deletes_from_its_own_schema():
    schema = PRISMA["prisma/schema.prisma"]
    sources = {
        "apps/api/prisma/schema.prisma": schema,
        "apps/api/src/close.ts": "export const list = () => prisma.account.findMany();\n",
        "apps/shop/prisma/schema.prisma": "model Account {\n  id Int @id\n}\n",
        "apps/shop/src/close.ts": "export const close = (id) => prisma.account.delete({ where: { id } });\n",
    }
    assert [severity for _, _, severity, _ in cascades(sources, {"LogEntry": "XXL"})] == ["info"]
    sources["apps/api/src/close.ts"] = sources["apps/shop/src/close.ts"]
    assert [severity for _, _, severity, _ in cascades(sources, {"LogEntry": "XXL"})] == ["critical"]


@pytest.mark.parametrize(
    "source",
    [
        "def f(request, pk):\n    order = get_object_or_404(Order, pk=pk)\n    order.delete()",
        "def f(request, pk):\n    order = get_object_or_404(Order.objects.all(), pk=pk)\n    order.delete()",
    ],
)
def test_a_row_that_a_shortcut_has_loaded_is_deleted_too(source):
    assert [each.table for each in findings(RULE, source, volumes={"shop_line": "XL"})] == ["shop_line"]


def test_a_session_deletes_the_row_that_the_function_has_loaded():
    source = """
from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, Session, mapped_column


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)


class Line(Base):
    __tablename__ = "lines"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id", ondelete="CASCADE"))


def drop(db: Session, ident: int):
    order = db.get(Order, ident)
    db.delete(order)
"""
    facts = {"shop/models.py": extract(source.encode(), reading_of("shop/models.py"))}
    policy = Policy(data_volumes={"lines": Volume.XL})
    report = evaluate(files=facts, history=History.empty(), policy=policy, today=date(2026, 1, 1))
    assert [each.line for each in report.findings if each.rule_id == RULE] == [14]


@pytest.mark.parametrize(("key", "count"), [("unique=True, ", 0), ("", 1)])
def test_a_child_that_a_parent_has_once_is_one_row(key, count):
    models = (
        "from django.db import models\n\nclass Account(models.Model):\n    name = models.TextField()\n\n"
        f"class Entry(models.Model):\n    account = models.ForeignKey(Account, {key}on_delete=models.CASCADE)\n"
    )
    view = "from log.models import Account\n\ndef f(pk):\n    Account.objects.filter(pk=pk).delete()\n"
    assert len(cascades({"log/models.py": models, "log/views.py": view}, {"log_entry": "XL"})) == count


SOFT = """
    def delete(self):
        self.gone = True
        self.save()
"""


@pytest.mark.parametrize(
    ("own", "deleted", "count"),
    [
        (SOFT, "Account.objects.get(pk=pk).delete()", 0),
        (SOFT, "Account.objects.filter(pk=pk).delete()", 1),
        (SOFT.replace("self.save()", "super().delete()"), "Account.objects.get(pk=pk).delete()", 1),
        ("", "Account.objects.get(pk=pk).delete()", 1),
    ],
)
def test_a_row_of_django_that_is_only_marked_stays(own, deleted, count):
    models = (
        f"from django.db import models\n\n\nclass Account(models.Model):\n    gone = models.BooleanField()\n{own}\n\n"
        "class LogEntry(models.Model):\n    account = models.ForeignKey(Account, on_delete=models.CASCADE)\n"
    )
    work = f"from log.models import Account\n\n\ndef close(pk):\n    {deleted}\n"
    assert len(cascades({"log/models.py": models, "log/work.py": work}, {"log_logentry": "XL"})) == count


@pytest.mark.parametrize(
    ("options", "call", "count"),
    [
        (", paranoid: true", "{ where: { id } }", 0),
        (", paranoid: true", "{ where: { id }, force: true }", 1),
        (", paranoid: false", "{ where: { id } }", 1),
    ],
)
def test_a_paranoid_model_of_sequelize_keeps_its_rows(options, call, count):
    models = SEQUELIZE["src/models.js"].replace("'account' }", f"'account'{options} }}")
    work = SEQUELIZE["src/work.js"].replace("{ where: { id } }", call)
    assert len(cascades({"src/models.js": models, "src/work.js": work}, {"log_entry": "XL"})) == count


@pytest.mark.parametrize(("above", "count"), [('@SQLDelete(sql = "UPDATE account SET gone = true")\n', 0), ("", 1)])
def test_an_entity_with_a_deletion_of_its_own_keeps_its_rows(above, count):
    entity = JPA["src/main/java/a/Account.java"].replace("@Entity", f"{above}@Entity")
    assert len(cascades(JPA | {"src/main/java/a/Account.java": entity}, {"log_entry": "XL"})) == count


def test_a_decorator_over_several_lines_is_told_at_its_first():
    entities = TYPEORM["src/entities.ts"].replace(
        "@ManyToOne(() => Account, { onDelete: 'CASCADE' }) account",
        "@ManyToOne(() => Account, {\n    onDelete: 'CASCADE',\n  })\n  account",
    )
    ((path, line, _, _),) = cascades(TYPEORM | {"src/entities.ts": entities}, {"log_entry": "XL"})
    assert (path, line) == ("src/entities.ts", 12)


def test_a_session_deletes_what_it_loads_in_the_same_breath():
    work = "from log.models import Account\n\n\ndef close(session, pk):\n    session.delete({})\n"
    models = {"log/models.py": SQLALCHEMY.format(**BY_PARENT)}
    for loaded in ("session.scalars(select(Account).where(Account.id == pk)).one()", "session.get(Account, pk)"):
        assert len(cascades(models | {"log/work.py": work.format(loaded)}, {"log_entry": "XL"})) == 1


@pytest.mark.parametrize(
    ("field", "count"), [("gorm.Model", 1), ('Gone gorm.DeletedAt `gorm:"index"`', 1), ("ID uint", 0)]
)
def test_gorm_keeps_the_rows_of_structs_with_a_deletion_of_their_own(field, count):
    source = f'package a\n\nimport "gorm.io/gorm"\n\ntype Account struct {{\n\t{field}\n\tName string\n}}\n'
    marks = extract(source.encode(), "go").marks
    assert [each.data["soft"] for each in marks if each.rule == RULE] == ["Account"] * count
