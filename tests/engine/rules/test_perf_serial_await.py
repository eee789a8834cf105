import pytest

from tests.engine.rules.reading import findings_of, lines_of

RULE = "perf-serial-await"


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("for (const id of ids) {\nout.push(await api.load(id));\n}", [3]),
        ("for (const id of ids) {\nconst x = await api.load(id);\nuse(x);\n}", [3]),
        ("for (const id of ids) {\nif (await api.load(id)) break;\n}", []),
        ("for (const id of ids) {\nlastOne = await api.load(id);\n}", []),
        ("for (const id of ids) {\nawait sleep(10); await api.load(id);\n}", []),
        ("for await (const id of ids) {\nawait api.load(id);\n}", []),
        ("for (const id of ids) {\nawait tx.item.create(id);\n}", []),
        ("while (more()) {\nawait api.load(id);\n}", []),
        ("await Promise.all(ids.map((id) => api.load(id)));", []),
        ("for (const id of ids) {\njobs.push(async () => await api.load(id));\n}", []),
    ],
)
def test_script(body, lines):
    assert lines_of(RULE, f"async function f(ids, out, jobs, lastOne) {{\n{body}\n}}", "typescript") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("out.append(await load(x))", [3]),
        ("state = await load(state, x)", []),
        ("await asyncio.sleep(x)", []),
        ("await session.execute(x)", []),
    ],
)
def test_python(body, lines):
    assert lines_of(RULE, f"async def f(xs, out):\n    for x in xs:\n        {body}\n") == lines


def test_in_a_handler_it_is_a_warning():
    source = "@app.get('/x')\nasync def show(xs):\n    for x in xs:\n        await load(x)\n"
    assert [str(finding.severity) for finding in findings_of(RULE, {"app/views.py": source})] == ["warning"]
    source = source.replace("@app.get('/x')\n", "")
    assert [str(finding.severity) for finding in findings_of(RULE, {"app/views.py": source})] == ["info"]
