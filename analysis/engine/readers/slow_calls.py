"""What is slow under a lock: calls that leave the process, read files or ask a database, as far as their names tell."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.held_clients import by_own_client
from analysis.engine.readers.outside_calls import what_it_does
from analysis.engine.readers.reading import is_repository
from analysis.engine.readers.transactions import typed

FILES = "reads or writes a file"
DATA = "talks to the database"
SLEEPS = "sleeps"  # in the words of `what_it_does`
ASKS = "asks a server"  # by the name of the object and the verb

_DATABASE = re.compile(
    r"(?i)(?:^|\.)(?:cursor|cur|session|conn\w*|db|tx|jdbcTemplate|entityManager|em)(?:\(\))?\."
    r"(?:execute\w*|query\w*|exec\w*|commit|fetch\w*|find|persist|merge|update)$"
    r"|(?:^|\.)jdbc(?:Template)?\.(?:update|batchUpdate|query\w*|execute)$"
    r"|(?:^|\.)\w+(?:Dao|Mapper)\.(?:select|find|insert|update|delete|save)\w*$"
    r"|\.objects\.(?:\w+\(\)\.)*(?:get|create|count|exists|first|update|delete)$"
    r"|\w+Repo(?:sitory)?\.(?:save\w*|find\w*|delete\w*)$"
)
_OF_A_FIELD = re.compile(r"(?:this\.)?(\w+)\.\w+")
_FILE = re.compile(
    r"^(?:open|io\.open|os\.(?:ReadFile|WriteFile|Open|Create|ReadDir)|shutil\.\w+"
    r"|(?:java\.nio\.file\.)?Files\.(?:read|write|copy|list|walk)\w*)$"
    r"|\.(?:read_text|read_bytes|write_text|write_bytes)$"
)
# What is called a client or a session, by its verbs.
_REMOTE = re.compile(
    r"(?i)(?:^|[._])(?:\w*client|http|session)(?:\(\))?\."
    r"(?:get|post|put|patch|delete|head|request|send|do|exchange|(?:get|post)For\w+)$"
)
_OF_A_CLIENT = re.compile(r"(?i)(?:client|http|rest|kafka|rabbit|jms|mail|template|sender|producer|publisher)\w*\.\w+$")
_VERB_OF_A_CLIENT = re.compile(r"\.(?:(?:get|post|patch|head|options)For\w+|exchange|convertAndSend)$")  # of Spring
_HTTP_VERBS = (".Do", ".Get", ".Post", ".PostForm", ".Head")  # of Go's own client
_GORM = re.compile(
    r"(?:^|\.)(?:\w*[dD][bB]|\w*[oO]rm|tx|conn)(?:\.[A-Z]\w*\(\))*"
    r"\.(?:First|Find|Take|Last|Create|Save|Updates?|UpdateColumns?|Delete|Count|Pluck|Scan|Exec)$"
)


def what_it_reads(call: Node, file: SourceFile) -> str:
    """What a call reads or asks by its name, in words; empty when it stays in memory."""
    name = file.callee(call)
    return _by_name(name) or _of_gorm(name, file) or _of_repository(name, file)


def how_it_leaves(call: Node, file: SourceFile) -> str:
    """How a call leaves the process, in words; empty when it does not."""
    name = file.callee(call)
    if file.language == "python" and file.mentions(b"boto3"):
        name = by_own_client(name, file)
    # Asking for the type reads the whole file.
    is_typed = _OF_A_CLIENT.search(name) or (name.endswith(_HTTP_VERBS) and file.mentions(b"http.Client"))
    is_typed = is_typed or (file.language == "java" and _VERB_OF_A_CLIENT.search(name) is not None)
    return what_it_does(typed(name, file) if is_typed else name, file.language)


def is_slow(call: Node, file: SourceFile) -> bool:
    """Whether a call leaves the process, reads a file or asks a database."""
    name = file.callee(call)
    return bool(how_it_leaves(call, file) or _by_name(name) or _of_gorm(name, file))


def _by_name(callee: str) -> str:
    if _DATABASE.search(callee):
        return DATA
    if _REMOTE.search(callee):
        return ASKS
    return FILES if _FILE.search(callee) else ""


def _of_gorm(callee: str, file: SourceFile) -> str:
    """A chain of GORM that ends in a statement."""
    return DATA if file.language == "go" and file.mentions(b"gorm.io") and _GORM.search(callee) else ""


def _of_repository(callee: str, file: SourceFile) -> str:
    """A method of what Java declares as a repository."""
    asked = _OF_A_FIELD.fullmatch(callee) if file.language == "java" else None
    return DATA if asked is not None and is_repository(asked[1], file) else ""
