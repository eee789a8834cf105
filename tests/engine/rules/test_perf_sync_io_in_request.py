import pytest

from tests.engine.rules.reading import findings_of

RULE = "perf-sync-io-in-request"
HEAD = "import express from 'express';\nimport fs from 'fs';\nconst app = express();\n"


def test_in_a_handler_it_is_a_warning():
    source = HEAD + "app.get('/x', (req, res) => {\n  res.send(fs.readFileSync(a));\n});\n"
    (finding,) = findings_of(RULE, {"src/app.js": source})
    assert (finding.line, finding.severity, finding.confidence) == (5, "warning", "high")


def test_elsewhere_it_is_worth_knowing_only():
    source = HEAD + "export function read() {\n  return fs.readFileSync(a);\n}\n"
    assert [str(finding.severity) for finding in findings_of(RULE, {"src/store.js": source})] == ["info"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("src/store.js", "const text = fs.readFileSync(a);"),
        ("src/store.js", "export function loadConfig() { return fs.readFileSync(a); }"),
        ("scripts/store.js", "export function read() { return fs.readFileSync(a); }"),
        ("src/store.js", "export function read() { return own.readFileSync('a'); }"),
        ("src/store.js", "export class Store { constructor() { this.text = fs.readFileSync(a); } }"),
        ("src/store.js", "export function loadFiles() { return fs.readFileSync(a); }"),
        ("ui/bundle.cjs", "export function read() { return fs.readFileSync(a); }"),
        ("vite.config.js", "export function read() { return fs.readFileSync(a); }"),
    ],
)
def test_start_up_tools_and_namesakes_are_fine(path, body):
    assert findings_of(RULE, {path: HEAD + body}) == []


@pytest.mark.parametrize("call", ["fs.rmdirSync('a')", "zlib.unzipSync(b)", "crypto.hkdfSync('sha512', k, s, i, 64)"])
def test_every_synchronous_call_of_node_is_known(call):
    source = "import zlib from 'zlib';\nimport crypto from 'crypto';\n" + HEAD
    found = findings_of(RULE, {"src/app.js": source + f"app.get('/x', (req, res) => {{\n  res.send({call});\n}});\n"})
    assert [finding.line for finding in found] == [7]


@pytest.mark.parametrize(
    "server",
    [
        "http.createServer((req, res) => {\n  res.end(fs.readFileSync(a));\n});",
        "app.addHook('preHandler', async (request) => {\n  fs.statSync('a');\n});",
        "app.route({ method: 'GET', handler: async (request) => {\n  return fs.readFileSync(a);\n} });",
    ],
)
def test_servers_of_node_and_fastify(server):
    head = "import http from 'http';\nimport fastify from 'fastify';\nimport fs from 'fs';\nconst app = fastify();\n"
    assert [finding.severity for finding in findings_of(RULE, {"src/app.js": head + server})] == ["warning"]


def test_a_program_of_the_desktop_serves_one_user():
    source = (
        "import { app as desktop } from 'electron';\n"
        + HEAD
        + "export function read() {\n  return fs.readFileSync(a);\n}\n"
    )
    assert findings_of(RULE, {"desktop/main.js": source}) == []


def test_a_command_line_tool_has_no_requests():
    source = HEAD + "app.get('/x', (req, res) => {\n  res.send(show());\n});\n"
    below = "function show() {\n  return fs.readFileSync(a);\n}\n"
    assert findings_of(RULE, {"packages/cli/src/app.js": source + below}) == []


def test_below_the_handler_it_is_likely_only():
    source = HEAD + "app.get('/x', (req, res) => {\n  res.send(show());\n});\n"
    below = "function show() {\n  return fs.readFileSync(a);\n}\n"
    assert [str(finding.confidence) for finding in findings_of(RULE, {"src/app.js": source + below})] == ["medium"]


def test_synchronous_requests_of_a_page():
    source = "function load(url) {\n  const x = new XMLHttpRequest();\n  x.open('GET', url, %s);\n}\n"
    (finding,) = findings_of(RULE, {"src/page.js": source % "false"})
    assert (finding.line, finding.severity) == (3, "info")
    assert findings_of(RULE, {"src/page.js": source % "true"}) == []


def test_clients_of_other_servers_are_none():
    source = "import https from 'https';\nimport fs from 'fs';\nexport function read() { return fs.readFileSync(a); }\n"
    assert findings_of(RULE, {"src/store.js": source}) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if (!page) {\n    if (name) {\n      page = fs.readFileSync(a);\n    }\n  }", 0),
        ("if (page === undefined) page = fs.readFileSync(a);", 0),
        ("if (!page) {\n    res.send(fs.readFileSync(a));\n  }", 1),
        ("if (page) {\n    page = fs.readFileSync(a);\n  }", 1),
    ],
)
def test_what_is_read_once_and_kept_stops_one_request_only(body, count):
    source = HEAD + f"let page;\napp.get('/x', (req, res) => {{\n  {body}\n}});\n"
    assert len(findings_of(RULE, {"src/app.js": source})) == count


def test_what_is_called_a_loader_may_keep_what_it_reads():
    source = HEAD + "app.get('/x', (req, res) => {\n  res.send(loadPage());\n});\n"
    below = "function loadPage() {\n  return fs.readFileSync(a);\n}\n"
    assert [str(finding.confidence) for finding in findings_of(RULE, {"src/app.js": source + below})] == ["low"]


def test_call_backs_of_what_runs_at_the_start():
    source = (
        HEAD
        + "app.get('/x', (req, res) => res.send(''));\n"
        + "function {}() {{\n  files.forEach((file) => {{\n    fs.unlinkSync(file);\n  }});\n}}\n"
    )
    assert findings_of(RULE, {"src/app.js": source.format("setupPages")}) == []
    assert len(findings_of(RULE, {"src/app.js": source.format("clearPages")})) == 1


@pytest.mark.parametrize(
    ("path", "call", "told"),
    [
        ("src/app.js", "fs.readFileSync(a)", ("warning", "high")),
        ("src/app.js", "fs.readFileSync('VERSION', 'utf8')", ("info", "low")),
        ("src/app.js", "fs.existsSync(a)", ("info", "low")),
        ("server/setup.js", "fs.readFileSync(a)", ("info", "low")),
    ],
)
def test_what_is_short_or_runs_once_stops_few(path, call, told):
    source = HEAD + f"app.get('/x', (req, res) => {{\n  res.send({call});\n}});\n"
    assert [(str(each.severity), str(each.confidence)) for each in findings_of(RULE, {path: source})] == [told]


@pytest.mark.parametrize(("name", "count"), [("bootstrap", 0), ("render", 1)])
def test_what_boots_a_server_runs_once(name, count):
    source = "import { NestFactory } from '@nestjs/core';\nimport { readFileSync } from 'fs';\n"
    source += f"async function {name}() {{\n  const key = readFileSync(process.env.KEY);\n"
    source += f"  await NestFactory.create(App, {{ key }});\n}}\n{name}().catch(fail);\n"
    assert len(findings_of(RULE, {"src/server.ts": source})) == count


@pytest.mark.parametrize(("given", "count"), [("config: ConfigService<Settings, true>", 0), ("path: string", 1)])
def test_a_factory_that_the_container_of_nest_calls(given, count):
    source = (
        "import fs from 'fs';\nimport { ConfigService } from '@nestjs/config';\n"
        f"export const clientFactory = async ({given}) => {{\n  return new Client(fs.readFileSync(file()));\n}};\n"
    )
    assert len(findings_of(RULE, {"src/client.factory.ts": source})) == count


def test_what_puts_routes_into_a_server_runs_once():
    source = (
        "import { mkdirSync, writeFileSync } from 'node:fs';\nexport async function photos(app: FastifyInstance) {\n"
        "  mkdirSync('/var/photos', { recursive: true });\n"
        "  app.post<{ Body: Buffer }>('/photos/:name', async (request) => {\n"
        "    writeFileSync(request.params.name, request.body);\n  });\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/photos.ts": source})] == [5]
