import pytest

from tests.engine.rules.reading import lines_of, marks_of

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
