import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-floating-promise"
DECLARED = "async function load() { await x(); }\n"

FLAGGED = [
    "load();",
    "ready && load();",
    "ready ? load() : other();",
    "Promise.all(items);",
    "new Promise(run);",
    "fetch('/x');",
    "items.map(async (i) => { await x(i); });",
    "if (a) { load(); }",
]
FINE = [
    "await load();",
    "void load();",
    "load().catch(report);",
    "load().then(a, b);",
    "const p = load();",
    "x.load();",
    "const all = await Promise.all(items.map(async (i) => x(i)));",
    "other();",
    "return load();",
]
PYTHON_FLAGGED = ["load()", "asyncio.create_task(x())", "asyncio.ensure_future(x())", "loop.create_task(x())"]
PYTHON_FINE = [
    "await load()",
    "task = asyncio.create_task(x())",
    "tg.create_task(x())",
    "other()",
    "tasks.add(asyncio.create_task(x()))",
    "asyncio.run(load())",
]


@pytest.mark.parametrize("statement", FLAGGED)
def test_dropped_promises_are_marked(statement):
    assert lines_of(RULE, f"{DECLARED}function f(ready, items) {{\n{statement}\n}}", "typescript") == [3]


@pytest.mark.parametrize("statement", FINE)
def test_promises_that_somebody_sees_are_fine(statement):
    assert lines_of(RULE, f"{DECLARED}function f(ready, items) {{\n{statement}\n}}", "typescript") == []


def test_a_method_of_the_same_class():
    source = "class A {\n async save() { await x(); }\n run() {\n this.save();\n }\n}"
    (mark,) = marks_of(RULE, source, "typescript")
    assert (mark.line, mark.severity) == (4, "critical")


def test_a_function_that_handles_all_its_errors_may_float():
    source = "async function load() { try { await x(); } catch (e) { report(e); } }\nload();"
    assert lines_of(RULE, source, "typescript") == []


@pytest.mark.parametrize(
    ("handler", "lines"),
    [("(e) => { throw e; }", [2]), ("(e) => { throw new Lost(e); }", [2]), ("() => { /* never throw */ }", [])],
)
def test_a_catch_that_throws_again_handles_nothing(handler, lines):
    source = f"async function load() {{ return await x().then(read).catch({handler}); }}\nload();"
    assert lines_of(RULE, source, "typescript") == lines


def test_a_database_call_is_critical_and_less_certain():
    (mark,) = marks_of(RULE, "function f() { prisma.user.update({}); }", "typescript")
    assert (mark.severity, mark.confidence) == ("critical", "medium")


@pytest.mark.parametrize("statement", PYTHON_FLAGGED)
def test_python(statement):
    source = f"import asyncio\nasync def load(): ...\nasync def f(loop, tg):\n    {statement}\n"
    assert lines_of(RULE, source) == [4]


@pytest.mark.parametrize("statement", PYTHON_FINE)
def test_python_that_awaits_or_keeps_is_fine(statement):
    source = f"import asyncio\nasync def load(): ...\nasync def f(loop, tg):\n    {statement}\n"
    assert lines_of(RULE, source) == []


def test_a_key_of_an_object_is_not_the_function_that_is_called():
    source = "function f({ done }) {\n const options = { done: async () => { done(); await x(); } };\n}"
    assert lines_of(RULE, source, "typescript") == []


MAIL = "export async function send(order) {\n  await post(order);\n}\nexport function count() {}\n"
MAILER = "export class Mailer {\n  async send(order) {\n    await post(order);\n  }\n}\n"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import { send } from './mail';\nexport function place(o) {\n  send(o);\n}", [3]),
        ("import { send } from './mail';\nexport async function place(o) {\n  await send(o);\n}", []),
        ("import { count } from './mail';\nexport function place(o) {\n  count(o);\n}", []),
        (
            "import { Mailer } from './mailer';\nclass A {\n  constructor(private mailer: Mailer) {}\n"
            "  place(o) {\n    this.mailer.send(o);\n  }\n}",
            [5],
        ),
    ],
)
def test_async_functions_of_other_files(source, lines):
    found = findings_of(RULE, {"src/mail.ts": MAIL, "src/mailer.ts": MAILER, "src/order.ts": source})
    assert [(each.line, each.confidence) for each in found] == [(line, "medium") for line in lines]


@pytest.mark.parametrize(("body", "count"), [("this.bus.emit<number>(order);", 0), ("await this.bus.send(order);", 1)])
@pytest.mark.parametrize("modifier", ["", "public "])
def test_methods_of_other_files_whatever_their_modifiers(modifier, body, count):
    mailer = f"export class Mailer {{\n  {modifier}async tell(order: Order): Promise<void> {{ {body} }}\n}}\n"
    source = 'import { Mailer } from "./mailer";\nexport class Shop {\n  constructor(private mailer: Mailer) {}\n'
    source += "  async place(order: Order) {\n    await save(order);\n    this.mailer.tell(order);\n  }\n}\n"
    assert len(findings_of(RULE, {"src/mailer.ts": mailer, "src/order.ts": source})) == count


def test_python_coroutines_of_other_files():
    mail = "async def send(order):\n    await post(order)\n\n\ndef count(order):\n    pass\n"
    source = "from shop.mail import count, send\n\n\nasync def place(order):\n    send(order)\n    count(order)\n"
    found = findings_of(RULE, {"shop/__init__.py": "", "shop/mail.py": mail, "shop/order.py": source})
    assert [each.line for each in found] == [5]


def test_a_script_that_fails_ends_with_its_trace():
    source = "async function main() {\n  await run();\n}\nmain();\n"
    imported = {"src/main.ts": source, "src/a.ts": "import './main';\n"}
    assert [each.severity for each in findings_of(RULE, imported)] == ["warning"]
    assert findings_of(RULE, {"scripts/main.ts": source}) == []
    assert findings_of(RULE, {"src/worker.ts": source}) == []  # nobody imports it


KEEPS = "export async function log(a) {\n  const body = form(a);\n  try { await post(body); } catch { }\n}\n"
PASSES_ON = KEEPS.replace("catch { }", "catch (e) { throw wrap(e); }")
HALF = KEEPS.replace("const body = form(a);", "const body = await form(a);")
TELLS = KEEPS.replace("const body = form(a);", "if (!a) return warn('nothing');\n  const body = form(a);")
HANDS_ON = TELLS.replace("return warn('nothing')", "return send('nothing')")
CHAINED = "export async function log(a) {\n  await post(a).catch(report);\n}\n"


@pytest.mark.parametrize(
    ("source", "count"), [(KEEPS, 0), (CHAINED, 0), (TELLS, 0), (PASSES_ON, 1), (HALF, 1), (HANDS_ON, 1)]
)
def test_a_function_that_handles_what_it_awaits_may_float(source, count):
    assert len(lines_of(RULE, source + "function f(a) {\n  log(a);\n}\n", "typescript")) == count
    elsewhere = "import { log } from './log';\nexport function f(a) {\n  log(a);\n}\n"
    assert len(findings_of(RULE, {"src/log.ts": source, "src/f.ts": elsewhere})) == count


@pytest.mark.parametrize("statement", ["Promise.resolve(x);", "this.repo.save(x);", "this.userRepository.save(x);"])
def test_more_that_gives_a_promise(statement):
    assert lines_of(RULE, f"class A {{\n  run(x) {{\n    {statement}\n  }}\n}}", "typescript") == [3]


def test_a_write_that_a_page_asks_for_is_a_warning():
    source = "async function save(x) {\n  await post(x);\n}\nexport function f(x) {\n  save(x);\n}\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/f.js": source}
    server = {"api/package.json": '{"dependencies": {"express": "5"}}', "api/src/f.js": source}
    assert [each.severity for each in findings_of(RULE, page)] == ["warning"]
    assert [each.severity for each in findings_of(RULE, server)] == ["critical"]


def test_a_client_that_another_file_makes_gives_promises_too():
    source = "import { prisma } from './prisma';\nasync function f(id) {\n  prisma.user.delete({ where: { id } });\n}"
    assert lines_of(RULE, source, "typescript") == [3]


@pytest.mark.parametrize(("handler", "count"), [("log(e);", 0), ("throw e;", 1)])
def test_a_function_that_awaits_only_what_keeps_its_errors_may_float(handler, count):
    source = (
        f"async function ask() {{ try {{ await get(); }} catch (e) {{ {handler} }} }}\n"
        "async function show() {\n  draw(await ask());\n}\nfunction f() {\n  show();\n}\n"
    )
    assert len(lines_of(RULE, source, "typescript")) == count


def test_writes_of_a_repository_by_its_type():
    source = (
        "class Orders {\n  constructor(@InjectRepository(Order) private readonly rows: Repository<Order>) {}\n"
        "  async f() {\n    ROW.update({ id: 1 }, { paid: true });\n  }\n}\n"
    )
    source = "import { Repository } from 'typeorm';\n" + source
    assert lines_of(RULE, source.replace("ROW", "this.rows"), "typescript") == [5]
    assert lines_of(RULE, source.replace("ROW", "await this.rows"), "typescript") == []
    assert (
        lines_of(
            RULE, "import 'sequelize';\nfunction f(client) {\n  client.destroy();\n  Bar.remove();\n}\n", "typescript"
        )
        == []
    )


def test_a_method_of_a_library_is_not_one_of_the_project():
    source = "from {} import Clock\n\n\nclass Timer(Clock):\n    async def step(self):\n        Clock.step(self)\n"
    assert findings_of(RULE, {"shop/timer.py": source.format("ticking.core")}) == []
    own = "class Clock:\n    async def step(self):\n        await turn()\n"
    files = {"shop/timer.py": source.format("shop.clock"), "shop/clock.py": own}
    assert [each.line for each in findings_of(RULE, files)] == [6]


def test_a_log_of_what_was_thrown_throws_nothing():
    source = (
        "async function ask() {\n  try {\n    await get();\n  } catch (e) {\n    log('thrown', e);\n  }\n}\n"
        "function f() {\n  ask();\n}\n"
    )
    assert lines_of(RULE, source, "typescript") == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("setOpen(true);", 0),
        ("await post(x);", 1),
        ("return post(x);", 1),
        ("if (x) { throw new Error('x'); }", 1),
    ],
)
def test_a_function_that_waits_for_nothing_loses_nothing(body, count):
    source = f"async function show(x) {{ {body} }}\nfunction f(x) {{\n  show(x);\n}}"
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("(load) => { load(); }", 0),
        ("load => { load(); }", 0),
        ("function (load: () => void) { load(); }", 0),
        ("(other) => { load(); }", 1),
    ],
)
def test_a_parameter_of_the_same_name_is_another_function(statement, count):
    assert len(lines_of(RULE, f"{DECLARED}items.forEach({statement});", "typescript")) == count


def test_a_class_has_no_field_of_itself():
    source = (
        "export class QueryManager {\n  query: Writable;\n  async update(x) { await post(x); }\n"
        "  save(x) {\n    this.query.update(x);\n  }\n}\n"
    )
    assert findings_of(RULE, {"src/a.ts": source}) == []
    other = "export class Query {\n  async update(x) { await post(x); }\n}\n"
    using = "import { Query } from './b';\nexport class A {\n  query: Query;\n  save(x) {\n    this.query.update(x);\n"
    using += "  }\n}\n"
    assert len(findings_of(RULE, {"src/b.ts": other, "src/a.ts": using})) == 1


@pytest.mark.parametrize(
    ("head", "count"),
    [
        ("", 0),
        ("const Order = require('./order');", 1),
        ("import { Order } from './order';", 1),
        ("const Order = mongoose.model('Order', schema);", 1),
    ],
)
def test_a_library_of_a_page_is_no_model(head, count):
    assert len(lines_of(RULE, f"{head}\nfunction f(x) {{\n  Order.create(x);\n}}\n", "javascript")) == count


KEYS = """import { base } from './base';
const Keys = {
  all: async () => {
    return await fetch(base).then((r) => r.json()).catch((e) => { report(e); return []; });
  },
  one: async () => {
    return await fetch(base);
  },
};
export default Keys;
"""


@pytest.mark.parametrize(
    ("awaited", "count"), [("await Keys.all()", 0), ("await Keys.one()", 1), ("await fetch(base)", 1)]
)
def test_a_function_that_awaits_what_keeps_its_errors_in_another_file(awaited, count):
    page = (
        f"import Keys from './keys';\nasync function load() {{ show({awaited}); }}\nfunction Page() {{\n  load();\n}}\n"
    )
    assert len(findings_of(RULE, {"src/keys.ts": KEYS, "src/page.ts": page})) == count


def test_the_word_throw_in_a_comment_throws_nothing():
    source = (
        "async function load() {{ try {{ await x(); }} catch (e) {{ log(e); {} }} }}\nfunction f() {{\n  load();\n}}"
    )
    assert lines_of(RULE, source.format("/* throw e; */"), "typescript") == []
    assert lines_of(RULE, source.format("throw e;"), "typescript") == [3]


def test_the_copy_of_a_library():
    source = f"{DECLARED}function f() {{\n  load();\n}}"
    for path, severity in (("web/static/js/plugins/up.js", "info"), ("src/plugins/up.js", "warning")):
        assert [each.severity for each in findings_of(RULE, {path: source})] == [severity]


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("Mail.send(x, (err, answer) => { next(err); })", 0),
        ("Mail.send(x, function (error) { next(error); })", 0),
        ("Mail.send(x, callback)", 0),
        ("Mail.send(x, (item) => item.id)", 1),
        ("Mail.send(x)", 1),
    ],
)
def test_a_function_that_is_given_a_callback(call, count):
    mail = "export default class Mail {\n  static async send(x, done) { await post(x); }\n}\n"
    source = f"import Mail from './mail';\nexport function f(x, next, callback) {{\n  {call};\n}}\n"
    assert len(findings_of(RULE, {"src/mail.ts": mail, "src/f.ts": source})) == count


def test_a_field_that_holds_a_collection():
    cache = "export class Cache {\n  async delete(x) { await post(x); }\n}\n"
    source = "import { Cache } from './cache';\nexport class A {\n  cache = new Map();\n"
    source += "  f(x) {\n    this.cache.delete(x);\n  }\n}\n"
    assert findings_of(RULE, {"src/cache.ts": cache, "src/a.ts": source}) == []


@pytest.mark.parametrize(
    ("own", "count"), [("const fetch = () => { load2(x); };", 0), ("const other = () => { load2(x); };", 1)]
)
def test_a_fetch_of_the_component_is_not_the_global_one(own, count):
    source = f"function Page(x) {{\n  {own}\n  useEffect(() => {{ fetch(x); }}, []);\n}}\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("given", "count"), [("{ provider, fetch }", 0), ("{ provider }", 1)])
def test_a_parameter_of_the_name_of_a_known_function(given, count):
    source = f"export const Form = ({given}) => {{\n  useEffect(() => {{\n    fetch();\n  }}, []);\n}};\n"
    assert len(marks_of(RULE, source, "typescript")) == count


def test_a_method_called_in_a_function_of_another():
    source = "class A {\n  async save() { await put(this.rows); }\n  start() {\n"
    source += "    setTimeout(() => {\n      this.save();\n    }, 9);\n  }\n}\n"
    assert [mark.line for mark in marks_of(RULE, source, "typescript")] == [5]


@pytest.mark.parametrize(
    ("decorator", "confidences"),
    [("@staticmethod", [""]), ("@wrap_as_background_process('x')", []), ("@measured('x')", ["medium"])],
)
def test_a_decorator_may_make_something_else_of_a_coroutine(decorator, confidences):
    source = f"{decorator}\nasync def send(x):\n    await put(x)\n\n\ndef f(x):\n    send(x)\n"
    assert [mark.confidence for mark in marks_of(RULE, source, "python")] == confidences


def test_a_function_of_another_file_that_waits_for_nothing():
    made = "export const prepare = async (a) => {{\n  if (!a) return;\n  {0}\n}};\n"
    used = "import { prepare } from './made.js';\nexport function f(a) {\n  prepare(a);\n}\n"
    for body, count in (("set(a);", 0), ("await set(a);", 1), ("throw new Error();", 1), ("return set(a);", 1)):
        assert len(findings_of(RULE, {"src/made.js": made.format(body), "src/a.js": used})) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("Promise.all(items.map(quiet));", 0),
        ("Promise.all([quiet(), loud()]);", 1),
        ("Promise.all(items.map(other));", 1),
        ("const load = async () => { await Promise.allSettled([loud()]); };\nload();", 0),
        ("const load = async () => { await Promise.all([loud()]); };\nload();", 1),
    ],
)
def test_promises_that_keep_their_errors(body, count):
    source = "async function quiet(x) {\n  try {\n    await get(x);\n  } catch (e) {\n    log(e);\n  }\n}\n"
    source += f"async function loud(x) {{\n  await get(x);\n}}\nfunction f(items) {{\n{body}\n}}\n"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("awaited", "confidences"), [("fetch('/a')", ["medium"]), ("fadeIn(row)", [])])
def test_in_a_page_it_is_less_certain(awaited, confidences):
    source = f"async function load() {{\n  await {awaited};\n}}\nexport function show() {{\n  load();\n}}\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/a.js": source}
    assert [str(each.confidence) for each in findings_of(RULE, page)] == confidences
    assert [str(each.confidence) for each in findings_of(RULE, {"src/a.js": source})] == ["high"]


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("Order.update({ paid: true }, { where: { id } });", 1),
        ("await Order.update({ paid: true }, { where: { id } });", 0),
        ("Order.update({ paid: true }, { where: { id } }).catch(log);", 0),
        ("Basket.update({ paid: true }, { where: { id } });", 0),  # no model that anybody knows
    ],
)
def test_writes_by_the_class_of_a_model(statement, count):
    model = 'const { DataTypes } = require("sequelize");\n'
    model += 'const Order = sequelize.define("Order", { paid: DataTypes.BOOLEAN });\nmodule.exports = { Order };\n'
    source = 'const { Order } = require("./order");\nconst Basket = require("./basket");\n'
    source += f"async function f(id) {{\n  {statement}\n}}\nmodule.exports = {{ f }};\n"
    assert len(findings_of(RULE, {"src/order.js": model, "src/f.js": source})) == count


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("Scan.updateMany({ code }, { $set: { done: true } }).exec();", 1),
        ("await Scan.updateMany({ code }, { $set: { done: true } }).exec();", 0),
        ("Scan.updateMany({ code }, { $set: { done: true } }).exec((err) => done(err));", 0),
        ("Scan.find({ code }).sort(order);", 0),  # never runs
    ],
)
def test_writes_that_mongoose_is_told_to_run(statement, count):
    model = 'import { Schema, model } from "mongoose";\nconst schema = new Schema({ code: String });\n'
    model += 'export const Scan = model("Scan", schema);\n'
    source = f'import {{ Scan }} from "./scan";\nexport async function f(code, done) {{\n  {statement}\n}}\n'
    assert len(findings_of(RULE, {"src/scan.ts": model, "src/f.ts": source})) == count


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("db.insert(lines).values({ orderId: x });", 1),
        ("db.update(orders).set({ total: x }).where(eq(orders.id, x));", 1),
        ("await db.insert(lines).values({ orderId: x });", 0),
        ("db.insert(lines).values({ orderId: x }).run();", 0),
        ("db.insert(lines).values({ orderId: x }).catch(log);", 0),
        ("waitUntil(db.insert(lines).values({ orderId: x }));", 0),
        ("const later = db.insert(lines).values({ orderId: x });\nuse(later);", 0),
        ("db.insert(strangers).values({ orderId: x });", 0),  # no table that anybody knows
    ],
)
def test_statements_of_drizzle_that_are_never_sent(statement, count):
    found = orms.findings(RULE, "drizzle", statement)
    assert [each.severity for each in found] == ["critical"] * count


@pytest.mark.parametrize(("kind", "count"), [("", 0), ("async ", 1)])
def test_a_nearer_function_of_the_name_is_meant(kind, count):
    source = (
        f"export const parse = (node) => {{\n  const walk = {kind}(each) => {{\n    each.forEach((inner) => {{\n"
        "      walk(inner);\n    });\n    return load(each);\n  };\n  return walk(node);\n};\n"
        "const walk = async (node) => {\n  await save(node);\n};\n"
    )
    assert len(lines_of(RULE, source, "typescript")) == count
