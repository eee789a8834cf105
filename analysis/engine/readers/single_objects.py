"""Classes of which a process makes one object: beans of Java, providers of Nest, what a module makes for itself."""

import re

from analysis.engine.extract.scopes import Scope
from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.java_beans import has_bean
from analysis.engine.readers.reading import followed

# What stands in a file of scripts that makes such an object.
MADE_ONCE = (b"@Injectable(", b"@Controller(", b"@Resolver(", b"= new ", b"default new ")
LONGEST_HEADER = 600  # bytes of a class of Java
LONGEST_HEAD = 200  # bytes of a class of a script before and behind its beginning

_SCOPED = re.compile(rb"@Scope|@RequestScope|@SessionScope|@ConfigurationProperties|@Configuration")
_PROVIDER = re.compile(rb"@(?:Injectable|Controller|Resolver)\(")
_CALLED = re.compile(rb"\s*\(")
_HELD = re.compile(
    rb"(?:export\s+)?(?:const|let|var)\s+\w+\s*(?::[^=\n]+)?=\s*new\s|(?:export\s+default|module\.exports\s*=)\s+new\s"
)
_BROWSER = re.compile(rb"\b(window|document|localStorage|useState|useEffect)\b|['\"]use client['\"]")


def is_single_bean(owner: Scope, file: SourceFile) -> bool:
    """Whether a class of Java is a bean of which all requests get the same object."""
    header = file.source[owner.start : owner.start + LONGEST_HEADER].partition(b"{")[0]
    return owner.kind == "class" and has_bean(header) and not _SCOPED.search(header)


def is_single_provider(owner: Scope, file: SourceFile) -> bool:
    """Whether a class is a provider of Nest of which all requests get the same object."""
    above = file.source[max(0, owner.start - LONGEST_HEAD) : owner.start].rpartition(b"\n\n")[2]
    head = above + file.source[owner.start : owner.start + LONGEST_HEAD].partition(b"class ")[0]
    return _PROVIDER.search(head) is not None and b"Scope.REQUEST" not in head and b"Scope.TRANSIENT" not in head


def is_made_by_module(owner: Scope, file: SourceFile) -> bool:
    """Whether the module that declares a class makes one object of it, and nobody else can make more."""
    name = owner.prefix.rstrip(".").rpartition(".")[2].encode()
    made = [match.start() for match in followed(name, file.source, _CALLED, b"_.$")]
    exported = re.search(rb"\bexport\s+(?:default\s+)?(?:abstract\s+)?class\s+" + name + rb"\b", file.source)
    if len(made) != 1 or exported is not None or is_of_page(file):
        return False
    line = file.source[file.source.rfind(b"\n", 0, made[0]) + 1 : made[0]]
    return _HELD.match(line) is not None


def is_of_page(file: SourceFile) -> bool:
    """Whether a script speaks of a page: its process is one person's."""
    return file.language == "tsx" or _BROWSER.search(file.source) is not None
