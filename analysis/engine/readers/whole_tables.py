"""Statements of ORMs that write to a table without any condition, by their text."""

import re
from collections.abc import Sequence

from analysis.engine.readers.reading import followed

_WHOLE = re.compile(
    r"(?:\b[A-Z]\w*|\bget_model\([^()]*\))\.objects\.(?:all\(\)\.)?a?(?:update|delete)\(|\.updateMany\(\s*\{\s*data\b|\.deleteMany\(\s*(?:\{\s*\})?\s*\)"
    r"|\.query\(\s*\w+\s*\)\.(?:update|delete)\(|\b[A-Z]\w*\.query\.(?:update|delete)\("
    r"|\.exec(?:ute)?\(\s*(?:\w+\.)?(?:update|delete)\(\s*(?:\w+\.)*[A-Z]\w*\s*\)(?:(?!where|filter)[^;])*\Z"
    # TypeORM and Mongoose, Sequelize, GORM, which else refuses, and Spring Data.
    r"|\.(?:delete|softDelete)\(\s*\{\s*\}\s*\)|\.(?:update|updateMany)\(\s*\{\s*\}\s*,|\bwhere:\s*\{\s*\}"
    r"|\.createQueryBuilder\(\s*\)\s*\.(?:delete|update)\([^()]*\)(?:(?![wW]here)[^;])*\.execute\("
    r"|Where\(\s*\"(?:1 ?= ?1|true)\"\s*\)|AllowGlobalUpdate:\s*true"
    r"|\.(?:deleteAll|deleteAllInBatch)\(\s*\)|[qQ]uery\(\s*\"(?i:delete\s+from|update)\s(?:(?!(?i:where))[^;])*executeUpdate\("
)
# SQLAlchemy: what a variable holds is run.
_RUN = re.compile(r"\.exec(?:ute)?\(\s*([a-z_]\w*)\s*\)")
_HOLDS = re.compile(r"\s*=\s*(?:\(\s*)?(?:\w+\.)?(?:update|delete)\(\s*(?:\w+\.)*[A-Z]\w*\s*\)")
# GORM: a session that may write to all rows, in a variable.
_BY_SESSION = re.compile(r"\b([a-z_]\w*)\.(?:Model|Delete|Unscoped|Table)\(")
_MAY_WRITE_ALL = re.compile(r"\s*:?=\s*[^\n]*AllowGlobalUpdate:\s*true")
_ASSIGNED = re.compile(r"\s*=(?!=)")
_CONDITION = re.compile(r"\.(?:where|filter(?:_by)?)\(")


def names_whole_table(chain: str, before: Sequence[str]) -> bool:
    """Whether a chain that writes names the table and, in all of its text, no condition; also where a variable holds
    it, which the lines before it give a value once."""
    if _WHOLE.search(chain):
        return True
    text = "\n".join(before)
    session = _BY_SESSION.search(chain) if "AllowGlobalUpdate" in text else None
    if session is not None and next(followed(session[1], text, _MAY_WRITE_ALL, "_."), None) is not None:
        return True
    run = _RUN.search(chain)
    if run is None:
        return False
    if len(list(followed(run[1], text, _ASSIGNED, "_."))) != 1:
        return False
    held = next(followed(run[1], text, _HOLDS, "_."), None)
    return held is not None and _CONDITION.search(text, held.end()) is None
