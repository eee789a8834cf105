import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-async-in-sync-callback"

FLAGGED = [
    "items.forEach(async (i) => { await x(i); });",
    "items.filter(async (i) => await ok(i));",
    "items.some(async function (i) { return await ok(i); });",
    "new Promise(async (resolve) => { resolve(await x()); });",
    "setTimeout(async () => { await x(); }, 10);",
    "emitter.on('data', async (d) => { await x(d); });",
    "if (isAllowed()) { y(); }",
    "if (!isAllowed()) { y(); }",
]
FINE = [
    "await Promise.all(items.map(async (i) => x(i)));",
    "items.forEach((i) => { y(i); });",
    "setTimeout(async () => { try { await x(); } catch (e) { log(e); } }, 10);",
    "emitter.on('data', async (d) => { try { await x(d); } catch (e) { log(e); } });",
    "emitter.on('data', async (d) => { log(d); });",
    "if (await isAllowed()) { y(); }",
    "if (isOpen()) { y(); }",
    "new Promise((resolve) => { y(resolve); });",
]


@pytest.mark.parametrize("statement", FLAGGED)
def test_async_functions_that_nobody_waits_for_are_marked(statement):
    source = f"async function isAllowed() {{ return x(); }}\nasync function f(items) {{\n{statement}\n}}"
    assert lines_of(RULE, source, "typescript") == [3]


@pytest.mark.parametrize("statement", FINE)
def test_awaited_and_guarded_ones_are_fine(statement):
    source = f"async function isAllowed() {{ return x(); }}\nasync function f(items) {{\n{statement}\n}}"
    assert lines_of(RULE, source, "typescript") == []


def test_express_handlers_are_less_certain_because_version_5_takes_rejections():
    source = (
        "import express from 'express';\nconst app = express();\napp.get('/x', async (req, res) => { await y(); });\n"
    )
    assert [(mark.line, mark.confidence) for mark in marks_of(RULE, source, "javascript")] == [(3, "medium")]
    assert lines_of(RULE, source.replace("express", "fastify"), "javascript") == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("items.reduce(async (sum, i) => { await add(i); return sum; }, 0);", 1),
        ("items.reduce(async (sum, i) => { const so = await sum; return so + (await add(i)); }, 0);", 0),
        ("items.reduce(async (last, i) => last.then(() => add(i)), start);", 0),
    ],
)
def test_an_accumulator_that_is_a_promise(body, count):
    assert len(lines_of(RULE, f"async function f(items, start) {{\n  {body}\n}}", "typescript")) == count


@pytest.mark.parametrize(("handler", "count"), [("log(e);", 0), ("throw e;", 1)])
def test_a_function_that_keeps_its_errors_gives_a_timer_none(handler, count):
    source = f"async function ask() {{ try {{ await get(); }} catch (e) {{ {handler} }} }}\n"
    timer = "setTimeout(async () => {\n  await ask();\n  again();\n}, 9);\n"
    assert len(lines_of(RULE, source + timer, "typescript")) == count


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("await Bluebird.reduce(items, async (all, i) => [...all, await x(i)], []);", 0),
        ("await BluebirdPromise.filter(items, async (i) => await ok(i));", 0),
        ("lodash.filter(items, async (i) => await ok(i));", 1),
        ("child.on('close', async (c) => { if (c) return reject(c); try { await x(); } catch (e) { y(e); } });", 0),
        ("child.on('close', async (c) => { if (c) return run(c); try { await x(); } catch (e) { y(e); } });", 1),
    ],
)
def test_libraries_that_wait_and_ways_out_that_tell_somebody(statement, count):
    source = f"import BluebirdPromise from 'bluebird';\nasync function f(items, reject) {{\n  {statement}\n}}"
    assert len(lines_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("receiver", "confidence"), [("process", ""), ("this.socket", ""), ("store", "medium")])
def test_whose_emitter_it_is_tells_whether_anybody_waits(receiver, confidence):
    source = (
        f"{receiver}.on('x', async () => {{\n  await work();\n}});\nsetTimeout(async () => {{ await work(); }}, 5);"
    )
    assert [mark.confidence for mark in marks_of(RULE, source, "typescript")] == [confidence, ""]


@pytest.mark.parametrize(("version", "count"), [("^4.21.2", 1), ("^5.2.1", 0), ("latest", 1)])
def test_express_5_takes_rejections(version, count):
    source = (
        "import express from 'express';\nconst app = express();\napp.get('/x', async (req, res) => { await y(); });\n"
    )
    files = {"api/package.json": f'{{"dependencies": {{"express": "{version}"}}}}', "api/src/a.ts": source}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("version", "count"), [("catalog:", 0), ("catalog:old", 1), ("catalog:gone", 1)])
def test_a_version_of_express_from_a_catalog_of_the_workspace(version, count):
    source = (
        "import express from 'express';\nconst app = express();\napp.get('/x', async (req, res) => { await y(); });\n"
    )
    catalogs = "catalog:\n  express: ^5.2.1\ncatalogs:\n  old:\n    express: ^4.21.0\n"
    files = {
        "pnpm-workspace.yaml": f"packages:\n  - 'api'\n{catalogs}",
        "api/package.json": f'{{"dependencies": {{"express": "{version}"}}}}',
        "api/src/a.ts": source,
    }
    assert len(findings_of(RULE, files)) == count


def test_a_kept_function_of_a_component_that_keeps_its_errors():
    handler = "try { await get(); return true; } catch { return %s; }"
    source = (
        f"function Page() {{\n  const load = useCallback(async () => {{ {handler} }}, []);\n"
        "  setInterval(async () => { await load(); }, 5);\n}"
    )
    assert lines_of(RULE, source % "false", "typescript") == []
    assert lines_of(RULE, source.replace("return %s", "throw new Error()"), "typescript") == [3]


@pytest.mark.parametrize(("answer", "count"), [("catch (e) { report(e); }", 0), ("finally { done(); }", 1)])
def test_what_is_awaited_keeps_its_errors_in_another_file(answer, count):
    other = f"export async function refresh() {{\n  try {{ await get(); }} {answer}\n}}\n"
    source = "import { refresh } from './a';\nfunction f() {\n  setInterval(async () => { await refresh(); }, 5);\n}\n"
    assert len(findings_of(RULE, {"src/a.ts": other, "src/b.ts": source})) == count


@pytest.mark.parametrize(("given", "count"), [(": Promise<Result<Beat>>", 0), (": Promise<Beat>", 1), ("", 1)])
def test_errors_that_come_as_results(given, count):
    other = f"export async function beat(id: string){given} {{\n  return send(id);\n}}\n"
    attempt = "try { await track(); } catch (e) { log(e); }"
    timer = f"setInterval(async () => {{ await beat('x'); {attempt} }}, 5);"
    source = f"import {{ beat }} from './a';\nfunction f() {{\n  {timer}\n}}\n"
    assert len(findings_of(RULE, {"src/a.ts": other, "src/b.ts": source})) == count


@pytest.mark.parametrize(("body", "count"), [("process.exit(1);", 0), ("await flush();", 1)])
def test_a_timer_that_awaits_what_waits_for_nothing(body, count):
    source = f"class A {{\n  async fail() {{ {body} }}\n"
    source += "  stop() {\n    setTimeout(async () => { await this.fail(); }, 9);\n  }\n}\n"
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("body", "count"), [("start(token);", 0), ("await start(token);", 1)])
def test_a_function_that_awaits_nothing_need_not_be_waited_for(body, count):
    source = f"tokens.forEach(async (token) => {{ {body} }});"
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("body", "count"), [("await bus.emit('on');", 0), ("await bus.emit('on'); await put(x);", 1)])
def test_an_emitter_gives_no_promise(body, count):
    source = f"client.on('message', async (x) => {{ {body} }});"
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("event", "severity"), [("change", "info"), ("message", "")])
def test_the_events_of_a_page(event, severity):
    source = f"field.on('{event}', async (x) => {{ await put(x); }});"
    assert [mark.severity for mark in marks_of(RULE, source, "typescript")] == [severity]


@pytest.mark.parametrize(("last", "count"), [("", 0), ("done();", 1)])
def test_handled_work_that_nothing_waits_for(last, count):
    source = "function f(files) {\n  files.forEach(async (x) => {\n    try {\n      await put(x);\n    } catch {\n"
    source += f"      fail(x);\n    }}\n  }});\n  {last}\n}}\n"
    assert len(marks_of(RULE, source, "typescript")) == count


def test_what_a_handler_answers_keeps_the_error():
    source = "import express from 'express';\nconst app = express();\napp.get('/x', async (req, res) => {\n  try {\n"
    source += "    await load(req);\n  } catch (e) {\n    return sendStatus(res, 500);\n  }\n});\n"
    assert marks_of(RULE, source, "typescript") == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("try { resolve(await put(x)); } catch (e) { reject(e); }", 0),
        ("try { resolve(await put(x)); } catch (e) { log(e); }", 1),
        ("resolve(await put(x));", 1),
    ],
)
def test_an_executor_that_rejects_by_hand(body, count):
    source = f"function f(x) {{\n  return new Promise(async (resolve, reject) => {{ {body} }});\n}}\n"
    assert len(marks_of(RULE, source, "typescript")) == count


def test_an_example_for_users():
    source = "rows.forEach(async (row) => {\n  await put(row);\n});\n"
    found = findings_of(RULE, {"examples/a.js": source, "src/a.js": source})
    assert {each.file: str(each.severity) for each in found} == {"examples/a.js": "info", "src/a.js": "warning"}


def test_the_console_of_a_page_shows_the_error():
    source = "socket.on('a', async (row) => {\n  await show(row);\n});\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/a.js": source}
    assert [(str(each.severity), str(each.confidence)) for each in findings_of(RULE, page)] == [("info", "low")]
    assert [str(each.severity) for each in findings_of(RULE, {"src/a.js": source})] == ["warning"]


def test_a_page_by_what_its_code_uses():
    source = "setTimeout(async () => {\n  await show(row);\n%s}, 100);\n"
    assert [str(each.severity) for each in findings_of(RULE, {"src/a.js": source % "  document.title = 'a';\n"})] == [
        "info"
    ]
    assert [str(each.severity) for each in findings_of(RULE, {"src/a.js": source % ""})] == ["warning"]


EXPRESS = {"package.json": '{"dependencies": {"express": "4.18.0"}}'}


@pytest.mark.parametrize(
    ("made", "count"),
    [("Router()", 1), ("express()", 1), ("express.Router()", 1), ("new Map()", 0), ("PromiseRouter()", 0)],
)
def test_routers_of_express_by_what_made_them(made, count):
    head = 'import express, { Router } from "express";\nimport PromiseRouter from "express-promise-router";\n'
    source = head.replace(head.split("\n")[1] + "\n", "" if "Promise" not in made else head.split("\n")[1] + "\n")
    source += f"export const orders: any = {made};\n"
    source += 'orders.get("/x", async (req, res) => {\n  res.json(await load(req));\n});\n'
    assert len(findings_of(RULE, EXPRESS | {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("body", "given", "count"),
    [
        ("await load(req); next();", "guard", 1),
        ("await load(req); next();", "[guard, show]", 1),
        ("await load(req); next();", "wrap(guard)", 0),
        ("try { await load(req); next(); } catch (e) { next(e); }", "guard", 0),
    ],
)
def test_handlers_that_a_route_is_given_by_name(body, given, count):
    source = (
        f'import express from "express";\nconst app = express();\nasync function guard(req, res, next) {{ {body} }}\n'
    )
    source += f'app.use("/x", {given});\n'
    assert len(findings_of(RULE, EXPRESS | {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("body", "libraries", "count"),
    [
        ("res.json(await load(req));", '"express": "4.18.0"', 1),
        ("res.json(await load(req));", '"express": "5.0.0"', 0),
        ("res.json(await load(req));", '"express": "4.18.0", "express-async-errors": "3.1.1"', 0),
        ("try { res.json(await load(req)); } catch (e) { next(e); }", '"express": "4.18.0"', 0),
        ("res.json(1);", '"express": "4.18.0"', 0),
    ],
)
def test_handlers_of_another_file(body, libraries, count):
    files = {
        "package.json": f'{{"dependencies": {{{libraries}}}}}',
        "src/orders.ts": f"export async function show(req, res, next) {{ {body} }}\n",
        "src/routes.ts": 'import { Router } from "express";\nimport * as orders from "./orders";\n'
        'const routes = Router();\nroutes.get("/x", orders.show);\n',
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("ends", "count"), [("await room.release();", 0), ("await tell(room);", 1)])
def test_what_a_handler_gives_back_in_the_end(ends, count):
    source = 'import express from "express";\nconst app = express();\n'
    source += "app.get('/x', async (req, res, next) => {\n  try { res.json(await load(req)); } catch (e) { next(e); }"
    source += f" finally {{ {ends} }}\n}});\n"
    assert len(findings_of(RULE, EXPRESS | {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("setInterval(async () => refresh(), 60_000);", 1),
        ("ids.forEach(async (id) => refresh(id));", 1),
        ("setTimeout(async () => fetch(url), 10);", 1),
        ("setInterval(async () => quiet(), 60_000);", 0),
        ("setTimeout(async () => setOpen(false), 10);", 0),
        ("await Promise.all(ids.map(async (id) => refresh(id)));", 0),
    ],
)
def test_an_async_function_that_only_gives_on_a_promise(call, count):
    files = {
        "src/jobs.ts": "export async function refresh(id?: number) { await load(id); }\n"
        "export async function quiet() { try { await load(); } catch (e) { log(e); } }\n",
        "src/start.ts": 'import { quiet, refresh } from "./jobs";\n'
        f"export async function start(ids) {{\n  {call}\n}}\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("package", "count"),
    [
        ("const wrap = require('async-express-decorator');", 0),
        ("import wrap from 'express-promise-router';", 0),
        ("", 1),
    ],
)
def test_a_router_that_the_project_makes_with_a_package_that_wraps_handlers(package, count):
    files = EXPRESS | {
        "src/async.router.ts": f"{package}\nimport {{ Router }} from 'express';\n"
        "export function asyncRouter() {\n  return wrap(Router());\n}\n",
        "src/orders.ts": "import { asyncRouter } from './async.router';\nimport { Request } from 'express';\n"
        "const router = asyncRouter();\nrouter.get('/x', async (req, res) => { res.json(await load()); });\n",
    }
    assert len(findings_of(RULE, files)) == count
