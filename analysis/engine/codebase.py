"""One state of a repository as rules see it: facts by path, and everything that follows from them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from itertools import chain
from typing import TypeVar

from analysis.engine.attributes import own_paths
from analysis.engine.calls import LEVELS, Callee, CallGraph
from analysis.engine.copies import Copies, Copy
from analysis.engine.facts import Access, Entry, FileFacts, Function, FunctionFlag, ImportFlag, Mark
from analysis.engine.graph import GraphBuilder, ImportGraph
from analysis.engine.history import History
from analysis.engine.languages import PARSED, FileKind, kind_of
from analysis.engine.metrics.hotspots import Hotspot
from analysis.engine.model import Confidence, Finding, Severity
from analysis.engine.models import ModelIndex
from analysis.engine.per_file import Make, PerFile
from analysis.engine.policy import Policy
from analysis.engine.queries import Queries, QuerySite
from analysis.engine.schemas import Schemas
from analysis.engine.volumes import Volumes

REQUEST = "request"
_QUEUES = frozenset({"celery", "queue"})  # what brings a task or a message, as the entries call it
# Packages of Go's own that share names with much else: `context.Background`, `sql.Open`.
_GO_STANDARD = frozenset(
    """context errors fmt io log log/slog os sort strings sync time net net/http net/url database/sql
    encoding/json""".split()
)
MEASURED = PARSED | {"sql", "prisma"}  # languages whose lines count
_IGNORED = frozenset({FileKind.VENDORED, FileKind.GENERATED, FileKind.STUB})
_TESTS_WITH = re.compile(r"testing$|github\.com/(?:onsi/(?:ginkgo|gomega)|stretchr/testify)(?:/|$)")  # in Go
_PACKAGE = re.compile(r"[\w-]+")  # of a registry, without a scope: other names may be paths of the project
_PRODUCTION = frozenset({FileKind.SOURCE, FileKind.SCRIPT})
T = TypeVar("T")
_FREE_OF_POLICY = (
    "models",
    "repositories",
    "schemas",
    "calls",
    "request_path",
    "handlers",
    "job_path",
    "message_path",
    "async_names",
    "called_names",
    "sources",
    "_marks",
)


class Codebase:
    """What `check` and `judge` of a rule may ask. Everything derived is computed on first use and kept."""

    def __init__(
        self,
        files: Mapping[str, FileFacts],
        *,
        policy: Policy,
        history: History,
        today: date,
        graph: ImportGraph | None = None,
        before: "Codebase | None" = None,
        added: frozenset[str] = frozenset(),
    ) -> None:
        """`added` are the files that a change brings, when it is a change that is judged. `before` is another state of
        the repository: what it knows is taken over where it is the same here."""
        self.files: dict[str, FileFacts] = {path: files[path] for path in own_paths(files)}
        self.policy = policy
        self.today = today
        self.added = added
        self.history = history.as_of(today)
        self.hotspots: Mapping[str, Hotspot] = {}  # set once the other findings are known
        self._graphs: GraphBuilder = before._graphs if before else GraphBuilder()
        self._copies: Copies = before._copies if before else Copies()
        self._per_file: PerFile = PerFile(self.files, before._per_file if before else None)
        self._calls_before: CallGraph | None = vars(before).get("calls") if before else None
        if graph is not None:
            self.graph = graph
            if before is not None and before.files == self.files and vars(before).get("graph") is graph:
                self._take_over(before)

    @cached_property
    def graph(self) -> ImportGraph:
        """Who imports whom."""
        return self._graphs.build(self.files)

    @cached_property
    def models(self) -> ModelIndex:
        """ORM models and tables by name."""
        return ModelIndex(self.files)

    @cached_property
    def repositories(self) -> Mapping[str, Access]:
        """Repositories of models by their name."""
        found: dict[str, Access] = {}
        for _, facts in self.sources:
            for access in facts.accesses:
                found.setdefault(access.name, access)
        return found

    @cached_property
    def schemas(self) -> Schemas:
        """Models with what they inherit and what other places add to them."""
        return Schemas(self.models, self.files, self.repositories)

    @cached_property
    def queries(self) -> Queries:
        """Queries at their place, with the tables they touch."""
        return Queries(self)

    @cached_property
    def volumes(self) -> Volumes:
        """Declared table sizes."""
        return Volumes(self.policy.data_volumes)

    @cached_property
    def calls(self) -> CallGraph:
        """The call graph by name."""
        calls = CallGraph(self.files, self.graph, self._calls_before)
        self._calls_before = None
        return calls

    @cached_property
    def copies(self) -> list[Copy]:
        """Blocks of the project's code that stand in several places, without the first of each."""
        return self._copies.among(dict(self.sources))

    @cached_property
    def request_path(self) -> Mapping[str, frozenset[int]]:
        """Per file the functions that a request reaches."""
        return self._reached(_is_of_request)

    @cached_property
    def handlers(self) -> Mapping[str, frozenset[int]]:
        """Per file the functions that answer requests themselves, with what is nested in them."""
        return self._reached(_is_of_request, levels=0)

    @cached_property
    def job_path(self) -> Mapping[str, frozenset[int]]:
        """Per file the functions that a job, a consumer, a command or `main` reaches."""
        return self._reached(lambda entry: not _is_of_request(entry))

    @cached_property
    def message_path(self) -> Mapping[str, frozenset[int]]:
        """Per file the functions that run for each task or message of a queue."""
        return self._reached(lambda entry: entry.framework in _QUEUES)

    @cached_property
    def async_names(self) -> frozenset[str]:
        """What async functions of the codebase are called, without their classes."""
        return frozenset(chain.from_iterable(self.summaries(_async_names).values()))

    @cached_property
    def called_names(self) -> frozenset[str]:
        """What is called anywhere outside of tests, by the last names."""
        called = self.summaries(_called_names)
        return frozenset(chain.from_iterable(called[path] for path, _ in self.sources if path in called))

    def forget(self) -> None:
        """Drop what refers back to this codebase; it is derived again when asked for.

        Else only the garbage collector could free a past state, and a scan runs without it.
        """
        vars(self).pop("queries", None)

    def kind(self, path: str) -> FileKind:
        """What sort of file this is, by its path and by what its content said."""
        return self._kinds[path]

    @cached_property
    def _kinds(self) -> Mapping[str, FileKind]:
        return self._per_file.table(file_kind)

    @cached_property
    def sources(self) -> Sequence[tuple[str, FileFacts]]:
        """Files of the project that are no tests, migrations or generated code, ordered by path."""
        kinds = self._kinds
        return [(path, facts) for path, facts in self.files.items() if kinds[path] in _PRODUCTION]

    def summaries(self, summarise: Callable[[FileFacts], T]) -> Mapping[str, T]:
        """What `summarise` makes of each file, where that is anything, in the order of the files; kept from state to
        state while a file stays the same."""
        return self._per_file.table(_of_facts(summarise))

    def marks(self, rule_id: str) -> Iterator[tuple["Place", Mark]]:
        """What a rule saw in the trees, ordered by path and line."""
        for path, mark in self._marks.get(rule_id, ()):
            yield self.place(path, mark.function), mark

    def place(self, path: str, function: int = 0) -> "Place":
        """The function of this index in the file `path`."""
        return Place(self, path, self.files[path], function)

    @cached_property
    def _marks(self) -> dict[str, list[tuple[str, Mark]]]:
        marks: dict[str, list[tuple[str, Mark]]] = {}
        for path, facts in self.files.items():
            for mark in facts.marks:
                marks.setdefault(mark.rule, []).append((path, mark))
        return marks

    def _take_over(self, same: "Codebase") -> None:
        """What follows from files and imports alone, from a codebase that has the same ones."""
        known = vars(same)
        vars(self).update({name: known[name] for name in _FREE_OF_POLICY if name in known})

    def _reached(self, is_meant: Callable[[Entry], bool], levels: int = LEVELS) -> Mapping[str, frozenset[int]]:
        entries: set[Callee] = set()
        for path, facts in self.files.items():
            for entry in facts.entries:
                if is_meant(entry):
                    entries.update(self.calls.entered(path, entry.function))
        return self.calls.reached_from(entries, levels)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mark lies, and what is known about that."""

    codebase: Codebase
    path: str
    facts: FileFacts
    index: int

    @property
    def function(self) -> Function:
        return self.facts.functions[self.index]

    @property
    def callee(self) -> Callee:
        """The function as the call graph knows it."""
        return Callee(self.path, self.index)

    def with_nested(self) -> Iterator["Place"]:
        """The function and those that are made in it, which stand behind it."""
        inside = {self.index}
        for index, function in enumerate(self.facts.functions[self.index :], self.index):
            if index in inside or function.parent in inside:
                inside.add(index)
                yield self.codebase.place(self.path, index)

    @property
    def queries(self) -> Sequence[QuerySite]:
        """What the function itself asks a database."""
        return self.codebase.queries.by_function.get(self.callee, ())

    def meant_by(self, call: str) -> tuple[Callee, ...]:
        """The functions of the codebase that a call in this function may mean."""
        return self.codebase.calls.resolve(self.path, self.function, call)

    @property
    def kind(self) -> FileKind:
        return file_kind(self.path, self.facts)

    @property
    def is_called(self) -> bool:
        """Whether some function of the codebase calls one of this name."""
        return self.function.short_name in self.codebase.called_names

    @property
    def in_request_path(self) -> bool:
        return self.index in self.codebase.request_path.get(self.path, ())

    @property
    def in_handler(self) -> bool:
        return self.index in self.codebase.handlers.get(self.path, ())

    @property
    def in_job_path(self) -> bool:
        return self.index in self.codebase.job_path.get(self.path, ())

    @property
    def in_message_path(self) -> bool:
        return self.index in self.codebase.message_path.get(self.path, ())

    def finding(self, mark: Mark, **changes: object) -> Finding:
        """The finding that a mark stands for, with some fields set otherwise."""
        found = finding_of(mark, self.path, self.facts)
        return found.with_(**changes) if changes else found


def _is_of_request(entry: Entry) -> bool:
    return entry.kind == REQUEST


@cache
def _of_facts(summarise: Callable[[FileFacts], T]) -> Make[T]:
    return lambda _, facts: summarise(facts)


def _async_names(facts: FileFacts) -> frozenset[str]:
    functions = (function for function in facts.functions if function.flags & FunctionFlag.ASYNC)
    return frozenset(function.short_name for function in functions)


def _called_names(facts: FileFacts) -> frozenset[str]:
    """The last names of what a file calls; what a script calls of a package, `express.raw`, and Go of its own packages,
    `context.Background`, is none of the project."""
    of_others: AbstractSet[str] = frozenset()
    if facts.language == "go":
        of_others = _GO_STANDARD
    elif facts.language in ("javascript", "typescript", "tsx"):
        of_others = {each.target for each in facts.imports if _PACKAGE.fullmatch(each.target)}
    called = chain.from_iterable(function.calls for function in facts.functions)
    return frozenset(call.rpartition(".")[2] for call in called if call.partition(".")[0] not in of_others)


def finding_of(mark: Mark, path: str, facts: FileFacts) -> Finding:
    """A mark as a finding that nobody has judged yet."""
    return Finding(
        rule_id=mark.rule,
        file=path,
        line=mark.line,
        message=mark.message,
        function=facts.functions[mark.function].name if mark.function < len(facts.functions) else "module",
        anchor=mark.anchor,
        suggestion=mark.suggestion,
        severity=Severity(mark.severity) if mark.severity else None,
        confidence=Confidence(mark.confidence) if mark.confidence else None,
        excess=mark.excess,
    )


def file_kind(path: str, facts: FileFacts) -> FileKind:
    """`kind_of`, corrected by what the content said."""
    kind = kind_of(path)
    if facts.skipped in ("generated", "minified") and kind is not FileKind.VENDORED:
        return FileKind.GENERATED
    if kind is FileKind.SOURCE and facts.language == "go" and _is_shared_by_tests(path, facts):
        return FileKind.TEST
    if kind is FileKind.SOURCE and facts.language == "python" and _is_of_pytest(facts):
        return FileKind.TEST
    return kind


def _is_shared_by_tests(path: str, facts: FileFacts) -> bool:
    """Go: a file that is built for tests alone or knows of what they are written with, or of a package called after the
    one that it helps to test: `db/dbtest`."""
    if facts.is_built_for_tests or any(_TESTS_WITH.match(each.target) for each in facts.imports):
        return True
    above = path.split("/")[-3:-2]
    return [facts.package] == [f"{name}test" for name in above]


def _is_of_pytest(facts: FileFacts) -> bool:
    """Whether a Python module needs pytest to be loaded, as fixtures do; who starts tests asks for it when it does."""
    needed = (each for each in facts.imports if not each.flags & (ImportFlag.DEFERRED | ImportFlag.TYPE_ONLY))
    return any(each.level == 0 and each.target.partition(".")[0] in ("pytest", "_pytest") for each in needed)


def is_measured(path: str, facts: FileFacts) -> bool:
    """Whether a file is analysed and its lines count: code of the project that was not skipped."""
    return facts.language in MEASURED and not facts.skipped and kind_of(path) not in _IGNORED


def can_be_hotspot(path: str, facts: FileFacts) -> bool:
    """Whether a file competes for attention: production code in a language whose complexity is known."""
    return facts.language in PARSED and not facts.skipped and kind_of(path) in _PRODUCTION
