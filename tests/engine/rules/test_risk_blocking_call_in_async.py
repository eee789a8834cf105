import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-blocking-call-in-async"


def coroutine(body, head=""):
    return f"{head}\nasync def load(url):\n    {body}\n"


FLAGGED = [
    ("time.sleep(1)", "import time"),
    ("sleep(1)", "from time import sleep"),
    ("requests.get(url, timeout=3)", "import requests"),
    ("open(url)", ""),
    ("subprocess.run(url)", "import subprocess"),
    ("os.system(url)", "import os"),
    ("os.spawnlp(0, url)", "import os"),
    ("Path(url).read_text()", "from pathlib import Path"),
    ("answer = input()", ""),
    ("with httpx.Client() as c: c.get(url)", "import httpx"),
    ("s = requests.Session(); s.get(url)", "import requests"),
]
FINE = [
    ("await asyncio.sleep(1)", "import asyncio"),
    ("await asyncio.to_thread(time.sleep, 1)", "import asyncio, time"),
    ("await loop.run_in_executor(None, lambda: open(url))", ""),
    ("await open(url)", "from aiofiles import open"),
    ("await anyio.Path(url).read_text()", "import anyio"),
    ("client.get(url)", ""),
    ("run = subprocess.run", "import subprocess"),
    ("sleep(1)", "from trio import sleep"),
    ("cache.open(url)", ""),
]


@pytest.mark.parametrize(("body", "head"), FLAGGED)
def test_a_blocking_call_in_a_coroutine_is_marked_at_its_line(body, head):
    assert lines_of(RULE, coroutine(body, head)) == [3]


@pytest.mark.parametrize(("body", "head"), FINE)
def test_awaited_and_handed_over_calls_are_fine(body, head):
    assert findings_of(RULE, {"shop/a.py": coroutine(body, head)}) == []


def test_a_function_inside_the_coroutine_runs_elsewhere():
    source = "import time\nasync def f():\n    def g():\n        time.sleep(1)\n    await run(g)\n"
    assert lines_of(RULE, source) == []


def test_a_sync_function_may_block():
    assert lines_of(RULE, "import time\ndef f():\n    time.sleep(1)\n") == []


def test_a_client_that_a_parameter_is_annotated_with_counts():
    (mark,) = marks_of(RULE, "import requests\nasync def f(s: requests.Session):\n    s.post('u')\n")
    assert mark.message == "`requests.Session.post` blocks the event loop inside `f`"


def test_a_name_that_the_file_defines_itself_is_not_the_builtin():
    assert lines_of(RULE, "def open(x): ...\nasync def f():\n    open(1)\n") == []


def test_in_a_handler_it_is_critical():
    handler = "import time\n@app.get('/x')\nasync def show():\n    time.sleep(1)\n"
    (finding,) = findings_of(RULE, {"app/views.py": handler})
    assert (finding.severity, finding.line, finding.function) == ("critical", 4, "show")
    (elsewhere,) = findings_of(RULE, {"app/jobs.py": handler.replace("@app.get('/x')\n", "")})
    assert elsewhere.severity == "warning"


def test_a_plain_function_that_blocks_is_told_where_a_coroutine_calls_it():
    helper = "import time\n\n\ndef rest():\n    time.sleep(1)\n\n\n"
    assert [(each.line, each.confidence) for each in marks_of(RULE, helper + "async def f():\n    rest()\n")] == [
        (9, "medium")
    ]
    assert marks_of(RULE, helper + "async def f():\n    await asyncio.to_thread(rest)\n") == []
    assert marks_of(RULE, helper + "def f():\n    rest()\n") == []
    assert marks_of(RULE, helper.replace("def rest", "@in_thread\ndef rest") + "async def f():\n    rest()\n") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("Order.objects.get(pk=1)", [2]),
        ("await Order.objects.aget(pk=1)", []),
        ("await sync_to_async(Order.objects.get)(pk=1)", []),
    ],
)
def test_queries_of_django(body, lines):
    assert lines_of(RULE, f"async def f():\n    row = {body}\n") == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import threading\nlock = threading.Lock()\nasync def f():\n    lock.acquire()\n", [4]),
        ("import asyncio\nlock = asyncio.Lock()\nasync def f():\n    await lock.acquire()\n", []),
        (
            "import requests\nclass A:\n    def __init__(self):\n        self.http = requests.Session()\n"
            "    async def f(self):\n        return self.http.get('u', timeout=5)\n",
            [6],
        ),
        (
            "import httpx\nclass A:\n    def __init__(self):\n        self.http = httpx.AsyncClient()\n"
            "    async def f(self):\n        return await self.http.get('u')\n",
            [],
        ),
        ("async def f(pool):\n    job = pool.submit(work)\n    return job.result()\n", [3]),
        ("async def f(job):\n    return job.result()\n", []),
    ],
)
def test_what_the_file_or_the_object_holds(source, lines):
    assert lines_of(RULE, source) == lines


def test_a_plain_function_of_another_file_that_blocks():
    rates = (
        "import requests\n\n\ndef rate(code):\n    return requests.get(code, timeout=2)\n\n\n"
        "def twice(x):\n    return x * 2\n"
    )
    views = """from shop import rates


async def show(code):
    kept = rates.twice(2)
    return await asyncio.to_thread(rates.rate, code), rates.rate(code)
"""
    assert findings_of(RULE, {"shop/rates.py": rates, "shop/views.py": views}) == []
    plain = views.replace("await asyncio.to_thread(rates.rate, code), ", "")
    assert [each.line for each in findings_of(RULE, {"shop/rates.py": rates, "shop/views.py": plain})] == [6]
    coroutine = rates.replace("def rate", "async def rate")
    found = findings_of(RULE, {"shop/rates.py": coroutine, "shop/views.py": plain})
    assert [each.file for each in found] == ["shop/rates.py"]


def test_a_save_of_what_is_no_model_is_no_query():
    source = (
        "from django.db import models\nasync def f(image, path):\n    Thumbnails.save(path)\n    Thumbnails.get(path)\n"
    )
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize(
    ("head", "call", "count"),
    [
        ("def load(u):", "load(u)", 1),
        ("async def load(u):", "load(u)", 0),
        ("@in_thread\ndef load(u):", "load(u)", 0),
        ("def load(u):", "await to_thread(load, u)", 0),
        ("def load(u):", "await run(lambda: load(u))", 0),
    ],
)
def test_one_level_deep_in_another_file(head, call, count):
    files = {
        "shop/client.py": f"import requests\n{head}\n    return requests.get(u, timeout=3)\n",
        "shop/api.py": f"from shop.client import load\n\n\nasync def show(u):\n    return {call}\n",
    }
    found = [each for each in findings_of(RULE, files) if each.file == "shop/api.py"]
    assert [(each.line, each.confidence) for each in found] == [(5, "medium")] * count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("await (\n        Order.objects.filter(\n            id=1,\n        )\n        .aupdate(a=2)\n    )", 0),
        ("found = await sync_to_async(\n        lambda: Order.objects.filter(id=1).first(),\n    )()", 0),
        ("found = Order.objects.filter(id=1).first()", 1),
    ],
)
def test_queries_that_are_awaited_on_another_line(body, count):
    models = "from django.db import models\nclass Order(models.Model):\n    a = models.IntegerField()\n"
    source = f"from shop.models import Order\nasync def show():\n    {body}\n"
    found = findings_of(RULE, {"shop/models.py": models, "shop/views.py": source})
    assert len(found) == count


@pytest.mark.parametrize(
    ("decorator", "count"), [("from pants.engine.rules import rule", 0), ("from web import rule", 1)]
)
def test_a_rule_of_a_build_has_a_thread_of_its_own(decorator, count):
    source = f"{decorator}\n\n\n@rule(desc='Read it')\nasync def read():\n"
    source += "    with open('a') as file:\n        return file.read()\n"
    assert len(marks_of(RULE, source, "python")) == count


@pytest.mark.parametrize(
    ("path", "head", "told"),
    [
        ("shop/a.py", "async def lifespan(app):", []),
        ("shop/a.py", "@app.on_event('startup')\nasync def read():", []),
        ("shop/a.py", "async def shutdown(app):", []),
        ("shop/a.py", "@app.post('/shutdown')\nasync def shutdown():", [("critical", "high")]),
        ("shop/a.py", "async def main():", [("info", "low")]),
        ("scripts/a.py", "async def read():", [("info", "low")]),
        ("shop/a.py", "async def read():", [("warning", "high")]),
    ],
)
def test_where_nobody_else_waits(path, head, told):
    found = findings_of(RULE, {path: f"import time\n{head}\n    time.sleep(1)\n"})
    assert [(str(each.severity), str(each.confidence)) for each in found] == told


@pytest.mark.parametrize(
    ("head", "body", "count"),
    [("import click", "", 0), ("import shop", "print('Sure?')\n    ", 0), ("import shop", "", 1)],
)
def test_a_dialog_at_a_terminal(head, body, count):
    found = findings_of(RULE, {"shop/a.py": f"{head}\nasync def ask():\n    {body}answer = input()\n"})
    assert [str(each.confidence) for each in found] == ["low"] * count


@pytest.mark.parametrize(
    ("route", "expected"), [("@app.get('/')\n", [("critical", "medium")]), ("", [("warning", "low")])]
)
def test_a_plain_function_that_opens_a_file(route, expected):
    source = "from fastapi import FastAPI\napp = FastAPI()\n"
    source += "def read(name):\n    with open(name) as rows:\n        return rows.read()\n\n"
    source += f"{route}async def show(name):\n    return read(name)\n"
    found = findings_of(RULE, {"shop/a.py": source})
    assert [(str(each.severity), str(each.confidence)) for each in found] == expected
    threaded = source.replace("return read(name)", "return await asyncio.to_thread(read, name)")
    assert findings_of(RULE, {"shop/a.py": threaded}) == []


@pytest.mark.parametrize(
    ("helper", "confidences"),
    [
        ("return Path(name).read_text()", ["low"]),
        ("place = Path(name)\n    return place.read_text()", ["low"]),
        ("return requests.Session().get(name)", ["medium"]),
        ("return Path(name).exists()", []),
        ("with LOCK:\n        LOCK.acquire()", []),
    ],
)
def test_what_a_plain_function_of_the_file_does_on_an_object_it_made(helper, confidences):
    source = "import requests\nfrom pathlib import Path\nfrom threading import Lock\nLOCK = Lock()\n\n\n"
    source += f"def read(name):\n    {helper}\n\n\nasync def load(name):\n    return read(name)\n\n\n"
    source += "async def aside(name):\n    return await asyncio.to_thread(read, name)\n"
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/a.py": source})] == confidences


@pytest.mark.parametrize(
    ("helper", "count"), [("Path(name).read_text()", 1), ("Path(name).exists()", 0), ("Other(name).read_text()", 0)]
)
def test_what_a_plain_function_of_another_file_does_on_an_object_it_made(helper, count):
    files = {
        "shop/texts.py": f"from pathlib import Path\n\n\ndef read(name):\n    return {helper}\n",
        "shop/work.py": "from shop import texts\n\n\nasync def load(name):\n    return texts.read(name)\n",
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("(ROOT / 'a.html').read_text()", 1),
        ("(Path('a') / name).read_bytes()", 1),
        ("(self.out / name).write_text(text)", 1),
        ("target = self.out / name\n        target.write_text(text)", 1),
        ("ROOT.parent.joinpath(name).read_text()", 1),
        ("Path(name).resolve().read_text()", 1),
        ("await asyncio.to_thread((ROOT / name).read_text)", 0),
        ("(name / 2).write_text(text)", 0),
        ("(self.sheets / name).read_text()", 0),
        ("(self.out - name).read_text()", 0),
    ],
)
def test_paths_that_are_joined_from_others(body, count):
    source = "import asyncio\nfrom pathlib import Path\nROOT = Path(__file__).parent / 'texts'\n\n\nclass Texts:\n"
    source += "    def __init__(self, out: Path, sheets):\n        self.out = out\n        self.sheets = sheets\n\n"
    source += f"    async def load(self, name, text):\n        {body}\n"
    assert len(marks_of(RULE, source)) == count


@pytest.mark.parametrize("connect", ["psycopg.connect", "psycopg2.connect", "MySQLdb.connect", "pyodbc.connect"])
def test_drivers_that_wait_for_the_database(connect):
    head = f"import {connect.partition('.')[0]}"
    body = f"link = {connect}(url)\n    link.execute('SELECT 1')"
    assert lines_of(RULE, coroutine(body, head)) == [3, 4]


@pytest.mark.parametrize(("gives", "count"), [("Path", 1), ("Store", 0)])
def test_a_path_that_a_function_of_the_file_gives(gives, count):
    source = f"from pathlib import Path\nfrom harbour import Store\n\n\ndef target(name: str) -> {gives}:\n"
    source += "    return ROOTS[name]\n\n\nasync def keep(name, data):\n    place = target(name)\n"
    source += "    place.write_bytes(data)\n"
    assert lines_of(RULE, source) == [11] * count


@pytest.mark.parametrize(
    ("opened", "call", "lines"),
    [
        ("socket.create_connection((host, 80), timeout=2)", "link.recv(64)", [3, 4]),
        ("await asyncio.open_connection(host, 80)", "link.recv(64)", []),
        ("socket.create_connection((host, 80), timeout=2)", "link.fileno()", [3]),
    ],
)
def test_a_socket_that_is_opened_in_the_coroutine(opened, call, lines):
    source = f"import asyncio, socket\nasync def probe(host):\n    with {opened} as link:\n        return {call}\n"
    assert lines_of(RULE, source) == lines
