"""What became of one import statement."""

from collections.abc import Iterable, Mapping

import msgspec

from analysis.engine.facts import FileFacts, Import
from analysis.engine.languages import FileKind, kind_of

Files = Mapping[str, FileFacts]
Target = tuple[str, tuple[str, ...]]  # the imported file and the names taken from it


class Resolution(msgspec.Struct, frozen=True, gc=False):
    """Files of the project, or the name of a package outside, or neither.

    `missing` is true when the import points into the project but at no file that is there (generated later, for
    example). Style sheets, images and folders without code are nothing at all.
    """

    targets: tuple[Target, ...] = ()
    external: str = ""
    missing: bool = False


NOTHING = Resolution()
MISSING = Resolution(missing=True)


def found(path: str, names: tuple[str, ...] = ()) -> Resolution:
    """The import leads to one file."""
    return Resolution(targets=((path, names),))


def outside(package: str) -> Resolution:
    """The import leads out of the project."""
    return Resolution(external=package)


def is_test(path: str) -> bool:
    """Whether the path says that the file is test code."""
    return kind_of(path) is FileKind.TEST


def is_product(path: str) -> bool:
    """Whether the path says that the file is shipped code: no test, script or migration."""
    return kind_of(path) in (FileKind.SOURCE, FileKind.GENERATED)


def of_languages(files: Files, languages: Iterable[str]) -> list[str]:
    """Sorted paths of the files in these languages, without vendored files and type stubs."""
    wanted = frozenset(languages)
    left_out = (FileKind.VENDORED, FileKind.STUB)
    return sorted(path for path, facts in files.items() if facts.language in wanted and kind_of(path) not in left_out)


def dotted_names(statement: Import) -> list[str]:
    """The fully written names of an import: `a.b` with names `c`, `d` gives `a.b.c`, `a.b.d`."""
    names = [name for name in statement.names if name != "*"]
    return [f"{statement.target}.{name}" for name in names] or [statement.target]
