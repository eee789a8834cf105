import pytest

from analysis.engine.extract import extract
from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-http-no-timeout"


def marks(source, language="python"):
    return [mark for mark in extract(source.encode(), language).marks if mark.rule == "risk-http-no-timeout"]


PYTHON_FLAGGED = [
    "import requests\nrequests.get(url)",
    "import requests as r\nr.post(url, json={}, timeout=None)",
    "from requests import get as fetch\nfetch(url)",
    "import requests\nrequests.Session().get(url)",
    "from urllib.request import urlopen\nurlopen(url)",
    "import httpx\nhttpx.Client(timeout=None)",
]
PYTHON_FINE = [
    "import requests\nrequests.get(url, timeout=3)",
    "import requests\nrequests.get(url, **options)",
    "import httpx\nhttpx.get(url)",
    "requests = {}\nrequests.pop(url)",
    "cache.get(url)",
    "from urllib.request import urlopen\nurlopen(url, None, 3)",
]


@pytest.mark.parametrize("source", PYTHON_FLAGGED)
def test_python_calls_without_a_limit_are_marked(source):
    assert [mark.line for mark in marks(source, "python")] == [2]


@pytest.mark.parametrize("source", PYTHON_FINE)
def test_python_calls_with_a_limit_are_fine(source):
    assert marks(source, "python") == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("await fetch(url);", [1]),
        ("await fetch(url, { method: 'POST' });", [1]),
        ("import axios from 'axios';\naxios.get(url);", [2]),
        ("import axios from 'axios';\naxios.post(url, data, { headers });", [2]),
        ("await fetch(url, { signal });", []),
        ("await fetch(url, options);", []),
        ("await fetch(url, { ...options });", []),
        ("import axios from 'axios';\naxios.post(url, data, { timeout: 3 });", []),
        ("'use client';\nfetch(url);", []),
        ("function fetch(x) {}\nfetch(url);", []),
        ("api.get(url);", []),
    ],
)
def test_script(source, lines):
    assert [mark.line for mark in marks(source, "typescript")] == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("var c = HttpClient.newHttpClient();", [5]),
        ("new URL(u).openStream();", [5]),
        ("var t = new RestTemplate();", [5]),
        ("var c = HttpClient.newHttpClient(); request.timeout(limit);", []),
        ("var t = new RestTemplate(factory);", []),
    ],
)
def test_java(body, lines):
    head = (
        "import java.net.http.HttpClient;\nimport java.net.URL;\n"
        "import org.springframework.web.client.RestTemplate;\nclass A { void f(String u) {\n"
    )
    assert [mark.line for mark in marks(head + body + " } }", "java")] == lines


def test_go():
    source = 'package a\nimport "net/http"\nfunc f(u string) {\nhttp.Get(u)\n}\n'
    assert [mark.line for mark in marks(source, "go")] == [4]
    assert marks(source.replace("http.Get(u)", "client.Get(u)"), "go") == []
    assert marks(source.replace("http.Get(u)", "c := &http.Client{Timeout: t}"), "go") == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("s = requests.Session()\ns.get(u)", [3]),
        ("with requests.Session() as s:\n    s.get(u)", [3]),
        ("s = requests.Session()\ns.get(u, timeout=3)", []),
        ("s = requests.Session()\ns.mount('https://', Limited())\ns.get(u)", []),
        ("s = requests.Session()\nt = requests.Session()\nt.mount('https://', Limited())\ns.get(u)", [5]),
        ("s = requests.Session()\nt = requests.Session()\nt.mount('https://', Limited())\nt.get(u)", []),
        ("s = requests.Session()\ndef f(t):\n    t.mount('https://', Limited())\ns.get(u)", []),
        ("client = make()\nclient.get(u)", []),
        (
            "def f():\n    with requests.Session() as s:\n        s.get(u)\n"
            "async def g():\n    async with aiohttp.ClientSession() as s:\n        await s.get(u)",
            [4],
        ),
        (
            "class A:\n    def __init__(self):\n        self.session = requests.Session()\n    def f(self):\n"
            "        self.session.post(u)",
            [6],
        ),
    ],
)
def test_sessions_have_no_limit_of_their_own(body, lines):
    assert lines_of(RULE, "import requests\n" + body, "python") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("import axios from 'axios';\nconst client = axios.create({ baseURL });", [2]),
        ("import axios from 'axios';\nconst client = axios.create({ baseURL, timeout: 5000 });", []),
        ("import https from 'https';\nhttps.get('https://a.example', done);", [2]),
        ("import https from 'https';\nhttps.get('https://a.example', { timeout: 5000 }, done);", []),
    ],
)
def test_clients_of_node(body, lines):
    assert lines_of(RULE, body, "typescript") == lines


def test_code_of_a_page_has_the_limits_of_the_browser():
    source = "export const load = (id: string) => fetch(`https://api.example.org/${id}`);\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/load.ts": source}
    server = {"api/package.json": '{"dependencies": {"express": "5"}}', "api/src/load.ts": source}
    assert findings_of(RULE, page) == []
    assert len(findings_of(RULE, server)) == 1


def test_java_connections():
    source = "import java.net.URL;\nclass A { void f(URL url) throws Exception {\nvar c = url.openConnection();\n%s} }"
    assert lines_of(RULE, source % "", "java") == [3]
    assert lines_of(RULE, source % "c.setConnectTimeout(5);\n", "java") == []


def test_in_a_script_it_is_worth_knowing_only():
    source = "import requests\nrequests.get('https://a.example')\n"
    assert [each.severity for each in findings_of(RULE, {"scripts/a.py": source})] == ["info"]


def test_java_imports_whole_packages_too():
    source = "import java.net.http.*;\nclass A {\nHttpClient a = HttpClient.newHttpClient();\n%s}"
    assert lines_of(RULE, source % "HttpClient b = HttpClient.newBuilder().build();\n", "java") == [3, 4]
    assert lines_of(RULE, source % "HttpRequest r = builder.timeout(LIMIT).build();\n", "java") == []


def test_a_session_has_any_name():
    source = "import requests\ndef f(u):\n    with requests.Session() as t:\n        t.put(u)\n"
    assert lines_of(RULE, source) == [4]


def test_an_address_without_a_host_is_asked_by_a_browser():
    assert lines_of(RULE, 'export const f = () => fetch("/api/orders");', "typescript") == []


def test_folders_of_pages_are_left_alone():
    source = 'export const f = () => fetch("https://api.example.org");'
    assert findings_of(RULE, {"src/components/orders.ts": source}) == []


def test_an_instance_that_is_called_http_is_none_of_node():
    made = 'import axios from "axios";\nconst http = axios.create({ timeout: 5000 });\n'
    assert lines_of(RULE, made + "export const f = (id: string) => http.get(id);", "typescript") == []
    assert lines_of(RULE, 'import http from "http";\nexport const f = (id: string) => http.get(id);', "typescript") == [
        2
    ]


def test_a_limit_in_another_function_is_none_of_a_local_client():
    java = """import java.net.http.*;
class A {
  void f() {
    HttpClient client = HttpClient.newHttpClient();
    client.send(request, handler);
  }
  void g() {
    HttpRequest request = HttpRequest.newBuilder(uri).timeout(SHORT).build();
  }
}
"""
    go = 'package a\nimport "net/http"\nfunc f() {\n\tclient := &http.Client{}\n\tclient.Get(u)\n}\n'
    assert lines_of(RULE, java, "java") == [4]
    assert lines_of(RULE, go + "func g() {\n\thttp.NewRequestWithContext(ctx, a, b, nil)\n}\n", "go") == [4]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("return url.openConnection();", 0),
        ("URLConnection c = A.class.getResource(name).openConnection();", 0),
        ("URLConnection c = url.openConnection();", 1),
        ("this.client = PatientHttpClient.newBuilder(executor).build();", 0),
        ("this.client = HttpClient.newBuilder().build();", 1),
    ],
)
def test_connections_given_away_and_clients_of_another_name(line, count):
    head = "import java.net.*;\nimport java.net.http.HttpClient;\nclass A {\nvoid f(URL url) {\n"
    assert len(lines_of(RULE, f"{head}{line}\n}} }}", "java")) == count


def test_a_component_that_is_awaited_runs_on_the_server():
    source = (
        "export default async function Page() {\n  const rows = await fetch('https://a.example/rows');\n"
        "  return <b/>;\n}\n"
    )
    assert lines_of(RULE, source, "tsx") == [2]
    assert lines_of(RULE, "'use client';\n" + source, "tsx") == []
    assert lines_of(RULE, source.replace("default async", "async"), "tsx") == []


def test_a_folder_of_a_page_that_is_called_api():
    source = "export async function load(id: string) {\n  return fetch(`${base()}/items/${id}`);\n}\n"
    page = {"web/package.json": '{"dependencies": {"react": "19"}}', "web/src/api/items.ts": source}
    server = {"web/package.json": '{"dependencies": {"react": "19", "next": "15"}}', "web/src/api/items.ts": source}
    assert findings_of(RULE, page) == []
    assert len(findings_of(RULE, server)) == 1


@pytest.mark.parametrize(("imported", "count"), [('"syscall/js"', 0), ('"log"', 1)])
def test_go_in_a_browser(imported, count):
    source = f'package a\nimport ("net/http"; {imported})\nvar client = &http.Client{{}}\n'
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("limit", "count"), [("ResponseHeaderTimeout: limit", 0), ("IdleConnTimeout: limit", 1)])
def test_a_transport_that_limits_the_answer(limit, count):
    body = f"t := &http.Transport{{{limit}}}\n\tc := &http.Client{{Transport: t}}"
    source = f'package a\nimport "net/http"\nfunc f() *http.Client {{\n\t{body}\n\treturn c\n}}\n'
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("start", "severity"), [("go func() {", "warning"), ("func() {", "critical")])
def test_nobody_waits_for_a_goroutine(start, severity):
    source = 'package a\nimport "net/http"\nfunc handle(w http.ResponseWriter, r *http.Request) {\n'
    source += f'\t{start}\n\t\thttp.Get("https://a.example")\n\t}}()\n}}\n'
    assert [str(each.severity) for each in findings_of(RULE, {"shop/a.go": source})] == [severity]


@pytest.mark.parametrize(("call", "severity"), [("fetch(url)", "warning"), ("axios.get(url)", "critical")])
def test_fetch_of_node_gives_up_by_itself_after_minutes(call, severity):
    head = "import axios from 'axios';\nimport express from 'express';\nconst app = express();\n"
    source = f"{head}app.get('/rates', async (req, res) => {{\n  res.send(await {call});\n}});\n"
    assert [str(each.severity) for each in findings_of(RULE, {"src/a.ts": source})] == [severity]


@pytest.mark.parametrize(("options", "count"), [("WebsocketOptions", 0), ("Options", 1)])
def test_the_client_of_a_web_socket(options, count):
    source = 'package a\nimport "net/http"\nfunc f() {\n\tdial(graphql.%s{\n\t\tHTTPClient: &http.Client{},\n\t})\n}\n'
    assert len(marks_of(RULE, source % options, "go")) == count


def test_the_part_of_a_module_that_is_run_by_hand():
    source = "import requests\n\n\ndef load():\n    return requests.get('https://a.example')\n\n\n"
    source += "if __name__ == '__main__':\n    print(requests.get('https://b.example'))\n"
    found = {each.line: str(each.severity) for each in findings_of(RULE, {"shop/a.py": source})}
    assert found == {5: "warning", 9: "info"}


@pytest.mark.parametrize(("made", "confidence"), [("newTransport(ctx)", "low"), ("&http.Transport{}", "medium")])
def test_a_transport_that_is_made_elsewhere(made, confidence):
    source = f'package a\nimport "net/http"\nvar client = &http.Client{{Transport: {made}}}\n'
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(("line", "count"), [("requestAnimationFrame(show);", 0), ("show();", 1)])
def test_code_of_a_page_by_what_it_uses(line, count):
    source = f"export async function load() {{\n  {line}\n  return fetch('https://a.example');\n}}\n"
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("package", "confidence"), [("main", "medium"), ("shop", "high")])
def test_a_program_of_its_own(package, confidence):
    source = f'package {package}\nimport "net/http"\nfunc load(u string) {{\n'
    source += "\tres, err := http.Get(u)\n\tuse(res, err)\n}\n"
    assert [str(each.confidence) for each in findings_of(RULE, {"a/a.go": source})] == [confidence]


@pytest.mark.parametrize(
    ("address", "confidence"), [("f'http://127.0.0.1:{port}/a'", "low"), ("'http://shop/a'", "high")]
)
def test_a_server_of_this_machine(address, confidence):
    source = f"import requests\ndef load(port):\n    url = {address}\n    return requests.get(url)\n"
    assert [str(each.confidence) for each in findings_of(RULE, {"shop/a.py": source})] == [confidence]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (
            "async def f(c: aiohttp.ClientSession):\n    await c.get(u, timeout=aiohttp.ClientTimeout(total=None))",
            [3],
        ),
        (
            "async def f(http: aiohttp.ClientSession):\n    await http.get(u, timeout=aiohttp.ClientTimeout(total=5))",
            [],
        ),
        ("async def f(http: aiohttp.ClientSession):\n    await http.get(u)", []),
        ("async def f(store: Store):\n    await store.get(u, timeout=None)", []),
        ("def f():\n    with httpx.Client() as c:\n        return c.post(u, timeout=None)", [4]),
        (
            "class A:\n    def __init__(self):\n        self.c = httpx.Client()\n    def f(self):\n"
            "        self.c.get(u, timeout=None)",
            [6],
        ),
    ],
)
def test_a_call_that_lifts_the_limit_of_its_client(source, lines):
    assert lines_of(RULE, f"import aiohttp, httpx\n{source}\n") == lines


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("URL u = new URL(a); return u.openStream();", [""]),
        ("URL u = make(a).toURL(); return new Reader(u.openStream());", [""]),
        ("URL u = path.toUri().toURL(); return u.openStream();", []),
        ("URL u = A.class.getResource(a); return u.openStream();", []),
        ("return this.feed.openStream();", ["low"]),
        ("return store.openStream();", []),
    ],
)
def test_streams_of_a_url(body, confidences):
    source = f"import java.net.URL;\nclass A {{\nprivate URL feed;\nObject f(String a) {{ {body} }}\n}}"
    assert [mark.confidence for mark in marks_of(RULE, source, "java")] == confidences


def test_a_template_that_is_given_back_beside_a_limited_one():
    source = (
        "import org.springframework.web.client.RestTemplate;\nclass A {\n"
        "RestTemplate slow() { return new RestTemplate(); }\n"
        "RestTemplate quick(RestTemplateBuilder b) { return b.setReadTimeout(LIMIT).build(); }\n}"
    )
    assert lines_of(RULE, source, "java") == [3]


@pytest.mark.parametrize(("limit", "count"), [("", 1), (".timeout(LIMIT)", 0)])
def test_a_client_that_is_used_up_beside_a_limited_request(limit, count):
    source = (
        "import java.net.http.*;\nclass A {\n"
        f"Object f(URI u) {{ return HttpClient.newHttpClient().send(HttpRequest.newBuilder(u){limit}.build(), b); }}\n"
        "Object g(URI u) { return client.send(HttpRequest.newBuilder(u).timeout(LIMIT).build(), b); }\n}"
    )
    assert len(lines_of(RULE, source, "java")) == count


def test_the_default_of_a_required_module_is_the_module():
    source = 'const axios = require("axios").default;\naxios.post(url, body);\n'
    assert lines_of(RULE, source, "javascript") == [2]


@pytest.mark.parametrize(("name", "count"), [("requestedResourceURL", 0), ("feedUrl", 1)])
def test_a_resource_comes_with_the_program(name, count):
    source = f"import java.net.URL;\nclass A {{ InputStream f(URL {name}) {{ return {name}.openStream(); }} }}"
    assert len(marks_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("made", "count"), [("file.toURI().toURL()", 0), ("new URL(name)", 1), ("urls.first()", 1)])
def test_a_file_that_makes_urls_of_files_reads_these(made, count):
    source = (
        "import java.net.URL;\nclass A {\nInputStream find(String name) { return f(%s); }\n"
        "InputStream f(URL found) { return found.openStream(); }\n}"
    )
    assert [each.confidence for each in marks_of(RULE, source % made, "java")] == ["low"] * count


@pytest.mark.parametrize(
    ("context", "confidence"), [("context.WithTimeout(ctx, limit)", "low"), ("context.WithCancel(ctx)", "medium")]
)
def test_each_request_may_have_a_deadline_of_its_own(context, confidence):
    source = (
        'package a\nimport ("context"; "net/http")\nvar client = &http.Client{}\n'
        f"func f(ctx context.Context) {{\n\tctx, cancel := {context}\n\tdefer cancel()\n\tload(ctx, client)\n}}\n"
    )
    assert [each.confidence for each in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(("total", "count"), [("None", 1), ("5", 0)])
def test_a_limit_that_is_kept_in_a_variable(total, count):
    source = (
        "import aiohttp\nasync def f(url):\n"
        f"    limits = aiohttp.ClientTimeout(total={total})\n"
        "    async with aiohttp.ClientSession(timeout=limits) as session:\n        return await session.get(url)\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return t.client.Post(u, kind, body)", 1),
        ("return t.client.Do(order)", 1),
        ("t.client.Timeout = limit\n\treturn t.client.Get(u)", 0),
    ],
)
def test_a_client_of_go_that_is_asked_by_methods_without_a_context(body, count):
    source = (
        'package a\nimport ("context"; "net/http")\nfunc New() *Till {\n\treturn &Till{client: &http.Client{}}\n}\n'
        f"func (t *Till) ask() (*http.Response, error) {{\n\t{body}\n}}\n"
        "func (t *Till) count() {\n\tctx, cancel := context.WithTimeout(ctx, limit)\n}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("asked", "count"), [("t.db.WithContext(ctx)", 1), ("order.WithContext(ctx)", 0)])
def test_a_context_for_the_database_limits_no_request(asked, count):
    source = (
        'package a\nimport "net/http"\nfunc New() *Till {\n\treturn &Till{client: &http.Client{}}\n}\n'
        f"func (t *Till) ask() {{\n\tuse({asked})\n}}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("def f():\n    w = Web()\n    return w.get(u)", ["high"]),
        ("def f(web: Web):\n    return web.get(u)", ["medium"]),
        ('def f(web: "Web | None" = None):\n    return web.get(u)', ["medium"]),
        (
            "class A:\n    def __init__(self, web: Web):\n        self._web = web\n    def f(self):\n"
            "        return self._web.post(u)",
            ["medium"],
        ),
        ("def f(web: Web):\n    return web.get(u, timeout=3)", []),
        ("def f(web: Web):\n    web.mount('https://', Limited())\n    return web.get(u)", []),
        ("def f(session: Session):\n    return session.get(u)", []),
        ("def f(session: Session):\n    session.delete(u)\ndef g(session: Web):\n    pass", []),
    ],
)
def test_sessions_by_the_name_that_they_are_imported_under_and_as_they_are_annotated(body, told):
    source = f"from requests.sessions import Session as Web\nfrom sqlalchemy.orm import Session\n{body}\n"
    assert [mark.confidence or "high" for mark in marks_of(RULE, source)] == told


GO_ASKS = """package a
import ("context"; "net/http")
func (s *S) Show(w http.ResponseWriter, r *http.Request) {
	%s
	s.ask(ctx)
}
func (s *S) ask(ctx context.Context) {
	req, err := http.NewRequestWithContext(%s, "GET", s.url, nil)
	resp, err := http.DefaultClient.Do(req)
}
"""


@pytest.mark.parametrize(
    ("before", "context", "confidences"),
    [
        ("ctx := r.Context()", "ctx", ["low"]),
        ("ctx, cancel := context.WithTimeout(r.Context(), time.Second)", "ctx", []),
        ("ctx := r.Context()", "context.Background()", ["high"]),
        ("h := http.TimeoutHandler(other, time.Second)", "ctx", []),
    ],
)
def test_a_context_that_brings_a_deadline_to_the_default_client_or_none(before, context, confidences):
    found = findings_of(RULE, {"a/a.go": GO_ASKS % (before, context)})
    assert [each.confidence for each in found] == confidences


def test_a_tool_hands_its_functions_what_its_user_waits_for():
    tool = GO_ASKS.replace("w http.ResponseWriter, r *http.Request", "").replace("r.Context()", "s.ctx")
    assert findings_of(RULE, {"a/a.go": tool % ("ctx := s.ctx", "ctx")}) == []


@pytest.mark.parametrize(
    ("client", "sent", "found"),
    [
        ("HttpClient web;", "web.send(HttpRequest.newBuilder(u).GET().build(), b)", [4]),
        ("HttpClient web;", "web.send(HttpRequest.newBuilder(u).timeout(LIMIT).build(), b)", []),
        ("HttpClient web;", "web.sendAsync(HttpRequest.newBuilder(u).build(), b).orTimeout(5, SECONDS)", []),
        ("HttpClient web;", "web.sendAsync(HttpRequest.newBuilder(u).build(), b).get(5, SECONDS)", []),
        ("HttpClient web;", "limited(HttpRequest.newBuilder(u))", []),
        # To connect in time says nothing of the answer.
        (
            "HttpClient web = HttpClient.newBuilder().connectTimeout(LIMIT).build();",
            "web.send(HttpRequest.newBuilder(u).build(), b)",
            [4],
        ),
        # One cause, told at the client.
        ("HttpClient web = HttpClient.newHttpClient();", "web.send(HttpRequest.newBuilder(u).build(), b)", [3]),
    ],
)
def test_requests_of_java_that_are_built_in_one_go(client, sent, found):
    source = f"import java.net.http.*;\nclass A {{\n{client}\nObject f(URI u) {{ return {sent}; }} }}"
    assert lines_of(RULE, source, "java") == found


@pytest.mark.parametrize(
    ("made", "call", "count"),
    [
        ("requests.Session()", 'link.get(f"{BASE}/quays")', 1),
        ("requests.Session()", "link.post(address, json=body)", 1),
        ("requests.Session()", 'link.get(f"{BASE}/quays", timeout=5)', 0),
        ("requests.Session()", 'link.get(f"{BASE}/quays", **options)', 0),
        ("httpx.Client()", 'link.get(f"{BASE}/quays")', 0),
        ("redis.Redis()", 'link.get("quays/all")', 0),
        ('requests.Session()\nlink.mount("https://", Limited())', 'link.get(f"{BASE}/quays")', 0),
    ],
)
def test_a_session_that_another_file_holds(made, call, count):
    files = {
        "harbour/links.py": f"import httpx\nimport redis\nimport requests\n\nlink = {made}\n",
        "harbour/quays.py": f"from harbour.links import link\n\n\ndef get(address, body, options): return {call}\n",
    }
    assert [(each.line, each.confidence) for each in findings_of(RULE, files)] == [(4, "medium")] * count


@pytest.mark.parametrize(("context", "lines"), [("context.Background()", [5]), ("context.TODO()", [5]), ("ctx", [])])
def test_a_client_that_is_asked_at_once(context, lines):
    source = (
        'package a\nimport ("context"; "net/http")\nfunc f(ctx context.Context, u string) error {\n'
        f"\tr, _ := http.NewRequestWithContext({context}, a, u, nil)\n"
        "\t_, err := (&http.Client{}).Do(r)\n\treturn err\n}\n"
        "func g(ctx context.Context) { http.NewRequestWithContext(ctx, a, b, nil) }\n"
    )
    assert lines_of(RULE, source, "go") == lines


@pytest.mark.parametrize(
    ("declared", "count"),
    [
        ("const fetch = (key) => rows.get(key);", 0),
        ("function fetch(key) {\n    return rows.get(key);\n  }", 0),
        ("const other = (key) => rows.get(key);", 1),
        ("class Rows {\n    fetch() {}\n  }", 1),
    ],
)
def test_a_function_of_that_name_inside_of_another_one(declared, count):
    source = f"export function store(rows) {{\n  {declared}\n  return (url) => fetch(url);\n}}\n"
    assert len(lines_of(RULE, source, "javascript")) == count


@pytest.mark.parametrize(
    ("options", "count"), [("{ headersTimeout: 2000, bodyTimeout: 9000 }", 0), ('{ method: "POST" }', 1)]
)
def test_limits_by_the_names_of_undici(options, count):
    source = f'const {{ request }} = require("undici");\nexport const f = (url) => request(url, {options});\n'
    assert len(lines_of(RULE, source, "javascript")) == count


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("import requests\ndef load(requests, url):\n    return requests.get(url)\n", "python", []),
        ("import requests\ndef load(url):\n    requests = fake()\n    return requests.get(url)\n", "python", []),
        ("from urllib.request import urlopen\ndef load(url, urlopen=None):\n    urlopen(url)\n", "python", []),
        ("import requests\ndef load(url, requests=requests):\n    return requests.get(url)\n", "python", [3]),
        ("import requests\ndef load(url, of):\n    put(requests, url)\n    return requests.get(url)\n", "python", [4]),
        ("export const load = async ({ fetch, url }) =>\n  fetch(url);\n", "javascript", []),
        ("export async function load(fetch: Fetch, url: string) {\n  return fetch(url);\n}\n", "typescript", []),
        ("export async function load(fetched: Fetch, url: string) {\n  return fetch(url);\n}\n", "typescript", [2]),
        ('package a\nimport "net/http"\nfunc load(http Client, u string) {\n\thttp.Get(u)\n}\n', "go", []),
        ('package a\nimport "net/http"\nfunc load(own Client, u string) {\n\thttp.Get(u)\n}\n', "go", [4]),
    ],
)
def test_a_parameter_or_variable_that_hides_the_library(source, language, lines):
    assert lines_of(RULE, source, language) == lines
