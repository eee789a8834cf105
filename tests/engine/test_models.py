"""Tables of models that only the whole codebase can tell."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.models import ModelIndex

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
