"""What a method of Go is called on, by the types of fields and parameters: `h.svc.store` of `h.svc.store.Get`."""

from analysis.engine.function_names import FunctionNames
from analysis.engine.go_types import Field, GoTypes
from analysis.engine.imported_functions import ImportedFunctions


class GoReceivers:
    """Follows fields from file to file, each from the file that declares the one before."""

    def __init__(self, types: GoTypes, names: FunctionNames, imports: ImportedFunctions) -> None:
        self._types = types
        self._names = names
        self._imports = imports

    def field(self, path: str, owner: str, receiver: str, given: str) -> Field | None:
        """The parameter, or the field of the caller's object, of a parameter, or of one of their fields, that a method
        is called on. `given` is the type of the parameter that the receiver begins with.

        Of a variable of the function nobody knows the type: it is one of those that the file sees, and has such a
        field."""
        root, *names = receiver.split(".")
        if not root or "/" in receiver or not (names or given):
            return None
        if given:
            found: Field | None = Field(path, given)
        else:
            found = self._types.field(path, owner, names[0]) or self._imported(path, names[0])
        for name in names if given else names[1:]:
            if found is None:
                return None
            kind = found.kind.rpartition(".")[2]
            declared = (self._types.field(file, kind, name) for file in self.declaring(found))
            found = next((each for each in declared if each is not None), None)
        return found

    def declaring(self, declared: Field) -> list[str]:
        """The files that may declare the type of a field: those that its own file imports, or the package."""
        if "." in declared.kind:
            return [target for target, _, _ in self._imports.of(declared.path)]
        return [declared.path, *self._names.siblings(declared.path)]

    def _imported(self, path: str, name: str) -> Field | None:
        """The field of this name of the structs that a file imports, where all of them agree on its type."""
        imported = self._imports.of(path)
        found = {each for target, _, _ in imported for each in self._types.fields_called(target, name)}
        return found.pop() if len(found) == 1 else None
