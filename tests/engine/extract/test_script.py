"""What extract reads from JavaScript, TypeScript and TSX."""

import pytest

from analysis.engine.extract import extract
from analysis.engine.facts import FileFacts, FunctionFlag, ImportFlag, decode, encode


def script(source: str, language: str = "typescript") -> FileFacts:
    facts = extract(source.encode(), language)
    assert facts.skipped == ""
    assert decode(encode(facts)) == facts
    return facts


COMPLEXITY = [
    ("return 1;", 1, 0),
    ("if (a) x();", 2, 1),
    ("if (a) { x(); } else { y(); }", 2, 2),
    ("if (a) { x(); } else if (b) { y(); } else { z(); }", 3, 3),
    ("if (a) x(); if (b) y();", 3, 2),
    ("for (const i of a) { if (i) { continue; } }", 3, 3),
    ("for (let i = 0; i < 9; i++) { while (b) { do { x(); } while (c); } }", 4, 6),
    ("try { x(); } catch (e) { if (a) y(); } finally { z(); }", 3, 3),
    ("switch (a) { case 1: x(); break; case 2: case 3: y(); break; default: z(); }", 3, 1),
    ("return a && b && c;", 3, 1),
    ("return a && b || c;", 3, 2),
    ("return a ?? b?.c;", 1, 0),
    ("return a ? b : c ? d : e;", 3, 3),
    ("outer: for (;;) { for (;;) { break outer; } }", 3, 4),
    ("return items.map(x => x ? 1 : 2);", 2, 2),
    ("return f();", 1, 1),
]


@pytest.mark.parametrize("language", ["javascript", "typescript", "tsx"])
@pytest.mark.parametrize(("text", "cyclomatic", "cognitive"), COMPLEXITY)
def test_complexity_is_counted_as_by_hand(text, cyclomatic, cognitive, language):
    found = script(f"function f() {{ {text} }}", language).functions[1]
    assert (found.cyclomatic, found.cognitive) == (cyclomatic, cognitive)


COMPONENT = """
    const %s = ({ rows }) => {
        const save = (given) => { if (given) { for (const each of given) { send(each); } } };
        return <List row={(row) => (row ? <Row /> : <Empty />)} onSave={() => (rows ? save(rows) : null)} />;
    };
"""


@pytest.mark.parametrize(
    ("name", "around", "inside"), [("Form", (1, 0), (3, 3)), ("renderForm", (3, 4), (3, 5))], ids=["component", "other"]
)
def test_what_stands_inside_a_component_counts_on_its_own(name, around, inside):
    form, save = script(COMPONENT % name, "tsx").functions[1:]

    assert (form.cyclomatic, form.cognitive) == around
    assert (save.cyclomatic, save.cognitive) == inside


@pytest.mark.parametrize(
    ("source", "name", "anonymous"),
    [
        ("const f = () => 1;", "f", False),
        ("const f: Handler<A> = async (a) => { };", "f", False),
        ("exports.f = function () {};", "f", False),
        ("const o = { f: function () {} };", "f", False),
        ("const o = { [Kind.ORDER]: async (a) => { } };", "ORDER", False),
        ("const o = { '*': async (a) => { } };", "anonymous", False),
        ("class K { f = () => {} }", "K.f", False),
        ("const F = memo((a) => { });", "F", False),
        ("export default function () {}", "default", False),
        ("app.get('/x', guard(), (req, res) => { });", 'get("/x")', True),
        ("run(() => { });", "run()", True),
    ],
)
def test_function_literals_are_named_after_what_stands_before_them(source, name, anonymous):
    found = script(source).functions[1]
    assert found.name == name
    assert bool(found.flags & FunctionFlag.ANONYMOUS) is anonymous


def test_a_short_arrow_function_stays_part_of_the_function_around_it():
    assert len(script("function f() { return a.filter(x => x.b); }").functions) == 2


def test_imports_of_every_form():
    source = (
        'import a, { b as c } from "x";\nimport * as fs from "node:fs";\nimport type { T } from "./t";\n'
        'import "./side";\nexport { q } from "./q";\nexport * from "./s";\n'
        'const { d: e } = require("y");\nfunction f() { return import("./z"); }\n'
    )
    found = [(each.target, each.line, each.names, each.flags) for each in script(source).imports]
    assert found == [
        ("x", 1, ("default", "b"), 0),
        ("node:fs", 2, ("*",), 0),
        ("./t", 3, ("T",), ImportFlag.TYPE_ONLY),
        ("./side", 4, (), ImportFlag.BARE),
        ("./q", 5, ("q",), ImportFlag.REEXPORT),
        ("./s", 6, ("*",), ImportFlag.REEXPORT),
        ("y", 7, ("d",), 0),
        ("./z", 8, (), ImportFlag.DYNAMIC | ImportFlag.DEFERRED),
    ]


def test_calls_are_resolved_through_imports_and_require():
    source = (
        'import axios from "axios";\nimport * as fs from "node:fs";\nimport { join as j } from "path";\n'
        'const { readFile: rf } = require("fs/promises");\n'
        "function f() { axios.get(u); fs.readFileSync(p); j(a); rf(b); a?.b?.(c); new Date(); }\n"
    )
    assert script(source).functions[1].calls == (
        "axios.get",
        "fs.readFileSync",
        "path.join",
        "fs/promises.readFile",
        "a.b",
        "Date",
    )


def test_a_call_with_types_that_is_awaited_is_called_like_any_other():
    source = (
        'import { load } from "./rows";\nasync function f(keys) {\n  const a = await load<Row>(key);\n'
        "  const b = await this.db.query<{ n: number }>(text).first();\n"
        "  for (const key of keys) { await load<Row[]>(key); }\n}\n"
    )
    facts = script(source)
    assert facts.functions[1].calls == ("./rows.load", "this.db.query().first", "this.db.query")
    (loop,) = facts.loops
    assert [(each.callee, each.awaited) for each in loop.calls] == [("./rows.load", True)]


def test_exports_of_modules_and_of_common_js():
    assert script("export const a = 1, b = 2;\nexport default class K {}\nexport { c as d };").exports == (
        "a",
        "b",
        "default",
        "K",
        "d",
    )
    assert script("module.exports = { a, b: 1 };\nexports.c = 2;", "javascript").exports == ("a", "b", "c")


def test_callbacks_of_collections_are_loops():
    facts = script("async function f() { await Promise.all(users.map(async (u) => { await load(u.id); })); }")
    (loop,) = facts.loops
    assert (loop.kind, loop.variables, loop.iterable) == ("callback", ("u",), "users")
    assert [(each.callee, each.uses_variable, each.awaited) for each in loop.calls] == [("load", True, True)]


def test_counting_loops_know_their_bound_and_their_step():
    facts = script("for (let i = 0; i < 5; i++) {}\nfor (let i = 0; i < n; i += 50) {}\nfor (const x of [1, 2]) {}")
    assert [(each.bound, each.batched) for each in facts.loops] == [(5, False), (0, True), (2, False)]


def test_classes_methods_and_decorators():
    source = (
        'import { Get } from "@nestjs/common";\n@Controller("x")\nexport class K extends Base<T> implements I {\n'
        '  @Inject() private x: X;\n  constructor(private a: A) { super(); }\n  @Get("/a")\n'
        "  async list(@Body() a: string, b = 1, ...c: any[]) { this.y = 1; }\n  get z() { return 1; }\n}\n"
    )
    facts = script(source)
    constructor, listed, getter = facts.functions[1:]
    assert constructor.flags & FunctionFlag.CONSTRUCTOR
    assert listed.decorators == ('@nestjs/common.Get("/a")',)
    assert listed.flags & FunctionFlag.ASYNC
    assert [(each.name, each.has_default) for each in listed.parameters] == [("a", False), ("b", True), ("...c", False)]
    assert getter.flags & FunctionFlag.ACCESSOR
    assert getter.decorators == ()
    assert facts.classes[0].bases == ("Base", "I")
    assert facts.classes[0].decorators == ('Controller("x")',)
    assert facts.classes[0].fields == ("x", "y")


def test_a_function_in_a_decorator_does_not_take_it_from_the_class():
    facts = script("@Module({ provide: () => made })\nexport class K {}\n")
    assert facts.classes[0].decorators == ("Module({ provide: () => made })",)


def test_a_function_that_returns_markup_is_a_component():
    facts = script("export const Page = () => { return <a href='x'>b</a>; };\nconst page = () => 1;", "tsx")
    assert [bool(each.flags & FunctionFlag.COMPONENT) for each in facts.functions[1:]] == [True, False]


def test_entries_are_routes_and_controllers():
    source = (
        "app.get('/orders', auth, async (req, res) => { });\nrouter.route('/x').post(save);\n"
        "cache.get('/orders', load);\nexport async function GET(request) {}\n"
        "class K { @Get(':id') one() {} @Cron('* * * * *') nightly() {} }\n"
    )
    assert {(each.function, each.kind, each.detail) for each in script(source).entries} == {
        ("auth", "request", "GET /orders"),
        ('get("/orders")', "request", "GET /orders"),
        ("save", "request", "POST"),
        ("GET", "request", "GET"),
        ("K.one", "request", "GET ':id'"),
        ("K.nightly", "job", "Cron"),
    }


def test_outside_of_broken_code_everything_is_still_seen():
    facts = script("function good() { if (a) { run(); } }\nconst = = = ((;\nfunction fine() { go(); }\n")
    assert {"good", "fine"} <= {each.name for each in facts.functions}
    assert facts.error_bytes > 0


def test_require_in_comments_and_strings_imports_nothing():
    source = (
        "// var app = require('./application');\n"
        "/* import('./later') */\n"
        "const help = \"write require('x') first\";\n"
        "const text = `import('y') and ${require('./real')}`;\n"
        "const lib = await import('./lib');\n"
    )
    assert [each.target for each in script(source).imports] == ["./real", "./lib"]


def test_procedures_and_loaders_are_entries():
    source = """
import { redirect } from 'react-router';
export const pay = authenticatedProcedure.input(shape).mutation(async ({ input }) => {
  await charge(input);
});
export const loader = async () => {};
db.query(async () => {});
"""
    assert {(each.kind, each.framework) for each in script(source).entries} == {
        ("request", "trpc"),
        ("request", "remix"),
    }


def test_a_result_gives_the_function_of_each_element_no_name():
    facts = extract(b"const kept = orders.filter((o) => keep(o));\n", "typescript")
    assert [loop.iterable for loop in facts.loops] == ["orders"]
    assert [function.name for function in facts.functions] == ["module"]


def test_what_takes_a_request_and_a_response_is_called_by_requests():
    facts = script("export default function handler(req, res) {}\nexport const f = (left, right) => 1;")
    assert [(entry.function, entry.kind) for entry in facts.entries] == [("handler", "request")]


def test_a_handler_in_a_wrapper_is_called_by_requests():
    source = (
        "router.post('/orders', check(schema), asyncHandler(async (req, res) => { }));\n"
        "router.get('/orders', catchAsync(orders.list));\n"
        "exports.pay = catchAsync(async (req, res) => { });\nexports.sum = memo((left, right) => left + right);\n"
    )
    assert {(each.function, each.kind, each.detail) for each in script(source).entries} == {
        ("asyncHandler()", "request", "POST /orders"),
        ("asyncHandler()", "request", "asyncHandler()"),
        ("orders.list", "request", "GET /orders"),
        ("catchAsync()", "request", "catchAsync()"),
    }


def test_what_is_decorated_keeps_its_types_and_the_rest_does_not():
    source = (
        "import { Event } from './a';\nimport { Http } from './http';\nimport { Dto } from './dto';\n"
        "@Injectable({ providedIn: 'root' })\nexport class Service {\n  constructor(private http: Http) {}\n"
        "  get(event: Event): void {}\n  @Post('x') create(@Body() dto: Dto) {}\n}\n"
    )
    facts = extract(source.encode(), "typescript")
    assert [each.target for each in facts.imports if each.flags & ImportFlag.ERASED] == ["./a"]


@pytest.mark.parametrize(("decorator", "jobs"), [("Processor", ["Letters.process"]), ("Injectable", [])])
def test_a_class_that_takes_jobs_runs_them_in_process(decorator, jobs):
    facts = script(
        f'import {{ {decorator} }} from "@nestjs/bullmq";\n@{decorator}("letters")\nexport class Letters {{\n'
        "  async process(job) {}\n  async other() {}\n}\n"
    )
    assert [each.function for each in facts.entries if each.kind == "job"] == jobs
