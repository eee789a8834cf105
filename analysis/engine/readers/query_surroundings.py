"""The lines in which a query stands: those of its chain, and those of its function before and around it."""

from dataclasses import dataclass
from functools import cached_property

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Query

LONGEST_CHAIN = 3_000  # characters of a chain that are read
LINES_OF_A_CHAIN = 80
LINES_BEFORE, LINES_BEHIND = 30, 6  # a query that are around it


@dataclass(frozen=True)
class Surroundings:
    """A query among the lines of its file."""

    query: Query
    lines: list[str]  # of the whole file
    file: SourceFile

    @cached_property
    def chain(self) -> str:
        """From the start of the query's line to the end of the line that closes its brackets and ends its chain."""
        parts: list[str] = []
        level = size = 0
        for text in self.lines[self.query.line - 1 : self.query.line + LINES_OF_A_CHAIN]:
            if parts and level <= 0 and not text.lstrip().startswith("."):
                break
            parts.append(text)
            size += len(text)
            level += text.count("(") + text.count("[") + text.count("{")
            level -= text.count(")") + text.count("]") + text.count("}")
            if level < 0 or size > LONGEST_CHAIN:
                break
        return "\n".join(parts)

    @cached_property
    def before(self) -> list[str]:
        """The lines of the function before the query; at the top level none."""
        return self.lines[self._first - 1 : self.query.line - 1] if self.query.function else []

    @cached_property
    def around(self) -> str:
        """The last lines of the function before the query, and some behind it."""
        last = min(self.last, self.query.line + LINES_BEHIND)
        return "\n".join(self.lines[max(self._first - 1, self.query.line - LINES_BEFORE) : last])

    @property
    def _first(self) -> int:
        return self.file.lines.of(self.file.functions[self.query.function].node.start_byte)

    @property
    def last(self) -> int:
        """The last line of the function."""
        node = self.file.functions[self.query.function].node
        return self.file.lines.of(max(node.start_byte, node.end_byte - 1))
