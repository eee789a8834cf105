"""How a rule module looks.

A rule is a module that opens with the sentence of what it finds, defines `RULE` and one or both of:

- `WATCHES`: where it looks while the tree is there. Each `Watch` names the kind of node (and for calls the last name
  of the callee, so that a hundred rules cost one dictionary look-up a call) and a `look` function that yields marks.
- `check(codebase, policy)`: what it concludes from facts of the whole codebase.

A rule with watches and no `check` has its marks turned into findings as they are. It may define
`judge(mark, place, codebase, policy) -> Finding | None` to move severity by context, or drop the mark.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from analysis.engine.extract.source import SourceFile
    from analysis.engine.facts import Mark

Look = Callable[["Node", "SourceFile"], Iterable["Mark"]]

PYTHON = ("python",)
SCRIPT = ("javascript", "typescript", "tsx")
JAVA = ("java",)
GO = ("go",)
ALL = (*PYTHON, *SCRIPT, *JAVA, *GO)


@dataclass(frozen=True, slots=True)
class Watch:
    """Call `look(node, file)` for each node of this kind in files of these languages.

    Kinds: `call` (with `names`: last segments of the callee, so `get` for `requests.get(...)`), `function`, `class`,
    `loop`, `handler` (except and catch clauses), `finally`, `if`, `switch`, `assignment`, `import`, `comment`,
    `string`, `binary`, `return`, `throw`, `await`, `expression_statement`, `go`, `defer`. The extractor documents
    which grammar nodes each kind stands for.
    """

    on: str
    look: Look
    languages: tuple[str, ...]
    names: frozenset[str] = frozenset()
