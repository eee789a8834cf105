"""Who calls whom, by name, and what a request or a job reaches (rules.md 1.5.4 and 1.5.5).

A call resolves to functions of that name in the same file (same class first), in the same package for Go and Java, or
in files that the caller imports, also by way of an index that passes their names on, or of another name for a class.
More than four candidates resolve to nothing. A method that an interface of Java or Go only declares means those of the
classes that implement it. A function that does nothing but call another one is no level: who calls it calls that one as
well.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from analysis.engine.facts import FileFacts, Function, FunctionFlag
from analysis.engine.go_types import Field, GoTypes
from analysis.engine.graph import ImportGraph
from analysis.engine.graph.paths import folder_of

LEVELS = 3  # call levels below a handler that still count as its path
CANDIDATES = 4
PASSED_ON = 4  # files in a row that only pass names on (`export … from`)
LINES_OF_A_CALL = 3  # of a function that only calls another one: header, call, bracket
LINES_WITH_FAILURE = 8  # of one in Go: the call, its failure, and what it gives back
OWN_RECEIVERS = frozenset({"self", "this", "cls", "super"})
SHARED_PACKAGES = frozenset({"go", "java"})
SHORTEST_NAME = 3  # letters of an object that say of which class it is

_TELLS_OF_FAILURE = frozenset(
    {"fmt.Errorf", "errors.Join", "github.com/pkg/errors.Wrap", "github.com/pkg/errors.Wrapf"}
)

Names = dict[str, list[int]]  # last part of a function's name to its positions
PackageKey = tuple[str, str, str]  # language, folder, package
_Imported = tuple[str, Names, tuple[str, ...]]  # an imported file, its functions, the names that were imported


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
        self._names: dict[str, Names] = {}
        self._imported: dict[str, list[_Imported]] = {}
        self._resolved: dict[str, dict[tuple[str, str, str], tuple[Callee, ...]]] = {}  # by the caller's path and owner
        self._callees: dict[str, dict[int, tuple[Callee, ...]]] = {}  # by the caller's path and position
        # With what is handed on, which rests on more files than the caller sees: never taken over.
        self._reached: dict[Callee, tuple[Callee, ...]] = {}
        self._exported: dict[str, frozenset[str]] = {}
        self._entered: dict[str, dict[str, tuple[Callee, ...]]] = {}
        self._types_of_fields: dict[str, dict[tuple[str, str], str]] = {}  # by path
        self._asked_interfaces: set[str] = set()  # Go files that call by an interface: any type may come to have it
        self._imports_by_class: dict[str, dict[str, str]] = {}  # by the importer's path
        self._in_package: dict[PackageKey, dict[str, list[Callee]]] = {}  # by package and name
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
            field = self._field(path, caller.owner, receiver, self._given(path, caller, name))
            return _few([*self._of_type(path, field, method)])
        named = (*(Callee(path, index) for index in self._named(path, method)), *self._neighbours(path, method))
        return tuple(each for each in named if self._owner_of(each) == caller.owner)

    def _handed_on(self, called: Iterable[Callee]) -> Iterator[Callee]:
        """What these functions call, where they do nothing else: `return s.store.List(ctx)`."""
        for _ in range(LEVELS):
            called = [target for each in called if self._only_calls(each) for target in self._called(each)]
            yield from called

    def _only_calls(self, callee: Callee) -> bool:
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
                name = function.name.rpartition(".")[2]
                bodies = [
                    Callee(path, index)
                    for path, owner in self._implementers.get(function.owner.rpartition(".")[2], ())
                    for index in self._named(path, name)
                    if self._files[path].functions[index].owner == owner
                ]
            yield from bodies or (callee,)

    @cached_property
    def _go(self) -> GoTypes:
        return GoTypes(self._files)

    @cached_property
    def _implementers(self) -> dict[str, list[tuple[str, str]]]:
        """By the name of a Java interface or class the classes that name it as their base, each with its file."""
        found: dict[str, list[tuple[str, str]]] = {}
        for path, facts in self._files.items():
            if facts.language == "java":
                for each in facts.classes:
                    for base in each.bases:
                        found.setdefault(base.rpartition(".")[2], []).append((path, each.name))
        return found

    def _find(self, path: str, owner: str, call: str, given: str) -> tuple[Callee, ...]:
        receiver, _, name = call.rpartition(".")
        if name == "get" and receiver and receiver not in OWN_RECEIVERS and self._files[path].language == "python":
            return ()  # of a mapping; views have methods of that name
        own = [Callee(path, index) for index in self._named(path, name)]
        if receiver in OWN_RECEIVERS:
            functions = self._files[path].functions
            own = [callee for callee in own if functions[callee.position].owner == owner] or own
            return _few(own)
        if own and not receiver:
            return _few(own)
        if receiver and self._files[path].language == "java":
            held = receiver.rpartition(".")[2]
            declared = self._type_like(path, self._field_types(path).get((owner, held), held))
            methods = [Callee(declared, index) for index in self._named(declared, name)] if declared else []
            if methods or (declared and not self._inherits(declared)):
                return _few(methods)
        if owner and receiver.isidentifier() and self._files[path].language == "go":
            # The methods of a type may stand in all files of its package.
            own += [each for each in self._neighbours(path, name) if self._owner_of(each) == owner]
        if self._files[path].language == "go":
            of_type = [*self._of_type(path, self._field(path, owner, receiver, given), name)]
            if of_type:
                return _few(of_type)
        return _few([*own, *self._of_package(path, receiver, name), *self._elsewhere(path, receiver, name)])

    def _of_type(self, path: str, declared: Field | None, name: str) -> Iterator[Callee]:
        """Go: methods of the type that a field of the caller's struct or a parameter has; of an interface those that
        implement it. The file that declares it imports that type; the caller's may be another one of the package."""
        if declared is None:
            return
        kind = declared.kind.rpartition(".")[2]
        for target in self._declaring(declared):
            functions = self._files[target].functions
            yield from (Callee(target, each) for each in self._named(target, name) if functions[each].owner == kind)
            if any(each.name == kind and each.methods for each in self._files[target].classes):
                self._asked_interfaces.add(path)
                yield from (Callee(*each) for each in self._go.implementing(target, kind, name))

    def _field(self, path: str, owner: str, receiver: str, given: str) -> Field | None:
        """Go: the parameter, or the field of the caller's object, of a parameter, or of one of their fields, that a
        method is called on: `h.svc.store`. Of a variable of the function nobody knows the type: it is one of those that
        the file sees, and has such a field."""
        root, *names = receiver.split(".")
        if not root or "/" in receiver or not (names or given):
            return None
        found = Field(path, given) if given else self._go.field(path, owner, names[0])
        if found is None:
            found = self._field_like(path, names[0])
        for name in names if given else names[1:]:
            if found is None:
                break
            kind = found.kind.rpartition(".")[2]
            self._asked_interfaces.add(path)  # which may rest on files that the caller does not see
            declared = (self._go.field(file, kind, name) for file in self._declaring(found))
            found = next((each for each in declared if each is not None), None)
        return found

    def _field_like(self, path: str, name: str) -> Field | None:
        """Go: the field of this name of the structs that a file imports, where all of them agree on its type."""
        found = {each for target, _, _ in self._imported_by(path) for each in self._go.fields_called(target, name)}
        return found.pop() if len(found) == 1 else None

    def _declaring(self, declared: Field) -> list[str]:
        """Go: the files that may declare the type of a field: those that its own file imports, or the package."""
        if "." in declared.kind:
            return [target for target, _, _ in self._imported_by(declared.path)]
        return [declared.path, *self._siblings(declared.path)]

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
                or (is_method and function.owner and function.name.rpartition(".")[2] == short)
            ]
            if found:
                return tuple(found)
        return ()

    def _visible_from(self, path: str) -> Iterator[str]:
        yield path
        yield from self._siblings(path)
        for edge in self._graph.imports_of(path):
            if edge.target in self._files:
                yield edge.target

    def _elsewhere(self, path: str, receiver: str, name: str) -> Iterator[Callee]:
        """Functions of that name in other files whose import could have brought it here."""
        head = receiver.rpartition(".")[2] or name
        if not receiver:
            yield from self._neighbours(path, name)
        for target, named, taken in self._imported_by(path):
            indexes = named.get(name)
            if indexes is None or (not receiver and taken and name not in taken and "*" not in taken):
                continue
            functions = self._files[target].functions
            owned = [index for index in indexes if functions[index].owner == head]
            yield from (Callee(target, index) for index in owned or indexes)

    def _type_like(self, path: str, receiver: str) -> str:
        """The file of the Java class that an object is called after, `orderService` of `OrderService`, which the file
        imports or which stands in its package; empty when there is none."""
        wanted = receiver.lower()
        return self._imported_classes(path).get(wanted) or self._classes.get(
            (_package_key(path, self._files[path]), wanted), ""
        )

    def _field_types(self, path: str) -> dict[tuple[str, str], str]:
        """By class and name the classes of the fields of a Java file."""
        known = self._types_of_fields.get(path)
        if known is None:
            classes = self._files[path].classes
            known = {(each.name, name): kind for each in classes for name, kind in each.field_types}
            self._types_of_fields[path] = known
        return known

    def _imported_classes(self, path: str) -> dict[str, str]:
        """By name in small letters the files of Java that a file imports, each called after its class."""
        known = self._imports_by_class.get(path)
        if known is None:
            known = self._imports_by_class[path] = {}
            for edge in self._graph.imports_of(path):
                if edge.target in self._files:
                    known.setdefault(_class_of(edge.target), edge.target)
        return known

    @cached_property
    def _classes(self) -> dict[tuple[PackageKey, str], str]:
        """By package and name in small letters the files of Java, each called after its class."""
        java = ((path, facts) for path, facts in self._files.items() if facts.language == "java")
        return {(_package_key(path, facts), _class_of(path)): path for path, facts in java}

    def _inherits(self, path: str) -> bool:
        """Whether a class of the Java file has a base of this project, as far as the names of packages tell."""
        facts = self._files[path]
        own = facts.package.split(".")[:2]
        foreign = {each.target.rpartition(".")[2] for each in facts.imports if each.target.split(".")[:2] != own}
        bases = (base.rpartition(".")[2] for each in facts.classes for base in each.bases)
        return any(base not in foreign for base in bases)

    def _neighbours(self, path: str, name: str) -> Iterator[Callee]:
        """The functions of that name in the other files of a package that its files share."""
        facts = self._files[path]
        if facts.language not in SHARED_PACKAGES:
            return
        key = _package_key(path, facts)
        known = self._in_package.get(key)
        if known is None:
            known = self._in_package[key] = {}
            for file in self._packages.get(key, ()):
                for each, indexes in self._names_in(file).items():
                    known.setdefault(each, []).extend(Callee(file, index) for index in indexes)
        yield from (callee for callee in known.get(name, ()) if callee.path != path)

    def _imported_by(self, path: str) -> list[_Imported]:
        found = self._imported.get(path)
        if found is None:
            found = []
            for edge in self._graph.imports_of(path):
                if edge.target in self._files:
                    for target in (edge.target, *self._rest_of_package(edge.target)):
                        found.append((target, self._names_in(target), edge.names))
                    found += self._behind(edge.target, edge.names)
                    found += self._annotated(edge.target, edge.names)
            self._imported[path] = found
        return found

    def _behind(self, index: str, names: tuple[str, ...]) -> Iterator[_Imported]:
        """The files that really hold these names, which the file that was imported only passes on."""
        seen, edge = {index}, [index]
        for _ in range(PASSED_ON):
            edge = [
                target for path in edge for target in self._passed_on(path)
                if target in self._files and target not in seen
            ]  # fmt: skip
            seen.update(edge)
            for target in edge:
                taken = tuple(name for name in names if name in self._exports(target))
                if taken:
                    yield target, self._names_in(target), taken

    def _annotated(self, path: str, names: tuple[str, ...]) -> Iterator[_Imported]:
        """Python: the methods of the classes for which a file has these names: `OrdersDep = Annotated[Orders, ...]`."""
        for alias, kind in self._files[path].annotated:
            if alias not in names:
                continue
            owner = kind.rpartition(".")[2]
            imported = (edge.target for edge in self._graph.imports_of(path) if owner in edge.names)
            for file in (path, *imported):
                functions = self._files[file].functions if file in self._files else ()
                methods: Names = {}
                for index, function in enumerate(functions):
                    if function.owner == owner:
                        methods.setdefault(function.name.rpartition(".")[2], []).append(index)
                if methods:
                    yield file, methods, (alias,)

    def _passed_on(self, path: str) -> Iterator[str]:
        return (edge.target for edge in self._graph.imports_of(path) if edge.reexport)

    def _exports(self, path: str) -> frozenset[str]:
        known = self._exported.get(path)
        if known is None:
            known = self._exported[path] = frozenset(self._files[path].exports)
        return known

    def _rest_of_package(self, path: str) -> tuple[str, ...]:
        """Go imports packages: an edge leads to one of its files and stands for all of them."""
        return self._siblings(path) if self._files[path].language == "go" else ()

    def _siblings(self, path: str) -> tuple[str, ...]:
        facts = self._files[path]
        if facts.language not in SHARED_PACKAGES:
            return ()
        return tuple(other for other in self._packages.get(_package_key(path, facts), ()) if other != path)

    @cached_property
    def _packages(self) -> dict[PackageKey, list[str]]:
        packages: dict[PackageKey, list[str]] = {}
        for path, facts in self._files.items():
            if facts.language in SHARED_PACKAGES:
                packages.setdefault(_package_key(path, facts), []).append(path)
        return packages

    def _named(self, path: str, name: str) -> list[int]:
        return self._names_in(path).get(name, [])

    def _names_in(self, path: str) -> Names:
        names = self._names.get(path)
        if names is None:
            names = self._names[path] = {}
            for index, function in enumerate(self._files[path].functions):
                if index:
                    names.setdefault(function.name.rpartition(".")[2], []).append(index)
        return names

    def _take_over(self, before: "CallGraph") -> None:
        """Calls of a file rest on its content, on its imports, and on the content of all files that it sees."""
        paths = self._files.keys() | before._files.keys()
        changed = {path for path in paths if self._files.get(path) is not before._files.get(path)}
        stale = changed | self._seeing(changed)
        touched: set[PackageKey] = set()
        for state in (self, before):
            keys = {_package_key(path, state._files[path]) for path in changed if path in state._files}
            touched |= keys
            shared = {path for key in keys for path in state._packages.get(key, ())}
            stale |= shared | self._seeing(path for path in shared if state._files[path].language == "go")
            known = changed & state._files.keys()
            stale.update(caller for path in known for caller in state._callers_of_bases(path))
        if self._graph is not before._graph:
            imports, imported = self._graph.imports_of, before._graph.imports_of
            stale.update(path for path in self._graph.nodes if imports(path) != imported(path))
        if any(path.endswith(".go") for path in changed):
            stale |= before._asked_interfaces
        # In Go a file also sees by what its neighbours import.
        stale.update([other for path in stale & self._files.keys() for other in self._rest_of_package(path)])
        self._in_package = {key: known for key, known in before._in_package.items() if key not in touched}
        self._names = {path: known for path, known in before._names.items() if path not in changed}
        self._types_of_fields = {path: known for path, known in before._types_of_fields.items() if path not in changed}
        self._imported = {path: known for path, known in before._imported.items() if path not in stale}
        self._imports_by_class = {path: known for path, known in before._imports_by_class.items() if path not in stale}
        self._resolved = {path: known for path, known in before._resolved.items() if path not in stale}
        self._callees = {path: known for path, known in before._callees.items() if path not in stale}
        self._entered = {path: known for path, known in before._entered.items() if path not in stale}
        self._asked_interfaces = before._asked_interfaces - stale

    def _seeing(self, changed: Iterable[str]) -> set[str]:
        """The files that import one of these, directly or by way of one that passes names on or has others for them."""
        seen: set[str] = set()
        pending = list(changed)
        for _ in range(PASSED_ON + 1):
            importers = [edge for path in pending for edge in self._graph.importers_of(path)]
            pending = [
                edge.source
                for edge in importers
                if edge.source not in seen
                and (edge.reexport or (edge.source in self._files and self._files[edge.source].annotated))
            ]
            seen.update(edge.source for edge in importers)
        return seen

    def _callers_of_bases(self, path: str) -> Iterator[str]:
        """The files that may call a class by an interface that it implements, which it sees itself."""
        facts = self._files[path]
        if facts.language != "java":
            return
        bases = {base.rpartition(".")[2] for each in facts.classes for base in each.bases}
        for file in self._visible_from(path) if bases else ():
            if any(each.name.rpartition(".")[2] in bases for each in self._files[file].classes):
                yield from self._siblings(file)
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


def _class_of(path: str) -> str:
    """The name of the class that a file of Java is called after, in small letters."""
    return path.rpartition("/")[2].removesuffix(".java").lower()


def _package_key(path: str, facts: FileFacts) -> PackageKey:
    return facts.language, folder_of(path), facts.package
