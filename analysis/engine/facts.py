"""What one blob says, without its text: the compact product of `extract`, the only input of `evaluate`.

Facts depend on the blob's bytes, as what it is read (its language, and whether as a test, of which little is noted)
and the engine's version, and on nothing else: not on the repository or the policy. They are stored as msgpack arrays;
a field may only be appended, and any change raises `EXTRACTOR_VERSION`, also one of the import graph, which is stored
beside them.

Lines count from 1. `function` is an index into `FileFacts.functions`, where entry 0 is the top level of the file
(named `module`). Names are resolved through the file's own imports where that is possible: after
`from requests import get as fetch` a call `fetch(url)` is recorded as `requests.get`.
"""

import msgspec

EXTRACTOR_VERSION = 49


class FunctionFlag:
    """Bits of `Function.flags` and `Class.flags`. Plain numbers: an IntFlag's operators cost fifty times as much, and
    every function is asked."""

    ASYNC = 1
    GENERATOR = 2
    METHOD = 4
    ANONYMOUS = 8  # lambda, arrow function, function literal
    ACCESSOR = 16  # a getter or setter that only reads or writes a field
    CONSTRUCTOR = 32
    EXPORTED = 64  # visible to other files
    ABSTRACT = 128  # no body
    COMPONENT = 256  # returns JSX
    FLAT_SWITCH = 512  # nearly all its branches are one-statement cases of one switch
    TEST = 1024  # named or annotated as a test
    RETURNS_ERROR = 2048  # Go: the last result is an `error`
    SETTLES_ERRORS = 8192  # Go: such a result is always nil, or was logged before it is given
    KEEPS_ERRORS = 4096  # JavaScript: a function whose promise is not rejected by what it awaits


class ImportFlag:
    """Bits of `Import.flags`."""

    TYPE_ONLY = 1  # gone at run time
    DEFERRED = 2  # inside a function
    REEXPORT = 4  # `export ... from`
    DYNAMIC = 8  # `import()`, `importlib.import_module("literal")`
    STATIC = 16  # Java `import static`
    BARE = 32  # for its side effects only
    ERASED = 64  # only types of TypeScript, or comments and annotations of Java, name what it brings: nothing is loaded


class Parameter(msgspec.Struct, array_like=True, frozen=True, gc=False):
    name: str
    annotation: str = ""
    has_default: bool = False
    keyword_only: bool = False


class Function(msgspec.Struct, array_like=True, frozen=True, gc=False):
    name: str  # qualified inside the file: `OrderService.close`, `outer.inner`, `module`
    line: int  # of the name in the header
    end_line: int
    code_lines: int  # without blank lines, comments and docstring
    cyclomatic: int
    cognitive: int
    nesting: int  # deepest level of control structures
    nesting_line: int  # of the first structure deeper than four levels, else 0
    flags: int = 0
    parent: int = -1  # index of the enclosing function, -1 for entry 0
    owner: str = ""  # qualified name of the class, or the receiver's type in Go
    parameters: tuple[Parameter, ...] = ()
    decorators: tuple[str, ...] = ()  # decorators and annotations, resolved, with literal arguments: `app.get("/x")`
    calls: tuple[str, ...] = ()  # distinct callees in the body, resolved; nested functions' calls are their own
    anchor: str = ""
    handed: tuple[str, ...] = ()  # Go: what may be methods that it gives to others to call, `h.svc.Close`

    @property
    def short_name(self) -> str:
        """The name without what the function stands in: `close` of `OrderService.close`."""
        return self.name.rpartition(".")[2]


class Class(msgspec.Struct, array_like=True, frozen=True, gc=False):
    name: str
    line: int
    end_line: int
    code_lines: int
    bases: tuple[str, ...] = ()  # resolved
    decorators: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    flags: int = 0
    # per method: name and the own fields it touches; for cohesion
    field_use: tuple[tuple[str, tuple[str, ...]], ...] = ()
    # name and class of fields: in Java where the name does not tell it, in Go unless it is built in
    field_types: tuple[tuple[str, str], ...] = ()
    methods: tuple[tuple[str, int], ...] = ()  # Go: those that an interface asks for, with the number of parameters


class Import(msgspec.Struct, array_like=True, frozen=True, gc=False):
    target: str  # as written: `a.b`, `./x`, `java.util.List`, `github.com/x/y`
    line: int
    names: tuple[str, ...] = ()  # imported names; `*` for all; empty when the module itself is imported
    level: int = 0  # leading dots of a relative Python import
    flags: int = 0
    aliases: tuple[tuple[str, str], ...] = ()  # (local name, imported name) where they differ


class LoopCall(msgspec.Struct, array_like=True, frozen=True, gc=False):
    callee: str
    line: int
    uses_variable: bool  # an argument or the receiver depends on a loop variable
    awaited: bool
    anchor: str = ""


class Loop(msgspec.Struct, array_like=True, frozen=True, gc=False):
    function: int
    line: int
    end_line: int
    kind: str  # for, while, comprehension, callback (forEach, map, stream lambda)
    variables: tuple[str, ...]
    iterable: str  # source text, at most 200 characters
    parent: int = -1  # index of the enclosing loop in the same file
    bound: int = 0  # known largest number of iterations, 0 when unknown
    batched: bool = False  # walks chunks, pages or ranges with a step
    calls: tuple[LoopCall, ...] = ()


class Filter(msgspec.Struct, array_like=True, frozen=True, gc=False):
    column: str  # last segment; relations keep their path with dots
    operator: str  # eq, in, range, like, contains, null, other
    constant: bool = False


RELATED = "related"  # the ORM of a query whose model is a relation of an object
DJANGO = frozenset({"django", RELATED})


class Query(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """One ORM chain or SQL text in the shape of rules.md 1.5.2. `terminal` is empty while the chain is lazy."""

    function: int
    line: int
    # django, sqlalchemy, prisma, typeorm, sequelize, mongoose, drizzle, jpa, gorm, bun, sql; `class`: a class of one of
    # the ORMs of JavaScript, of which only its model tells; `panache`: the same of Java; `related`: what may be the
    # manager of a relation of Django
    orm: str
    model: str  # as named in the code: class, client property or table
    operation: str  # select, count, exists, aggregate, insert, bulk_insert, update, delete, commit
    terminal: str = ""
    filters: tuple[Filter, ...] = ()
    order: tuple[str, ...] = ()
    limit: int = 0  # -1: limited by an expression, 0: not limited, else the literal
    offset: int = 0  # -1: an expression
    eager: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    lock: bool = False
    streaming: bool = False
    loop: int = -1  # index of the innermost loop that runs it
    uses_loop_variable: bool = False
    variable: str = ""  # local name that the result or the lazy chain is assigned to
    anchor: str = ""
    raw: bool = False  # conditions stand in it that cannot be read
    in_transaction: bool = False
    counted: str = ""  # `len` or `bool` when only the number of rows is read, or whether there are any
    needs: str = ""  # the library that the project must import somewhere for this to be a query at all


class Column(msgspec.Struct, array_like=True, frozen=True, gc=False):
    name: str
    type: str
    nullable: bool = False
    unique: bool = False
    indexed: bool = False
    primary_key: bool = False
    line: int = 0
    enumerated: bool = False  # the class or schema lists all its values
    stored: str = ""  # its name in the database, where the model says so


class Relation(msgspec.Struct, array_like=True, frozen=True, gc=False):
    name: str
    kind: str  # to_one, to_many
    target: str
    reverse: str = ""
    on_delete: str = ""  # cascade, restrict, set_null, ...
    fetch: str = ""  # eager, lazy, join, select, subquery
    line: int = 0
    one_to_one: bool = False  # at most one row has the same row on the other side


COMPUTED = "()"  # `name()` of `searchable`: what a function makes of the name can be looked up


class Model(msgspec.Struct, array_like=True, frozen=True, gc=False):
    orm: str  # as in Query, or `ddl` for CREATE TABLE
    name: str
    table: str  # empty: derived by the ORM's naming rule in `models`
    line: int
    columns: tuple[Column, ...] = ()
    relations: tuple[Relation, ...] = ()
    indexes: tuple[tuple[str, ...], ...] = ()  # leading column first; empty for one over expressions
    abstract: bool = False
    bases: tuple[str, ...] = ()
    managed: bool = True
    # Columns with a trigram or full-text index; `COMPUTED` behind a name: with one on what a function makes of it.
    searchable: tuple[str, ...] = ()
    table_constant: str = ""  # the constant that holds the table's name: `Tables.ORDERS`
    known_as: str = ""  # JavaScript: the constant that holds the model, where it is called otherwise: `OrderModel`


class Access(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A class or interface through which one model is reached, such as a repository."""

    name: str
    model: str
    line: int
    queries: tuple[Query, ...] = ()  # those that it declares without running them; `terminal` is the method's name


class Entry(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A function that something outside calls."""

    function: str  # qualified name, here or in another file
    kind: str  # request, job, main
    framework: str
    detail: str = ""  # `GET /orders`, the queue, the command
    # of a handler that is an expression inside of that function: its lines, and what it calls
    line: int = 0
    end_line: int = 0
    calls: tuple[str, ...] = ()


class Client(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What a name of Python holds, or a function, `client()`, gives: a client of HTTP or of a cloud."""

    name: str
    library: str  # `requests`, `httpx`, `aiohttp`, `boto3.s3`
    is_limited: bool = False  # the file may set a time limit for all of its calls


class Mark(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """What a local rule saw in the tree. `evaluate` turns it into a finding, or not, when it knows the context."""

    rule: str
    line: int
    function: int
    message: str
    anchor: str
    severity: str = ""  # empty: the rule's default
    confidence: str = ""
    excess: float = 0.0
    suggestion: str = ""
    data: dict[str, str] = {}  # what the rule's own `judge` wants to know


class Suppression(msgspec.Struct, array_like=True, frozen=True, gc=False):
    line: int  # the line it covers; 0 for the whole file
    rules: tuple[str, ...]
    reason: str


# In `FileFacts.blocks`, where the number of lines would stand: a hash without names follows.
RENAMED = 0xFFFFFFFF

# In `FileFacts.skipped`, of a file that should have been parsed.
TOOK_TOO_LONG = "took too long to parse"
PARSER_FAILED = "the parser failed on it"


class FileFacts(msgspec.Struct, array_like=True, frozen=True, gc=False):
    language: str  # python, javascript, typescript, tsx, java, go, sql, prisma, manifest, gitattributes, text
    lines: int = 0
    code_lines: int = 0
    comment_lines: int = 0
    package: str = ""  # Java package, Go package name
    skipped: str = (
        ""  # why nothing but lines is known: binary, generated, minified, too large, took too long, parser failed
    )
    error_bytes: int = 0  # bytes inside broken nodes
    is_entry: bool = False  # `if __name__ == "__main__"`, shebang, `package main`, `public static void main`
    functions: tuple[Function, ...] = ()
    classes: tuple[Class, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[str, ...] = ()
    loops: tuple[Loop, ...] = ()
    queries: tuple[Query, ...] = ()
    models: tuple[Model, ...] = ()
    entries: tuple[Entry, ...] = ()
    marks: tuple[Mark, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    unreasoned_suppressions: tuple[int, ...] = ()  # lines of inline suppressions that give no reason
    # For manifests (package.json, tsconfig.json, go.mod, ...) and .gitattributes: the parts that matter, as JSON.
    manifest: str = ""
    blocks: bytes = b""  # hashes of the lines inside functions, see `extract.blocks`
    accesses: tuple[Access, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()  # those that may name a table, with their texts
    annotated: tuple[tuple[str, str], ...] = ()  # names of Python for a class with a note: `Annotated[Orders, ...]`
    clients: tuple[Client, ...] = ()
    is_built_for_tests: bool = False  # Go: a constraint leaves it out of every other build

    @property
    def complexity(self) -> int:
        """Summed cyclomatic complexity: what the risk score of a file counts."""
        return sum(function.cyclomatic for function in self.functions)

    @property
    def cognitive(self) -> int:
        """Summed cognitive complexity."""
        return sum(function.cognitive for function in self.functions)


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(FileFacts)


def encode(facts: FileFacts) -> bytes:
    """Facts as msgpack."""
    return _encoder.encode(facts)


def decode(data: bytes | memoryview) -> FileFacts:
    """Facts from msgpack; msgspec.ValidationError when the bytes are of another shape."""
    return _decoder.decode(data)
