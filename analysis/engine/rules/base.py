"""How a rule module looks, and what it can watch.

A rule is a module of this package, named after what it finds, that opens with the sentence of what it finds. It
defines `RULE`, `GUIDE` (what its page in docs/rules says, with examples that a test judges) and one or both of:

- `WATCHES`: where it looks while the tree is there. Each `Watch` names the kind of node (and for calls the last name
  of the callee, so that a hundred rules cost one dictionary look-up a call) and a `look` function that yields marks.
- `check(codebase, policy)`: what it concludes from facts of the whole codebase.

A rule with watches and no `check` has its marks turned into findings as they are. It may define
`judge(mark, place, codebase, policy) -> Finding | None` to move severity by context, or drop the mark.

    def look(call: Node, file: SourceFile) -> Iterator[Mark]:
        if file.callee(call) == "requests.get" and "timeout" not in file.arguments(call)[1]:
            yield file.mark(RULE.id, call, "`requests.get` waits for ever: no timeout is given")

    WATCHES = (Watch("call", look, PYTHON, names=frozenset({"get"})),)

Examples to start from: `risk_mutable_default_argument` (a watched node), `rel_swallowed_exception` (handlers of three
languages), `risk_http_no_timeout` (calls, per language), `maint_cognitive_complexity` (facts only).

`look` runs after the whole file was walked, so every question about scopes, functions and loops has its answer.
Nodes are plain tree-sitter nodes (`type`, `child_by_field_name`, `named_children`). A look must not change the file,
keep nodes, or walk whole trees by recursion; `node.parent` costs a walk from the root, so ask it of candidates only.
Nodes inside broken code are not shown. A look that raises loses its mark and is logged.

What a kind stands for (script is JavaScript, TypeScript and TSX; a kind that is not listed is taken as the grammar's
own node type, like `lambda` or `jsx_element`):

call: Python call; script call_expression, new_expression; Java method_invocation, object_creation_expression;
    Go call_expression
function: Python function_definition, lambda; script function_declaration, function_expression, arrow_function,
    generator_function(_declaration), method_definition; Java method_declaration, constructor_declaration,
    compact_constructor_declaration, lambda_expression; Go function_declaration, method_declaration, func_literal
class: Python class_definition; script class_declaration, abstract_class_declaration, class; Java class_, interface_,
    enum_, record_declaration; Go type_spec
loop: Python for_, while_statement and the four comprehensions; script for_, for_in_, while_, do_statement; Java for_,
    enhanced_for_, while_, do_statement; Go for_statement
handler: Python except_clause; script and Java catch_clause
try: try_statement, Java also try_with_resources_statement
finally: finally_clause
with: Python with_statement; Java try_with_resources_statement, synchronized_statement
if: if_statement (an `else if` is an if_statement in all but Python)
switch: Python match_statement; script switch_statement; Java switch_expression; Go expression_switch_, type_switch_,
    select_statement
assignment: Python assignment, augmented_assignment, named_expression; script variable_declarator, assignment_,
    augmented_assignment_expression; Java variable_declarator, assignment_expression; Go assignment_statement,
    short_var_declaration, var_spec
import: Python import_, import_from_, future_import_statement; script import_statement; Java import_declaration;
    Go import_spec
comment: comment; Java line_comment, block_comment
string: Python string; script string, template_string; Java string_literal; Go interpreted_, raw_string_literal
binary: binary_expression; Python binary_operator, comparison_operator, boolean_operator
return, expression_statement, block (script: statement_block): the nodes of that name
throw: throw_statement; Python raise_statement
await: Python await; script await_expression
jump: break_statement, continue_statement; Go also goto_statement
subscript: Python subscript; script subscript_expression; Java array_access; Go index_expression
field: script public_field_definition, field_definition; Java and Go field_declaration
delete: Python delete_statement
go, defer: Go go_statement, defer_statement
label: labeled_statement (all but Python)
literal: Go composite_literal; script object

Callees are resolved through the file's imports, the watched name is the last segment after that:
Python `requests.get`, relative imports keep their dots (`.models.Order`). JavaScript: default and namespace imports
and `require` stand for the module (`axios.get`, `fs.readFile`; `node:` is dropped), named ones are `module.name`.
Java: full class names (`java.net.http.HttpClient.newHttpClient`, a constructor is the class name). Go: import path,
dot, name (`net/http.Get`). Arguments inside a chain are left out (`Order.objects.filter().first`).

SourceFile gives: `text(node)`, `line(node)`, `callee(call)`, `resolve(dotted)`, `arguments(call)`, `function_of(node)`
(index), `enclosing_function(node)` (node or None), `loop_of(node)` (loop or None), `in_loop(node)` (within the same
function), `in_async(node)`, `is_in(node, "handler" | "finally" | "try" | "with" | "if" | "class" | ...)`,
`in_test(node)`, `scope_of(node)`, `statement_of(node)`, `anchor(node)`, `mark(rule, node, message, *, severity,
confidence, excess, suggestion, data)`; `functions`, `loops` and `bindings` (local name to full name) can be read.
"""

import re
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
# Languages with the node that holds a whole file.
ROOTS = ((PYTHON, "module"), (SCRIPT, "program"), (JAVA, "program"), (GO, "source_file"))


@dataclass(frozen=True, slots=True)
class Watch:
    """Call `look(node, file)` for each node of the kind `on` in files of these languages.

    `names` and `endings` belong to the kind `call`, which requires one of them: last segments of the resolved callee,
    so `get` for `requests.get(...)`, and how they end.

    `on` may also be a pattern of the grammar's query language with one capture, `@n`, and no text predicates: the nodes
    that it leaves out cost nothing (`(assert_statement . (tuple)) @n`).

    The other kinds can be gated, so that a look costs nothing where it has nothing to see: `needs` are texts of which
    one stands in every file with a mark (of comments: in the comment), `starts` matches the source where a marked node
    begins.
    """

    on: str
    look: Look
    languages: tuple[str, ...]
    names: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    needs: tuple[bytes, ...] = ()
    starts: re.Pattern[bytes] | None = None


def last_names(callees: Iterable[str]) -> frozenset[str]:
    """The last segments of callees, by which a `Watch` finds their calls."""
    return frozenset(name.rpartition(".")[2] for name in callees)
