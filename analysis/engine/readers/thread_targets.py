"""Functions of a Python file that several threads run at once, as the file itself says."""

import re
from collections.abc import Iterator

from analysis.engine.extract.source import SourceFile, innermost_loop
from analysis.engine.readers.reading import followed

# `pool.submit(store, row)`, `pool.map(store, rows)` of a pool of threads; `Thread(target=store)` in a loop.
_GIVEN_TO_POOL = re.compile(rb"\.(?:submit|map)\(\s*\Z")
_GIVEN_TO_THREAD = re.compile(rb"\bThread\([^()\n]*\btarget\s*=\s*\Z")
_ENDS = re.compile(rb"\s*[,)]")
_NEAR = 120  # bytes before a name in which it is given away


def run_at_once(index: int, file: SourceFile) -> bool:
    """Whether more than one thread may be in the function of this index at a time."""
    if not index or not (file.mentions(b"ThreadPoolExecutor") or file.mentions(b"Thread(")):
        return False
    name = file.functions[index].short_name.encode()
    return any(_is_started_often(name, file))


def _is_started_often(name: bytes, file: SourceFile) -> Iterator[bool]:
    """For each time that the function is given to a pool or a thread whether there are several."""
    for match in followed(name, file.source, _ENDS, b"_"):
        start = match.start() - len(name)
        before = file.source[max(0, start - _NEAR) : start].removesuffix(b"self.")
        if _GIVEN_TO_POOL.search(before):
            yield file.mentions(b"ThreadPoolExecutor")
        elif _GIVEN_TO_THREAD.search(before):
            yield innermost_loop(file.scope_at(start, match.end()), start) is not None
