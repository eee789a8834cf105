"""Models of Sequelize by an option that they are given where they are defined."""

import re
from collections.abc import Iterator

from analysis.engine.extract.source import SourceFile

_DEFINED = re.compile(
    rb"\.define(?:<[^()]*>)?\(\s*[\"'`](?P<defined>\w+)|\b(?P<made>[A-Z]\w*)\.init\("
    rb"|@Table(?:<[^()]*>)?\((?=[^;]{0,2000}?\bclass\s+(?P<declared>\w+))"
)
_LONGEST = 8_000  # bytes of a definition


def models_with(option: bytes, file: SourceFile) -> Iterator[tuple[int, str]]:
    """Where models are defined with an option, a pattern such as `paranoid:\\s*true`, and their names."""
    found = list(_DEFINED.finditer(file.source))
    for position, match in enumerate(found):
        end = found[position + 1].start() if position + 1 < len(found) else len(file.source)
        text = file.source[match.start() : min(end, match.start() + _LONGEST)].partition(b");")[0]
        if re.search(rb"\b" + option, text):
            yield match.start(), (match["defined"] or match["made"] or match["declared"]).decode()
