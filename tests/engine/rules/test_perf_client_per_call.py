import pytest

from tests.engine.rules.reading import findings_of

RULE = "perf-client-per-call"


def lines(path, source):
    return [finding.line for finding in findings_of(RULE, {path: source})]


def test_a_handler_that_builds_a_client_is_found():
    source = "import httpx\n@app.get('/x')\nasync def show():\n    client = httpx.AsyncClient()\n"
    assert lines("app/views.py", source) == [4]


def test_a_loop_that_builds_clients_is_found_anywhere():
    assert lines(
        "app/jobs.py", "import boto3\ndef send(xs):\n    for x in xs:\n        boto3.client('s3').put(x)\n"
    ) == [4]


def test_a_script_handler():
    source = (
        "import express from 'express';\nimport { PrismaClient } from '@prisma/client';\nconst app = express();\n"
        "app.get('/x', (req, res) => {\n  const db = new PrismaClient();\n});\n"
    )
    assert lines("src/app.ts", source) == [5]


@pytest.mark.parametrize(
    "source",
    [
        "import httpx\nclient = httpx.AsyncClient()\n",
        "import httpx\ndef make_client():\n    return httpx.AsyncClient()\n",
        "import httpx\nclass A:\n    def use(self):\n        self.client = httpx.AsyncClient()\n",
        "import httpx\nfrom functools import cache\n@cache\ndef shared():\n    return httpx.AsyncClient()\n",
        "import httpx\ndef once():\n    return httpx.AsyncClient()\n",
    ],
)
def test_shared_clients_and_factories_are_fine(source):
    assert lines("app/clients.py", source) == []


@pytest.mark.parametrize(
    ("built", "lines_found"),
    [
        ("client := &http.Client{Transport: &http.Transport{}}", [8]),
        ("client := &http.Client{Transport: &signed{base: http.DefaultTransport}}", []),
        ("client := &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}", [8]),
        ('page := template.Must(template.ParseFiles("a.html"))', [8]),
        ("client := &http.Client{Timeout: time.Second}", []),
    ],
)
def test_a_handler_of_go(built, lines_found):
    source = (
        'package a\nimport (\n\t"html/template"\n\t"net/http"\n)\n\n'
        f"func show(w http.ResponseWriter, r *http.Request) {{\n\t{built}\n}}\n"
    )
    assert lines("a.go", source) == lines_found


def test_as_many_as_are_wanted_when_the_program_starts():
    source = (
        "import java.util.concurrent.Executors;\nclass A {{\n  {above}\n  void up() {{\n"
        "    for (int i = 0; i < size; i++) {{\npools.add(Executors.newSingleThreadExecutor());\n    }}\n  }}\n}}\n"
    )
    assert lines("src/A.java", source.format(above="@PostConstruct")) == []
    assert lines("src/A.java", source.format(above="")) == [6]


def test_a_client_of_what_the_caller_gives_is_worth_knowing():
    source = "import httpx\n@app.get('/x')\nasync def show(token):\n    client = httpx.AsyncClient(auth=token)\n"
    (finding,) = findings_of(RULE, {"app/views.py": source})
    assert finding.severity == "info"


@pytest.mark.parametrize(
    ("given", "severity"),
    [
        ("{ host: settings.email.host }", "warning"),
        ("{ email: settings.address }", "warning"),
        ("{ host: email.host }", "info"),
        ("email", "info"),
    ],
)
def test_only_what_the_caller_gives_makes_it_one_of_each_caller(given, severity):
    source = (
        "import nodemailer from 'nodemailer';\nimport express from 'express';\nconst app = express();\n"
        f"function send(email) {{\n  return nodemailer.createTransport({given}).sendMail(1);\n}}\n"
        "app.get('/x', (req, res) => {\n  send(req.body);\n});\n"
    )
    (finding,) = findings_of(RULE, {"src/app.js": source})
    assert str(finding.severity) == severity


def test_how_often_a_constructor_of_java_runs_is_not_known():
    source = (
        "import java.util.concurrent.*;\n@RestController\nclass A {\n  ExecutorService pool;\n"
        "  A() {\n    pool = Executors.newSingleThreadExecutor();\n  }\n"
        '  @GetMapping("/x")\n  void show() {\n    new A();\n  }\n}\n'
    )
    assert [str(finding.confidence) for finding in findings_of(RULE, {"src/A.java": source})] in ([], ["medium"])


def test_below_the_handler_it_is_likely_only():
    source = (
        "import httpx\n@app.get('/x')\nasync def show():\n    return ask()\n\ndef ask():\n    return httpx.Client()\n"
    )
    assert [str(finding.confidence) for finding in findings_of(RULE, {"app/views.py": source})] == ["medium"]


@pytest.mark.parametrize(("name", "count"), [("main", 0), ("work", 1)])
def test_a_program_that_connects_again_and_again(name, count):
    source = (
        f"from concurrent.futures import ThreadPoolExecutor\n\ndef {name}():\n    while True:\n"
        "        with ThreadPoolExecutor() as pool:\n            pool.submit(f)\n"
    )
    assert len(findings_of(RULE, {"worker/run.py": source})) == count


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        (
            "while True:\n        try:\n            db = create_engine(url)\n            break\n"
            "        except E:\n            wait()",
            0,
        ),
        ("for attempt in range(3):\n        db = create_engine(url)", 0),
        ("for url in urls:\n        db = create_engine(url)\n        if db.old:\n            break", 1),
        ("while url:\n        db = create_engine(url)", 1),
    ],
)
def test_attempts_to_connect_end_with_one_client(loop, count):
    source = f"from sqlalchemy import create_engine\n\ndef link(url, urls):\n    {loop}\n"
    assert len(findings_of(RULE, {"app/db.py": source})) == count


@pytest.mark.parametrize(
    ("loop", "count"),
    [
        ("for i := 1; i <= 3; i++ {\n\t\tdb, err = gorm.Open(d)\n\t\tif err == nil {\n\t\t\treturn db\n\t\t}\n\t}", 0),
        ("for _, d := range all {\n\t\tdb, err = gorm.Open(d)\n\t\tif err == nil {\n\t\t\treturn db\n\t\t}\n\t}", 1),
        ("for _, d := range all {\n\t\tparsed[d] = template.ParseFiles(d)\n\t}", 0),
        ('for _, d := range all {\n\t\tshow(template.ParseFiles("a.html"), d)\n\t}', 1),
    ],
)
def test_loops_of_go_that_try_or_read_other_templates(loop, count):
    source = f'package a\n\nimport (\n\t"gorm.io/gorm"\n\t"html/template"\n)\n\nfunc find() *gorm.DB {{\n\t{loop}\n}}\n'
    assert len(findings_of(RULE, {"a/db.go": source})) == count


@pytest.mark.parametrize(("head", "count"), [("const knex = require('knex');\n", 1), ("", 0)])
def test_a_connection_that_is_given_is_no_new_one(head, count):
    given = "url" if head else "knex"
    source = (
        f"{head}exports.fill = async ({given}) => {{\n  for (const row of rows) {{\n    await knex('a');\n  }}\n}};\n"
    )
    assert len(findings_of(RULE, {"app/fill.js": source})) == count


def test_a_pool_that_ends_with_its_work_may_be_meant():
    source = (
        "from concurrent.futures import ThreadPoolExecutor\n@app.get('/x')\ndef show():\n"
        "    with ThreadPoolExecutor() as pool:\n        pool.submit(f)\n"
    )
    (finding,) = findings_of(RULE, {"app/views.py": source})
    assert (finding.line, finding.confidence) == (4, "low")
    assert lines("app/jobs.py", source.replace("@app.get('/x')\n", "")) == []
    assert lines("app/views.py", source.replace("with ThreadPoolExecutor() as pool", "if ThreadPoolExecutor()")) == [4]


@pytest.mark.parametrize(("name", "count"), [("create_order", 1), ("setup", 0)])
def test_a_handler_may_be_called_like_a_factory(name, count):
    source = f"import httpx\n@app.get('/x')\ndef {name}():\n    return httpx.Client().get('https://a.example')\n"
    assert len(lines("app/views.py", source)) == count
    assert lines("app/views.py", source.replace("@app.get('/x')\n", "")) == []


@pytest.mark.parametrize(("around", "count"), [("once.Do(func()", 0), ("run(func()", 1)])
def test_what_is_built_once_is_kept(around, count):
    source = (
        'package a\n\nimport (\n\t"html/template"\n\t"net/http"\n'
        ")\n\nfunc page(w http.ResponseWriter, r *http.Request) {\n"
        f"\t{around} {{\n\t\tshown, _ = template.ParseFiles(name)\n\t}})\n\tshown.Execute(w, nil)\n}}\n"
    )
    assert len(findings_of(RULE, {"a/page.go": source})) == count


@pytest.mark.parametrize(("name", "count"), [("report", 1), ("serveReport", 0)])
def test_the_methods_of_a_server_are_no_start(name, count):
    source = (
        'package a\n\nimport (\n\t"html/template"\n\t"net/http"\n)\n\n'
        f"func (s *Server) {name}(w http.ResponseWriter, r *http.Request) {{\n"
        '\tpage, _ := template.ParseFiles("page.html")\n\tpage.Execute(w, nil)\n}\n'
    )
    assert len(findings_of(RULE, {"a/page.go": source})) == count


@pytest.mark.parametrize(
    ("package", "name"),
    [
        ("@google-cloud/storage", "Storage"),
        ("@google-cloud/pubsub", "PubSub"),
        ("@azure/storage-blob", "BlobServiceClient"),
    ],
)
def test_cloud_clients_of_script(package, name):
    head = f"const {{ {name} }} = require('{package}');\nconst app = require('express')();\n"
    handler = f"app.get('/x', async (req, res) => {{\n  const client = new {name}();\n  res.send(client);\n}});\n"
    assert lines("src/app.js", head + handler) == [4]
    assert lines("src/app.js", f"{head}const client = new {name}();\n") == []


@pytest.mark.parametrize(("made", "found"), [('require("knex")({ client: "pg" })', []), ('require("knex")', [4])])
def test_what_a_required_module_makes_is_not_the_module(made, found):
    head = f"const knex = {made};\nconst app = require('express')();\n"
    handler = "app.get('/x', async (req, res) => {\n  const rows = knex('visits');\n  res.send(await rows);\n});\n"
    assert lines("src/app.js", head + handler) == found


@pytest.mark.parametrize(
    ("head", "confidences"),
    [
        (
            "def run(queue):\n    while True:\n        for row in queue.receive_messages():\n",
            ["low"],
        ),
        ("@shared_task\ndef run(row):\n    if row:\n        if row.key:\n", ["low"]),
        ("def run(rows):\n    for row in rows:\n        if row.key:\n", []),
    ],
)
def test_a_client_for_each_message_of_a_queue(head, confidences):
    files = {
        "shop/work.py": f"from shop import boxes\n\n\n{head}            boxes.ask(row)\n",
        "shop/boxes.py": "import boto3\n\n\ndef ask(row):\n    return boto3.client('s3').head_object(Key=row.key)\n",
    }
    assert [str(each.confidence) for each in findings_of(RULE, files)] == confidences


def test_a_client_that_a_task_has_for_its_batch_ends_with_it():
    source = (
        "import aiohttp\n\n\n@shared_task\ndef tell(rows):\n    asyncio.run(send(rows))\n\n\nasync def send(rows):\n"
        "    async with aiohttp.ClientSession() as session:\n        await asyncio.gather(*map(session.post, rows))\n"
    )
    assert findings_of(RULE, {"shop/work.py": source}) == []
    request = source.replace("@shared_task", "@app.post('/x')")
    assert len(findings_of(RULE, {"shop/work.py": request})) == 1


@pytest.mark.parametrize(
    ("head", "body", "confidences"),
    [
        ("(s *S) tell() error", "defer rdb.Close()\n\treturn rdb.Publish(ctx, a, b).Err()", ["low"]),
        ("(s *S) tell() *redis.Client", "return rdb", []),
        ("(s *S) tell() error", "s.rdb = rdb\n\treturn rdb.Ping(ctx).Err()", []),
        ("(s *S) NewTeller() error", "return rdb.Publish(ctx, a, b).Err()", []),
        ("tell() error", "return rdb.Publish(ctx, a, b).Err()", []),
    ],
)
def test_a_method_of_a_server_in_go_to_which_no_way_is_seen(head, body, confidences):
    source = (
        'package a\nimport (\n\t"net/http"\n\t"github.com/redis/go-redis/v9"\n)\n'
        "func Show(w http.ResponseWriter, r *http.Request) { answer(w) }\n"
        f"func {head} {{\n\trdb := redis.NewClient(&redis.Options{{Addr: address}})\n\t{body}\n}}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"a/a.go": source})] == confidences
    assert findings_of(RULE, {"a/a.go": source.replace("http.ResponseWriter, r *http.Request", "Writer")}) == []


@pytest.mark.parametrize(
    ("bean", "body", "count"),
    [
        ("@Service", "Client client = ClientBuilder.newClient();\ntry { use(client); } finally { client.close(); }", 1),
        ("@Service", "try (S3Client client = S3Client.create()) { use(client); }", 1),
        ("@Service", "Client client = ClientBuilder.newClient();\nkeep(client);", 0),
        ("@Service", "try (var pool = Executors.newSingleThreadExecutor()) { pool.submit(work); }", 0),
        ("", "Client client = ClientBuilder.newClient();\ntry { use(client); } finally { client.close(); }", 0),
    ],
)
def test_a_bean_that_closes_the_client_of_each_call(bean, body, count):
    source = (
        "import jakarta.ws.rs.client.*;\nimport jakarta.ws.rs.client.ClientBuilder;\n"
        "import software.amazon.awssdk.services.s3.S3Client; import java.util.concurrent.Executors;\n"
        f"{bean}\nclass Covers {{\npublic void cover(long id) {{\n{body}\n}} }}"
    )
    found = findings_of(RULE, {"src/Covers.java": source})
    assert [(each.line, each.confidence) for each in found] == [(7, "low")] * count


@pytest.mark.parametrize(("timetable", "count"), [("", 1), ('@Scheduled(cron = "0 0 1 * * ?")\n', 0)])
def test_a_client_of_what_a_timetable_runs(timetable, count):
    source = (
        "import java.net.http.HttpClient;\n@ApplicationScoped\nclass Licence {\n"
        f"{timetable}void refresh() {{ set(ask(uri())); }}\n"
        "String ask(URI uri) {\n"
        "try (var client = HttpClient.newBuilder().build()) { return client.send(of(uri)); }\n}\n}"
    )
    assert len(findings_of(RULE, {"src/Licence.java": source})) == count


@pytest.mark.parametrize(
    ("template", "count"),
    [
        ("ejs.compile('<b><%= name %></b>')", 1),
        ("ejs.compile(fs.readFileSync('views/card.ejs', 'utf8'))", 1),
        ("ejs.compile(CARD)", 1),
        ("ejs.compile(req.body.text)", 0),
        ("ejs.compile(await load(req.params.id))", 0),
        ("ejs.compile(`<b>${req.query.name}</b>`)", 0),
        ("ejs.render('<b><%= name %></b>', req.body)", 0),
    ],
)
def test_a_template_that_is_the_same_for_all_requests(template, count):
    source = (
        "const ejs = require('ejs');\nconst fs = require('fs'); const CARD = '<b></b>';\n"
        "const app = require('express')();\n"
        f"app.get('/x', async (req, res) => {{\n  const card = {template};\n  res.send(card);\n}});\n"
    )
    assert lines("src/app.js", source) == [5] * count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return Template(CARD).render(name=name)", 1),
        ("text = '<b>{{ name }}</b>'\n    return Template(text).render(name=name)", 1),
        ("return Template(name).render()", 0),
        ("text = load(name)\n    return Template(text).render()", 0),
        ("return PAGES.get_template('card.html').render(name=name)", 0),
    ],
)
def test_a_template_of_jinja(body, count):
    source = (
        f"from jinja2 import Template\nCARD = '<b>{{{{ name }}}}</b>'\n@app.get('/x')\ndef show(name):\n    {body}\n"
    )
    assert len(lines("app/views.py", source)) == count
    assert lines("app/views.py", source.replace("jinja2", "string")) == []


@pytest.mark.parametrize(
    ("built", "count"),
    [
        ('template.Must(template.New("a").Parse("<b>{{.}}</b>"))', 1),
        ('template.Must(template.New("a").Funcs(all).Parse(card))', 1),
        ('template.Must(template.New("a").Parse(r.FormValue("text")))', 0),
        ('template.Must(template.New("a").Parse(text))', 0),
    ],
)
def test_a_template_of_go(built, count):
    source = (
        'package a\n\nimport (\n\t"html/template"\n\t"net/http"\n)\n\n'
        "const card = `<b>{{.}}</b>`\n\nfunc show(w http.ResponseWriter, r *http.Request) {\n\ttext, err := load(r)\n"
        f"\tpage := {built}\n\tpage.Execute(w, nil)\n}}\n"
    )
    assert len(lines("a/card.go", source)) == count


@pytest.mark.parametrize(
    ("client", "found"),
    [
        ("S3Client.builder().build()", [("medium", "warning")]),
        ("SqsClient.builder().credentialsProvider(login).build()", [("low", "info")]),
        ("Order.builder().build()", []),
    ],
)
def test_clients_of_a_cloud_by_their_builder(client, found):
    source = (
        "import software.amazon.awssdk.services.s3.S3Client;\nimport software.amazon.awssdk.services.sqs.SqsClient;\n"
        '@RestController\nclass Covers {\n@GetMapping("/x")\npublic void cover(@RequestHeader("X-Key") String key) {\n'
        f"var login = Login.of(key);\ntry (var client = {client}) {{ client.show(key); }}\n}} }}"
    )
    told = findings_of(RULE, {"src/Covers.java": source})
    assert [(str(each.confidence), str(each.severity)) for each in told] == found


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        ("s3.New(s3.Options{Credentials: login})", "info"),
        ("s3.NewFromConfig(config)", "warning"),
    ],
)
def test_a_client_of_go_for_the_key_of_a_request(options, severity):
    source = (
        'package a\n\nimport (\n\t"net/http"\n\t"github.com/aws/aws-sdk-go-v2/service/s3"\n)\n\n'
        "func show(w http.ResponseWriter, r *http.Request) {\n\tlogin := keyOf(r.Header)\n"
        f"\tconfig := load(r.Context())\n\tclient := {options}\n\tclient.List(r.Context())\n\tuse(login, config)\n}}\n"
    )
    (finding,) = findings_of(RULE, {"a/show.go": source})
    assert str(finding.severity) == severity


@pytest.mark.parametrize(
    ("kept", "count"),
    [
        ("if (!shared) {\n    shared = axios.create({ timeout: 9 });\n  }", 0),
        ("let own;\n  if (!own) {\n    own = axios.create({ timeout: 9 });\n  }", 1),
        ("if (!given) {\n    given = axios.create({ timeout: 9 });\n  }", 1),
    ],
)
def test_a_client_that_is_kept_from_its_first_use_on(kept, count):
    source = (
        "import axios from 'axios';\nimport express from 'express';\nconst app = express();\nlet shared;\n"
        f"function show(given) {{\n  {kept}\n}}\napp.get('/x', (req, res) => {{\n  show();\n}});\n"
    )
    assert len(lines("src/app.js", source)) == count


@pytest.mark.parametrize(
    ("mark", "body", "found"),
    [
        ("@Service", "return new ObjectMapper().writeValueAsString(trip);", ["low"]),
        ("@Service", "ObjectMapper own = new ObjectMapper();\n    return own.writeValueAsString(trip);", ["low"]),
        ("@Service", "ObjectMapper own = new ObjectMapper();\n    return keep(own);", []),
        ("", "return new ObjectMapper().writeValueAsString(trip);", []),
    ],
)
def test_what_a_bean_of_java_uses_up_at_once(mark, body, found):
    source = (
        "import com.fasterxml.jackson.databind.ObjectMapper;\n"
        f"{mark}\npublic class Trips {{\n  String text(Trip trip) throws Exception {{\n    {body}\n  }}\n}}\n"
    )
    told = findings_of(
        RULE, {"src/main/java/Trips.java": source.replace("@Service", "@org.springframework.stereotype.Service")}
    )
    assert [str(each.confidence) for each in told] == found
