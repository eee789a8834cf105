"""Where transactions begin and end, and what is called inside them.

A transaction is marked while the tree is there; what its calls lead to is known in `evaluate`. The `data` of a mark

- `last`: its last line
- `calls`: callee and line of each call inside, `requests.post@12`, those of nested functions left out
- `reads_only`: it is declared to write nothing
"""

import re
from collections.abc import Iterator

from msgspec import structs
from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.readers.http_clients import client_of
from analysis.engine.readers.reading import CALLS, followed, text_after, within
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch

ANNOTATION = "transaction"  # rule of these marks
MOST_CALLS = 60

_BLOCK = rb"[^\n]{0,100}?(?:atomic|\.begin\(|\.begin_nested\(|transaction)"
_WITH = re.compile(rb"(?:async\s+)?with\s+" + _BLOCK)
_OPENED = re.compile(rb"(?:await\s+)?[\w.]*(?:session|conn\w*|tr|transaction)\.begin\(\)", re.IGNORECASE)
_DECORATOR = re.compile(rb"@[\w.]*(?:atomic|transactional)\w*")
_RUNNERS = frozenset({"$transaction", "transaction", "withTransaction", "runInTransaction", "transactional"})
_GO_RUNNERS = frozenset(
    {"Transaction", "RunInTx", "InTx", "WithTx", "RunInTransaction", "BeginFunc", "BeginTxFunc", "WithTransaction"}
)
GO_BEGINS = frozenset({"Begin", "BeginTx", "Beginx", "BeginTxx", "MustBegin", "MustBeginTx"})
_RUNS = re.compile(
    rb"(?:\$transaction|\.transaction|withTransaction|unInTransaction|\.Transaction|RunInTx|InTx|WithTx|BeginFunc|BeginTxFunc|WithTransaction)"
    rb"\((?:[^\n(){}]*,)?\s*(?:async\s*)?\Z"
)
_TEMPLATE = re.compile(  # of Spring; of Quarkus and Jdbi, whose names say it themselves
    r"(?i)(?:transaction|tx)(?:template|operations)\.\w+$"
    r"|\bQuarkusTransaction\.\w+\(\)(?:\.\w+\(\))*\.(?:run|call)$|\.(?:in|use)Transaction$"
)
_TEMPLATE_VERBS = frozenset({"execute", "executeWithoutResult", "run", "call", "inTransaction", "useTransaction"})
_RUN_BY = re.compile(
    rb"(?:\b(\w+\.(?:execute(?:WithoutResult)?))|\bQuarkusTransaction\.\w+\([^;{}]*\)\.(?:run|call)"
    rb"|\w\.(?:in|use)Transaction)\(\s*\Z"
)
_RUNS_LAMBDAS = (b"TransactionTemplate", b"TransactionOperations", b"QuarkusTransaction", b"Transaction(")
_NEAR_RUN = 80  # bytes
_BEGUN = re.compile(r"[\"'`]\s*(?:BEGIN|START\s+TRANSACTION)\b(?![^\"'`]*END)")
_JAVA = b"@Transactional"
TRANSACTIONAL = re.compile(rb"@Transactional\b")  # not `@TransactionalEventListener`
_HEADER = 400  # bytes before a body in which annotations stand
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "func_literal"})
_STOP = frozenset(
    """function_definition lambda class_definition function_declaration function_expression arrow_function class_body
    method_definition lambda_expression func_literal""".split()
)
# What a script declares or is given as one of a library's clients. Of queues those that stand in another process.
_GIVEN_TO_SCRIPT = re.compile(
    rb"\s*[?!]?\s*:\s*(Queue|HttpService|MailerService|Producer)\b(?:<[^;=(){}]*>)?\s*[,;)=\n]"
)
_QUEUES = frozenset({"bullmq.Queue", "bull.Queue", "bull"})
_DECLARED = {  # the type of a name that talks to the outside
    "java": (
        rb"\b(\w*(?:Template|Operations|Client|Sender|Producer|Publisher|ProcessBuilder))(?:<[^;=(]*>)?\s+%s\s*[;=,)]"
    ),
    "go": rb"\b%s\s*(?::?=\s*&?|\s\*?)(http\.Client)\b",
}
# What a script makes of its library for HTTP: a client of its own for one address.
_MADE_OF = re.compile(rb"\s*(?::[^=\n]+)?=\s*(axios|got)\.(?:create|extend)\(")
_RUN_LATER = re.compile(rb"\s*:?=\s*(exec\.Command(?:Context)?)\(")
_RUN = frozenset({"Run", "Output", "CombinedOutput", "Start"})
_ROLLED_BACK = re.compile(r"^(?!\s*defer\b)[^\n]*\.Rollback\(", re.MULTILINE)
_AFTER_COMMIT = "on_commit"


def look_at_with(block: Node, file: SourceFile) -> Iterator[Mark]:
    body = block.child_by_field_name("body")
    if body is not None:
        yield from _marked(block, body, file)


def look_at_decorator(decorator: Node, file: SourceFile) -> Iterator[Mark]:
    definition = decorator.parent.child_by_field_name("definition") if decorator.parent is not None else None
    body = definition.child_by_field_name("body") if definition is not None else None
    if definition is not None and body is not None and definition.type == "function_definition":
        yield from _marked(definition, body, file)


def look_at_method(method: Node, file: SourceFile) -> Iterator[Mark]:
    body = method.child_by_field_name("body")
    if method.type == "method_declaration" and body is not None and (note := _annotation(method, file)):
        yield from _marked(method, body, file, reads_only=b"readOnly = true" in note or b"readOnly=true" in note)


def look_at_runner(call: Node, file: SourceFile) -> Iterator[Mark]:
    """A function that runs inside the transaction that the callee opens."""
    for argument in file.arguments(call)[0]:
        body = argument.child_by_field_name("body") if argument.type in _FUNCTIONS else None
        if body is not None:
            yield from _marked(call, body, file)


def look_at_begin(call: Node, file: SourceFile) -> Iterator[Mark]:
    """From `Begin` to the last `Commit` of the same function."""
    function = file.enclosing_function(call)
    length = text_after(call, file).encode().rfind(b".Commit(")
    if function is not None and length >= 0:
        for mark in _marked(call, function, file, start=call.end_byte, end=call.end_byte + length):
            if calls := [each for each in mark.data["calls"].split() if not _is_rolled_back(each, mark, file)]:
                yield structs.replace(mark, data=mark.data | {"calls": " ".join(calls)})


def _is_rolled_back(call: str, mark: Mark, file: SourceFile) -> bool:
    """Whether the block of a call rolls the transaction back before it."""
    line = int(call.rpartition("@")[2])
    before = file.source[file.lines.starts[mark.line - 1] : file.lines.starts[line - 1]].decode("utf-8", "replace")
    found = list(_ROLLED_BACK.finditer(before))
    depth = 0
    for sign in before[found[-1].end() :] if found else "}":
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return True


def look_at_started(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: from `const t = await sequelize.transaction()` or `startTransaction()` to the last commit."""
    if any(argument.type in _FUNCTIONS for argument in file.arguments(call)[0]):
        return
    function, after = file.enclosing_function(call), text_after(call, file).encode()
    length = max(after.rfind(b".commit("), after.rfind(b".commitTransaction("))
    if function is not None and length >= 0:
        yield from _marked(call, function, file, start=call.end_byte, end=call.end_byte + length)


def look_at_begun(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Script: from `client.query("BEGIN")` to the last `COMMIT`."""
    given = file.arguments(call)[0] if file.mentions(b"COMMIT") else []
    if not given or _BEGUN.match(file.text(given[0])) is None:
        return
    function = file.enclosing_function(call)
    length = text_after(call, file).encode().rfind(b"COMMIT")
    if function is not None and length >= 0:
        yield from _marked(call, function, file, start=call.end_byte, end=call.end_byte + length)


def look_at_opened(statement: Node, file: SourceFile) -> Iterator[Mark]:
    """Python: from a line `session.begin()` to the last commit."""
    function = file.enclosing_function(statement)
    length = text_after(statement, file).encode().rfind(b".commit(")
    if function is not None and length >= 0:
        yield from _marked(statement, function, file, start=statement.end_byte, end=statement.end_byte + length)


def look_at_template(call: Node, file: SourceFile) -> Iterator[Mark]:
    """Java: `transactionTemplate.execute(status -> { ... })`, `QuarkusTransaction.requiringNew().run(() -> …)`."""
    if _TEMPLATE.search(typed(file.callee(call), file)):
        for argument in file.arguments(call)[0]:
            body = argument.child_by_field_name("body") if argument.type == "lambda_expression" else None
            if body is not None:
                yield from _marked(call, body, file)


WATCHES = (
    Watch("with", look_at_with, PYTHON, needs=(b"atomic", b".begin", b"transaction"), starts=_WITH),
    Watch("expression_statement", look_at_opened, PYTHON, needs=(b".begin()",), starts=_OPENED),
    Watch("decorator", look_at_decorator, PYTHON, needs=(b"atomic", b"transactional"), starts=_DECORATOR),
    Watch("function", look_at_method, JAVA, needs=(_JAVA,)),
    Watch("call", look_at_runner, SCRIPT, names=_RUNNERS),
    Watch("call", look_at_started, SCRIPT, names=frozenset({"transaction", "startTransaction"})),
    Watch("call", look_at_begun, SCRIPT, names=frozenset({"query", "execute"})),
    Watch("call", look_at_template, JAVA, names=_TEMPLATE_VERBS),
    Watch("call", look_at_runner, GO, names=_GO_RUNNERS),
    Watch("call", look_at_begin, GO, names=GO_BEGINS),
)


def in_transaction(start: int, file: SourceFile) -> bool:
    """Whether what stands at this byte runs inside a transaction of its own file, as far as the text tells."""
    scope = file.scope_at(start, start + 1)
    if any(_DECORATOR.match(b"@" + each.encode()) for each in scope.function.decorators):
        return True
    while scope.parent is not None:
        if scope.kind == "with" and _WITH.match(file.source, scope.start):
            return True
        if scope.kind == "function" and file.language == "java":
            return bool(_annotation(scope.node, file))
        if file.language == "java" and _is_run_by_template(scope.start, file):
            return True
        if scope.kind in ("function", "closure") and _RUNS.search(file.source, max(0, scope.start - 80), scope.start):
            return True
        scope = scope.parent
    return False


def _is_run_by_template(start: int, file: SourceFile) -> bool:
    """Whether something that opens a transaction runs the lambda that begins at this byte, as `TransactionTemplate`."""
    if not any(map(file.mentions, _RUNS_LAMBDAS)):
        return False
    run = _RUN_BY.search(file.source, max(0, start - _NEAR_RUN), start)
    return run is not None and (run[1] is None or _TEMPLATE.search(typed(run[1].decode(), file)) is not None)


def _annotation(method: Node, file: SourceFile) -> bytes:
    """`@Transactional(...)` of the method or of its class; empty when neither has it."""
    for node in (method, method.parent.parent if method.parent is not None else None):
        body = node.child_by_field_name("body") if node is not None else None
        if node is not None and body is not None:
            header = file.source[node.start_byte : min(body.start_byte, node.start_byte + _HEADER)]
            found = TRANSACTIONAL.search(header)
            if found is not None:
                return header[found.start() :].partition(b"\n")[0]
    return b""


def typed(callee: str, file: SourceFile) -> str:
    """A call on what the file declares as a client, named after that: `kafka.send` of a `KafkaTemplate` is
    `kafkaTemplate.send`, in Go `client.Get` of an `http.Client` is `httpClient.Get`, `routing.post` of what
    `axios.create` gave is `axios.post`, as that of a session of `requests` is `requests.post`, and `orders.add` of a
    `Queue` of BullMQ is `this.queue.add`."""
    receiver, _, method = callee.rpartition(".")
    name, declared = receiver.rpartition(".")[2], _DECLARED.get(file.language)
    if not name.isidentifier():
        return callee
    if file.language == "go" and method in _RUN and file.mentions(b"exec.Command"):
        made = next(followed(name.encode(), file.source, _RUN_LATER, b"_."), None)
        return f"os/{made[1].decode()}().{method}" if made is not None else callee
    if file.language == "python":
        client = client_of(name, file)
        return f"{client.library}.{method}" if client is not None else callee
    if file.language in SCRIPT and (file.mentions(b"axios.create(") or file.mentions(b"got.extend(")):
        made = next(followed(name.encode(), file.source, _MADE_OF, b"_$"), None)
        return f"{made[1].decode()}.{method}" if made is not None else callee
    if file.language in SCRIPT:
        return _typed_in_script(name, method, file) or callee
    if declared is None:
        return callee
    found = re.search(declared % re.escape(name.encode()), file.source)
    kind = found[1].decode().replace("http.C", "httpC").replace("Operations", "Template") if found is not None else ""
    return f"{kind[:1].lower()}{kind[1:]}.{method}" if kind else callee


def _typed_in_script(name: str, method: str, file: SourceFile) -> str:
    """`workshop.add` of a `private workshop: Queue` is `this.queue.add`."""
    given = next(followed(name.encode(), file.source, _GIVEN_TO_SCRIPT, b"_$."), None)
    kind = given[1].decode() if given is not None else ""
    if not kind or (kind == "Queue" and file.resolve(kind) not in _QUEUES):
        return ""
    return f"this.{kind[:1].lower()}{kind[1:]}.{method}"


def _marked(
    node: Node, body: Node, file: SourceFile, *, start: int = 0, end: int = 0, reads_only: bool = False
) -> Iterator[Mark]:
    start, end = start or body.start_byte, end or body.end_byte
    calls: list[str] = []
    for call in within(body, _STOP):
        if call.type in CALLS and start <= call.start_byte < end and len(calls) < MOST_CALLS:
            calls.append(f"{typed(''.join(file.callee(call).split()), file)}@{file.line(call)}")
    if not calls:
        return
    data = {"last": str(file.lines.of(max(start, end - 1))), "calls": " ".join(calls)}
    if reads_only:
        data["reads_only"] = "1"
    yield Mark(ANNOTATION, file.line(node), file.function_of(body), "", file.anchor(node), data=data)
