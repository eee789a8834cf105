"""Who calls whom, by name, and what a request or a job reaches (rules.md 1.5.4 and 1.5.5).

A call resolves to functions of that name in the same file (same class first), in the same package for Go and Java, or
in files that the caller imports, also by way of an index that passes their names on, or of another name for a class.
More than four candidates resolve to nothing. A method that an interface of Java or Go only declares means those of the
classes that implement it. A function that does nothing but call another one is no level: who calls it calls that one as
well.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from analysis.engine.facts import FileFacts, Function, FunctionFlag
from analysis.engine.function_names import FunctionNames, PackageKey
from analysis.engine.go_receivers import GoReceivers
from analysis.engine.go_types import GoTypes
from analysis.engine.graph import ImportGraph
from analysis.engine.imported_functions import ImportedFunctions
from analysis.engine.java_types import JavaTypes

LEVELS = 3  # call levels below a handler that still count as its path
CANDIDATES = 4
LINES_OF_A_CALL = 3  # of a function that only calls another one: header, call, bracket
LINES_WITH_FAILURE = 8  # of one in Go: the call, its failure, and what it gives back
OWN_RECEIVERS = frozenset({"self", "this", "cls", "super"})
SHORTEST_NAME = 3  # letters of an object that say of which class it is

_TELLS_OF_FAILURE = frozenset(
    {"fmt.Errorf", "errors.Join", "github.com/pkg/errors.Wrap", "github.com/pkg/errors.Wrapf"}
)


class Callee(NamedTuple):
    """A function of the codebase: its file, and its position in the file's functions."""

    path: str
    position: int


class CallGraph:
    """Resolves calls lazily: only what somebody asks for is looked up.

    `before` is the call graph of another state; what it knows of files that see the same in both is taken over.
    """

    def __init__(self, files: Mapping[str, FileFacts], graph: ImportGraph, before: "CallGraph | None" = None) -> None:
        self._files = files
        self._graph = graph
        self._names = FunctionNames(files)
        self._imports = ImportedFunctions(files, graph, self._names)
        self._java = JavaTypes(files, graph)
        self._go = GoTypes(files)
        self._receivers = GoReceivers(self._go, self._names, self._imports)
        self._resolved: dict[str, dict[tuple[str, str, str], tuple[Callee, ...]]] = {}  # by the caller's path and owner
        self._callees: dict[str, dict[int, tuple[Callee, ...]]] = {}  # by the caller's path and position
        # With what is handed on, which rests on more files than the caller sees: never taken over.
        self._reached: dict[Callee, tuple[Callee, ...]] = {}
        self._entered: dict[str, dict[str, tuple[Callee, ...]]] = {}
        self._asked_interfaces: set[str] = set()  # Go files that call by an interface: any type may come to have it
        if before is not None:
            self._take_over(before)

    def callees(self, caller: Callee) -> tuple[Callee, ...]:
        """The functions that `caller` calls, each once, in the order of its calls."""
        found = self._reached.get(caller)
        if found is None:
            called = self._called(caller)
            found = self._reached[caller] = tuple(dict.fromkeys([*called, *self._handed_on(called)]))
        return found

    def _called(self, caller: Callee) -> tuple[Callee, ...]:
        """What the calls in the text of a function mean."""
        known = self._callees.setdefault(caller.path, {})
        found = known.get(caller.position)
        if found is None:
            function = self._files[caller.path].functions[caller.position]
            targets = (target for call in function.calls for target in self.resolve(caller.path, function, call))
            given = (target for each in function.handed for target in self._given_away(caller.path, function, each))
            found = known[caller.position] = tuple(dict.fromkeys([*targets, *given]))
        return found

    def _given_away(self, path: str, caller: Function, name: str) -> tuple[Callee, ...]:
        """Go: the method that a function gives to others to call, where the types tell that it is one."""
        receiver, _, method = name.rpartition(".")
        if "." in receiver:
            return _few([*self._of_receiver(path, caller.owner, receiver, self._given(path, caller, name), method)])
        named = (*(Callee(path, index) for index in self._names.named(path, method)), *self._neighbours(path, method))
        return tuple(each for each in named if self._owner_of(each) == caller.owner)

    def _handed_on(self, called: Iterable[Callee]) -> Iterator[Callee]:
        """What these functions call, where they do nothing else: `return s.store.List(ctx)`."""
        for _ in range(LEVELS):
            called = [target for each in called if self.only_calls(each) for target in self._called(each)]
            yield from called

    def only_calls(self, callee: Callee) -> bool:
        """Whether the function does nothing but call another one. In Go it may tell more of its failure."""
        facts = self._files[callee.path]
        function = facts.functions[callee.position]
        if facts.language != "go":
            is_plain = function.cyclomatic == 1 and function.code_lines <= LINES_OF_A_CALL
            return is_plain and len(function.calls) == 1
        calls = [each for each in function.calls if each not in _TELLS_OF_FAILURE]
        return len(calls) == 1 and function.code_lines <= LINES_WITH_FAILURE

    def resolve(self, path: str, caller: Function, call: str) -> tuple[Callee, ...]:
        """What `call`, as facts name it, can mean inside `caller` of file `path`."""
        known = self._resolved.setdefault(path, {})
        given = self._given(path, caller, call)
        found = known.get((caller.owner, call, given))
        if found is None:
            meant = self._find(path, caller.owner, call, given)
            found = known[caller.owner, call, given] = _few([*self._implemented(meant)])
        return found

    def type_of(self, path: str, caller: Function, receiver: str) -> str:
        """Go: the type that is declared for a parameter or a field, `h.db`, as its declaration writes it; empty when
        nobody knows."""
        declared = self._receivers.field(path, caller.owner, receiver, self._given(path, caller, receiver))
        return declared.kind if declared is not None else ""

    def _given(self, path: str, caller: Function, call: str) -> str:
        """Go: the type of the parameter that a method is called on, or on one of whose fields, `store` of
        `store.List`."""
        receiver = call.partition(".")[0] if self._files[path].language == "go" and "/" not in call else ""
        named = (each.annotation for each in caller.parameters if receiver and each.name == receiver)
        return next(named, "").lstrip("*")

    def _implemented(self, found: Iterable[Callee]) -> Iterator[Callee]:
        """The methods themselves, or those that implement them where they are only declared."""
        for callee in found:
            facts = self._files[callee.path]
            function = facts.functions[callee.position]
            bodies = []
            if facts.language == "java" and function.flags & FunctionFlag.ABSTRACT:
                name = function.short_name
                bodies = [
                    Callee(path, index)
                    for path, owner in self._java.implementers.get(function.owner.rpartition(".")[2], ())
                    for index in self._names.named(path, name)
                    if self._files[path].functions[index].owner == owner
                ]
            yield from bodies or (callee,)

    def _find(self, path: str, owner: str, call: str, given: str) -> tuple[Callee, ...]:
        receiver, _, name = call.rpartition(".")
        if name == "get" and receiver and receiver not in OWN_RECEIVERS and self._files[path].language == "python":
            return ()  # of a mapping; views have methods of that name
        own = [Callee(path, index) for index in self._names.named(path, name)]
        if receiver in OWN_RECEIVERS:
            functions = self._files[path].functions
            own = [callee for callee in own if functions[callee.position].owner == owner] or own
            return _few(own)
        if own and not receiver:
            return _few(own)
        if receiver and self._files[path].language == "java":
            held = receiver.rpartition(".")[2]
            declared = self._java.file_of(path, owner, held)
            methods = [Callee(declared, index) for index in self._names.named(declared, name)] if declared else []
            if methods or (declared and not self._java.inherits(declared)):
                return _few(methods)
        if owner and receiver.isidentifier() and self._files[path].language == "go":
            # The methods of a type may stand in all files of its package.
            own += [each for each in self._neighbours(path, name) if self._owner_of(each) == owner]
        if self._files[path].language == "go":
            of_type = [*self._of_receiver(path, owner, receiver, given, name)]
            if of_type:
                return _few(of_type)
        return _few([*own, *self._of_package(path, receiver, name), *self._elsewhere(path, receiver, name)])

    def _of_receiver(self, path: str, owner: str, receiver: str, given: str, name: str) -> Iterator[Callee]:
        """Go: methods of the type that a field of the caller's struct, a parameter or one of their fields has; of an
        interface those that implement it. The file that declares it imports that type; the caller's may be another one
        of the package."""
        declared = self._receivers.field(path, owner, receiver, given)
        if "." in (receiver if given else receiver.partition(".")[2]):
            self._asked_interfaces.add(path)  # fields of fields may rest on files that the caller does not see
        if declared is None:
            return
        kind = declared.kind.rpartition(".")[2]
        for target in self._receivers.declaring(declared):
            functions = self._files[target].functions
            named = self._names.named(target, name)
            yield from (Callee(target, each) for each in named if functions[each].owner == kind)
            if any(each.name == kind and each.methods for each in self._files[target].classes):
                self._asked_interfaces.add(path)
                yield from (Callee(*each) for each in self._go.implementing(target, kind, name))

    def _of_package(self, path: str, receiver: str, name: str) -> Iterator[Callee]:
        """Methods in other files of the package whose class ends like the name of the object: `service` of
        `OrderService`, `h.store` of `Store`."""
        last = receiver.rpartition(".")[2].lower()
        if len(last) >= SHORTEST_NAME:
            for each in self._neighbours(path, name):
                if self._owner_of(each).rpartition(".")[2].lower().endswith(last):
                    yield each

    def _owner_of(self, callee: Callee) -> str:
        return self._files[callee.path].functions[callee.position].owner

    def entered(self, path: str, name: str) -> tuple[Callee, ...]:
        """The functions that an entry of this name stands for; a class stands for its methods."""
        known = self._entered.setdefault(path, {})
        if name not in known:
            known[name] = self._find_entered(path, name)
        return known[name]

    def reached_from(self, entries: Iterable[Callee], levels: int = LEVELS) -> dict[str, frozenset[int]]:
        """Per file the functions that `entries` reach in at most `levels` calls, with what is nested in them."""
        seen: set[Callee] = set()
        edge = set(entries)
        for _ in range(levels + 1):
            edge = {callee for entry in edge for callee in (entry, *self._nested(entry))} - seen
            seen |= edge
            edge = {target for caller in edge for target in self.callees(caller)} - seen
        reached: dict[str, set[int]] = {}
        for callee in seen:
            reached.setdefault(callee.path, set()).add(callee.position)
        return {path: frozenset(indexes) for path, indexes in reached.items()}

    def _find_entered(self, path: str, name: str) -> tuple[Callee, ...]:
        for file in self._visible_from(path):
            functions = self._files[file].functions
            exact = [Callee(file, index) for index, function in enumerate(functions) if function.name == name]
            if exact:
                return tuple(exact)
        short = name.rpartition(".")[2]
        is_method = self._files[path].language == "go" and name != short  # `h.List` of a type that only `h` knows
        for file in self._visible_from(path):
            functions = self._files[file].functions
            found = [
                Callee(file, index)
                for index, function in enumerate(functions)
                if function.owner in (name, short)
                or function.name == short
                or (is_method and function.owner and function.short_name == short)
            ]
            if found:
                return tuple(found)
        return ()

    def _visible_from(self, path: str) -> Iterator[str]:
        yield path
        yield from self._names.siblings(path)
        for edge in self._graph.imports_of(path):
            if edge.target in self._files:
                yield edge.target
                yield from self._names.rest_of_package(edge.target)

    def _elsewhere(self, path: str, receiver: str, name: str) -> Iterator[Callee]:
        """Functions of that name in other files whose import could have brought it here."""
        head = receiver.rpartition(".")[2] or name
        if not receiver:
            yield from self._neighbours(path, name)
        for target, named, taken in self._imports.of(path):
            indexes = named.get(name)
            if indexes is None or (not receiver and taken and name not in taken and "*" not in taken):
                continue
            functions = self._files[target].functions
            owned = [index for index in indexes if functions[index].owner == head]
            yield from (Callee(target, index) for index in owned or indexes)

    def _neighbours(self, path: str, name: str) -> Iterator[Callee]:
        """The functions of that name in the other files of a package that its files share."""
        return (Callee(*each) for each in self._names.neighbours(path, name))

    def _take_over(self, before: "CallGraph") -> None:
        """Calls of a file rest on its content, on its imports, and on the content of all files that it sees."""
        paths = self._files.keys() | before._files.keys()
        changed = {path for path in paths if self._files.get(path) is not before._files.get(path)}
        touched: set[PackageKey] = set()
        stale = changed | self._imports.seeing(changed)
        for state in (self, before):
            packages = state._names.packages_of(changed)
            touched |= packages
            shared = state._names.files_in(packages)
            stale |= shared | self._imports.seeing(path for path in shared if state._files[path].language == "go")
            known = changed & state._files.keys()
            stale.update(caller for path in known for caller in state._callers_of_bases(path))
        if self._graph is not before._graph:
            imports, imported = self._graph.imports_of, before._graph.imports_of
            stale.update(path for path in self._graph.nodes if imports(path) != imported(path))
        if any(path.endswith(".go") for path in changed):
            stale |= before._asked_interfaces
        # In Go a file also sees by what its neighbours import.
        stale.update([other for path in stale & self._files.keys() for other in self._names.rest_of_package(path)])
        self._names.take_over(before._names, changed, touched)
        self._imports.take_over(before._imports, stale)
        self._java.take_over(before._java, changed, stale)
        self._resolved = {path: known for path, known in before._resolved.items() if path not in stale}
        self._callees = {path: known for path, known in before._callees.items() if path not in stale}
        self._entered = {path: known for path, known in before._entered.items() if path not in stale}
        self._asked_interfaces = before._asked_interfaces - stale

    def _callers_of_bases(self, path: str) -> Iterator[str]:
        """The files that may call a class by an interface that it implements, which it sees itself."""
        facts = self._files[path]
        if facts.language != "java":
            return
        bases = {base.rpartition(".")[2] for each in facts.classes for base in each.bases}
        for file in self._visible_from(path) if bases else ():
            if any(each.name.rpartition(".")[2] in bases for each in self._files[file].classes):
                yield from self._names.siblings(file)
                yield from (edge.source for edge in self._graph.importers_of(file))

    def _nested(self, callee: Callee) -> Iterator[Callee]:
        """Functions defined inside another one run with it, as far as a name can tell."""
        functions = self._files[callee.path].functions
        inside = {callee.position}
        if callee.position == 0:
            return
        for index in range(callee.position + 1, len(functions)):
            if functions[index].line > functions[callee.position].end_line:
                break
            if functions[index].parent in inside:
                inside.add(index)
                yield Callee(callee.path, index)


def _few(candidates: list[Callee]) -> tuple[Callee, ...]:
    each = tuple(dict.fromkeys(candidates))  # one may be seen directly and behind an index
    return each if len(each) <= CANDIDATES else ()
