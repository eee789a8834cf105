"""Tables of models that only the whole codebase can tell."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.languages import reading_of
from analysis.engine.models import ModelIndex
from analysis.engine.schemas import Schemas

ENTITY = """
package a;
import jakarta.persistence.*;

@Entity
@Table(name = %s, indexes = @Index(name = "by_day", columnList = "day"))
public class AuditLogEntity {
    private static final String OWN_TABLE = "own";
    @Id private Long id;
}
"""
NAMES = """
package a;
public class Names {
    public static final String AUDIT_TABLE = "audit_log";
    public static final String TABLE_NAME = "names";
}
"""
OTHERS = """
package a;
interface Others { String TABLE_NAME = "others"; }
"""


@pytest.mark.parametrize(
    ("constant", "table"),
    [
        ("Names.AUDIT_TABLE", "audit_log"),
        ("AUDIT_TABLE", "audit_log"),
        ("Others.TABLE_NAME", "others"),
        ("a.Others.TABLE_NAME", "others"),
        ("OWN_TABLE", "own"),
        ("TABLE_NAME", "audit_log_entity"),  # which one is in doubt
        ("UNKNOWN", "audit_log_entity"),
    ],
)
def test_a_table_may_be_named_by_a_constant(constant, table):
    sources = {"a/AuditLogEntity.java": ENTITY % constant, "a/Names.java": NAMES, "a/Others.java": OTHERS}
    index = ModelIndex({path: extract(source.encode(), "java") for path, source in sources.items()})

    entry = index.named("AuditLogEntity")

    assert entry is not None
    assert entry.table == table


JPA_COLUMNS = """
package a;
import jakarta.persistence.*;

@Entity
@Table(name = "orders", indexes = {%s}, uniqueConstraints = {%s})
public class Order {
    @Id private Long id;
    @Column(name = "cust_ref") private String customerReference;
    @Column(name = Names.BUYER_COLUMN) private String buyer;
}
"""


@pytest.mark.parametrize(
    ("indexes", "constraints", "leading"),
    [
        ('@Index(columnList = "cust_ref, id")', "", {"customerReference"}),
        ("@Index(columnList = Names.BUYER_COLUMN)", "", {"buyer"}),
        ("", "@UniqueConstraint(columnNames = {Names.BUYER_COLUMN, Names.OTHER})", {"buyer"}),
        ("", "@UniqueConstraint(columnNames = {Names.OTHER})", set()),
    ],
)
def test_an_index_of_an_entity_is_told_in_the_names_of_its_attributes(indexes, constraints, leading):
    assert schema_of({"a/Order.java": JPA_COLUMNS % (indexes, constraints)}, "Order").leading == leading


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a/models.py", "class Order(models.Model):\n    class Meta:\n        indexes = [models.Index(fields=[])]\n"),
        ("schema.prisma", "model Order {\n  id Int @id\n  @@index([])\n}\n"),
        ("a/order.ts", 'import { Entity } from "typeorm";\n@Entity()\n@Index([])\nexport class Order {}\n'),
    ],
)
def test_an_index_without_columns_leads_nowhere(path, source):
    assert schema_of({path: source}, "Order").leading == frozenset()


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a/Order.java", JPA_COLUMNS % ("", "")),
        (
            "schema.prisma",
            'model Order {\n  id Int @id\n  customerReference String @map("cust_ref")\n  @@map("orders")\n}\n',
        ),
        (
            "a/order.ts",
            'import { Column, Entity } from "typeorm";\n@Entity("orders")\nexport class Order {\n'
            '  @Column({ name: "cust_ref" })\n  customerReference: string;\n}\n',
        ),
        (
            "a/order.js",
            'const Order = sequelize.define("Order",\n'
            '  { customerReference: { type: DataTypes.STRING, field: "cust_ref" } }, { tableName: "orders" });\n',
        ),
        (
            "a/models.py",
            'class Order(Base):\n    __tablename__ = "orders"\n'
            '    customerReference = Column("cust_ref", String(20))\n',
        ),
    ],
)
def test_an_index_of_a_script_is_told_in_the_names_of_the_model(path, source):
    script = "CREATE INDEX by_reference ON orders (cust_ref);\n"

    assert schema_of({path: source, "migrations/2.sql": script}, "Order").is_indexed("customerReference")


def schema_of(sources, name):
    """The schema of a model in a codebase of these files."""
    facts = {path: extract(source.encode(), reading_of(path)) for path, source in sources.items()}
    schema = Schemas(ModelIndex(facts), facts, {}).named(name)
    assert schema is not None
    return schema


def test_a_table_is_that_of_its_class_whatever_sql_adds_to_it():
    sources = {
        "harbour/migrations/0002_more.py": 'migrations.RunSQL("CREATE INDEX a ON harbour_ship (name)")\n',
        "harbour/models.py": "class Ship(models.Model):\n    name = models.CharField(max_length=9)\n",
    }
    index = ModelIndex({path: extract(source.encode(), "python") for path, source in sources.items()})
    assert index.model_of("harbour_ship") == "Ship"
