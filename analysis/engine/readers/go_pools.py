"""Addresses of databases that Go opens, and whether they set a limit: without one drivers wait for ever for a silent
server. That of `pgx` goes by its contexts."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.reading import known_values

OPENS = frozenset({"Open", "Connect", "MustOpen", "MustConnect", "ConnectContext"})
_BY_NAME = re.compile(r"^(?:database/sql|github\.com/jmoiron/sqlx)\.\w+$")
_BY_DRIVER = {"gorm.io/driver/mysql.Open": "mysql", "gorm.io/driver/postgres.Open": ""}  # the latter is pgx
_DRIVERS = frozenset({"mysql", "postgres"})
_LIMIT = re.compile(r"(?i)time_?out")
_WRITTEN = re.compile(r"^(?:fmt\.Sprintf\(\s*)?[\"`](?P<text>[^\"`]*)")


def without_limit(call: Node, file: SourceFile) -> str:
    """The driver of a database that is opened by an address which the program writes out, and that sets no limit;
    empty when it does, or where the address comes from elsewhere."""
    given = file.arguments(call)[0]
    callee = file.callee(call)
    driver, address = _BY_DRIVER.get(callee, ""), given[0] if given else None
    if _BY_NAME.match(callee):
        texts = [each for each in given if each.type == "interpreted_string_literal"]
        driver = file.text(texts[0]).strip('"') if texts else ""
        address = given[given.index(texts[0]) + 1] if texts and given[-1] is not texts[0] else None
    if driver not in _DRIVERS or address is None:
        return ""
    written = [_WRITTEN.match(text) for text in _texts(address, file)]
    is_known = bool(written) and all(each is not None and each["text"] for each in written)
    return driver if is_known and not any(map(_LIMIT.search, _texts(address, file))) else ""


def _texts(address: Node, file: SourceFile) -> list[str]:
    if address.type != "identifier":
        return [file.text(address)]
    name = file.text(address)
    return [file.text(each) for each in known_values(name, address, file)]
