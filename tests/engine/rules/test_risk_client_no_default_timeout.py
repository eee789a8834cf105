import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "risk-client-no-default-timeout"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import smtplib\nsmtplib.SMTP('host')", [2]),
        ("import socket\nsocket.create_connection(address)", [2]),
        ("import redis\nredis.Redis(host='a')", [2]),
        ("import smtplib\nsmtplib.SMTP('host', timeout=3)", []),
        ("import socket\nsocket.create_connection(address, 3)", []),
        ("import redis\nredis.Redis(host='a', socket_timeout=3)", []),
        ("import redis\nredis.Redis(**options)", []),
        ("import psycopg2\npsycopg2.connect(options)", []),
    ],
)
def test_python(source, lines):
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("options", "lines"),
    [("{ host }", [2]), ("{ host, connectionTimeoutMillis: 1 }", []), ("options", []), ("{ ...options }", [])],
)
def test_script(options, lines):
    assert lines_of(RULE, f"import {{ Pool }} from 'pg';\nconst pool = new Pool({options});", "typescript") == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ('http.ListenAndServe(":80", h)', [4]),
        ("s := &http.Server{Handler: h}", [4]),
        ("s := &http.Server{Handler: h, ReadHeaderTimeout: t}", []),
    ],
)
def test_go(body, lines):
    assert lines_of(RULE, f'package a\nimport "net/http"\nfunc f() {{\n{body}\n}}\n', "go") == lines


def test_a_java_request_that_waits_without_limit():
    source = (
        'import org.springframework.web.bind.annotation.*;\n@RestController\nclass A {\n@GetMapping("/x")\n'
        "String show() {\nreturn future.get(); } }"
    )
    assert [finding.line for finding in findings_of(RULE, {"src/A.java": source})] == [6]
    assert findings_of(RULE, {"src/A.java": source.replace('@GetMapping("/x")', "")}) == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import redis\nr = redis.from_url('redis://a')", [2]),
        ("import redis\nr = redis.from_url('redis://a', socket_timeout=1)", []),
        ("import redis\nr = redis.from_url('redis://a?socket_timeout=1')", []),
        ("import imaplib\nm = imaplib.IMAP4_SSL('a')", [2]),
    ],
)
def test_more_clients_of_python(source, lines):
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("import { MongoClient } from 'mongodb';\nnew MongoClient('mongodb://a');", [2]),
        ("import { MongoClient } from 'mongodb';\nnew MongoClient('mongodb://a', { socketTimeoutMS: 5000 });", []),
        ("import { MongoClient } from 'mongodb';\nnew MongoClient(url, options);", []),
        ("import Redis from 'ioredis';\nnew Redis({ host: 'a' });", [2]),
        ("import Redis from 'ioredis';\nnew Redis({ host: 'a', commandTimeout: 500 });", []),
    ],
)
def test_more_clients_of_node(source, lines):
    assert lines_of(RULE, source, "typescript") == lines


def test_a_python_request_that_waits_without_limit():
    view = "from flask import Flask\napp = Flask(__name__)\n@app.get('/')\ndef f(pool):\n    future = pool.submit(g)\n"
    assert [each.line for each in findings_of(RULE, {"a.py": view + "    return future.result()"})] == [6]
    assert findings_of(RULE, {"a.py": view + "    return future.result(timeout=3)"}) == []
    assert findings_of(RULE, {"a.py": "def f(future):\n    return future.result()"}) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("return Futures.whenAllComplete(a, future).call(() -> future.get(), pool);", 0),
        ("return all.thenApply(v -> rows.stream().map(future -> future.get()).toList());", 0),
        ("future.addListener(() -> show(future.get()), pool);", 0),
        ("return pool.submit(() -> future.get());", 1),
        ("all.thenApply(v -> 1); return future.get();", 1),
    ],
)
def test_java_futures_that_are_complete_make_nobody_wait(body, count):
    source = (
        'import org.springframework.web.bind.annotation.*;\n@RestController\nclass A {\n@GetMapping("/x")\n'
        f"String show() {{\n{body} }} }}"
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(
    ("given", "severities"),
    [("{ host }", [""]), ("poolOptions(serverUrl)", ["info"]), ("{ host, query_timeout: 9 }", [])],
)
def test_options_that_a_call_gives_may_hold_a_limit(given, severities):
    source = f"import {{ Pool }} from 'pg';\nexport const pool = new Pool({given});\n"
    assert [mark.severity for mark in marks_of(RULE, source, "typescript")] == severities


def test_ioredis_without_anything_has_no_limit_either():
    source = "import Redis from 'ioredis';\nconst redis = new Redis({});\n"
    assert lines_of(RULE, source.format(""), "typescript") == [2]
    assert lines_of(RULE, source.format("options"), "typescript") == []


def test_a_library_with_limits_of_its_own():
    source = "import nodemailer from 'nodemailer';\nexport const mail = nodemailer.createTransport({ host });\n"
    assert lines_of(RULE, source, "typescript") == []


@pytest.mark.parametrize(("path", "count"), [("shop/management/commands/wipe.py", 0), ("shop/cache.py", 1)])
def test_a_client_of_a_command_ends_with_it(path, count):
    source = "import redis\n\nr = redis.from_url('redis://a')\n\n\ndef wipe():\n    r.flushall()\n"
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(("address", "told"), [('":8080"', ("", "high")), ('"localhost:6060"', ("info", "low"))])
def test_a_server_for_this_machine_alone(address, told):
    source = f'package a\nimport "net/http"\nfunc f() {{\n\thttp.ListenAndServe({address}, nil)\n}}\n'
    assert [(mark.severity, mark.confidence) for mark in marks_of(RULE, source, "go")] == [told]


@pytest.mark.parametrize(("network", "told"), [("tcp", ("", "")), ("unix", ("info", "low"))])
def test_a_server_on_a_socket_of_this_machine(network, told):
    source = (
        'package a\nimport ("net"; "net/http")\nfunc f(h http.Handler) error {\n\ts := &http.Server{Handler: h}\n'
        f'\tl, err := net.Listen("{network}", address)\n\tuse(err)\n\treturn s.Serve(l)\n}}\n'
    )
    assert [(mark.severity, mark.confidence) for mark in marks_of(RULE, source, "go")] == [told]
    both = source.replace("\treturn s.Serve(l)", "\tgo s.ListenAndServe()\n\treturn other.Serve(l)")
    assert [mark.severity for mark in marks_of(RULE, both, "go")] == [""]


@pytest.mark.parametrize(
    ("address", "confidence"),
    [("settings.REDIS_URL", "low"), ('os.environ["REDIS_URL"]', "low"), ('"redis://cache:6379"', "")],
)
def test_a_url_from_outside_may_carry_a_limit(address, confidence):
    source = f"import os\nimport redis\ndef connect():\n    return redis.from_url({address})\n"
    assert [mark.confidence for mark in marks_of(RULE, source)] == [confidence]


def test_a_url_of_node_from_outside_may_carry_a_limit():
    source = (
        "import { MongoClient } from 'mongodb';\nfunction f() {\n  const uri = %s;\n  return new MongoClient(uri);\n}"
    )
    assert [mark.confidence for mark in marks_of(RULE, source % "process.env.URI || 'x'", "javascript")] == ["low"]
    assert [mark.confidence for mark in marks_of(RULE, source % "'mongodb://db'", "javascript")] == [""]


@pytest.mark.parametrize(
    ("listener", "confidences"), [("memconn.Listen()", []), ("net.Listen(network, address)", [""])]
)
def test_a_server_on_a_listener(listener, confidences):
    body = f"l, _ := {listener}\n\thttp.Serve(l, h)"
    source = f'package a\nimport ("net"; "net/http")\nfunc f(h http.Handler) {{\n\t{body}\n}}\n'
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == confidences


@pytest.mark.parametrize(
    ("imported", "count"), [('"net/http/httptest"', 0), ('"github.com/onsi/ginkgo/v2"', 0), ('"log"', 1)]
)
def test_a_server_that_helps_tests(imported, count):
    source = f'package a\nimport ("net/http"; {imported})\nvar server = &http.Server{{Handler: h}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(("kind", "count"), [("AtomicReference<Future<V>>", 0), ("Future<V>", 1)])
def test_a_reference_is_there_at_once(kind, count):
    source = f"class A {{\nprivate {kind} future;\nObject f() throws Exception {{\nreturn future.get();\n}} }}"
    assert len(marks_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("options", "count"), [("settings.options", 0), ("{ maxPoolSize: 5 }", 1)])
def test_options_of_settings_are_unknown(options, count):
    source = f"import {{ MongoClient }} from 'mongodb';\nconst c = new MongoClient(settings.url, {options});\n"
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(("host", "severity"), [("localhost", "info"), ("0.0.0.0", "")])
def test_a_server_for_this_machine_by_a_built_address(host, severity):
    source = (
        f'package a\nimport "net/http"\nfunc f(p int) {{\n\thttp.ListenAndServe(fmt.Sprintf("{host}:%d", p), nil)\n}}\n'
    )
    assert [mark.severity for mark in marks_of(RULE, source, "go")] == [severity]


@pytest.mark.parametrize(("host", "severity"), [("127.0.0.1", "info"), ("0.0.0.0", "")])
def test_a_listener_for_this_machine(host, severity):
    source = 'package a\nimport ("net"; "net/http")\nfunc f(h http.Handler) {\n'
    source += f'\tl, err := net.Listen("tcp", fmt.Sprintf("{host}:%d", 9))\n\tsrv := http.Server{{Handler: h}}\n'
    source += "\tuse(srv.Serve(l), err)\n}\n"
    assert [mark.severity for mark in marks_of(RULE, source, "go")] == [severity]


@pytest.mark.parametrize(
    ("name", "handler", "count"), [("close", "other", 0), ("load", "other", 1), ("wait_for_rows", "wait_for_rows", 1)]
)
def test_closing_waits_for_what_is_under_way(name, handler, count):
    source = (
        "from flask import Flask\napp = Flask(__name__)\n"
        f"def {name}(future):\n    return future.result()\n"
        f"@app.get('/')\ndef other(future=None):\n    return {name}(future)\n"
    )
    if handler == name:  # a handler is no closing, whatever it is called
        source = source.replace(f"def {name}", f"@app.get('/rows')\ndef {name}", 1)
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(
    ("made", "confidence"), [("withDefaults(&http.Server{Handler: h})", "low"), ("&http.Server{Handler: h}", "")]
)
def test_a_server_that_is_given_to_a_function(made, confidence):
    source = f'package a\nimport "net/http"\nfunc f(h http.Handler) {{\n\tsrv := {made}\n\tuse(srv)\n}}\n'
    assert [mark.confidence for mark in marks_of(RULE, source, "go")] == [confidence]


@pytest.mark.parametrize(("start", "count"), [("CompletableFuture.supplyAsync", 0), ("run", 1)])
def test_a_thread_of_its_own_may_wait(start, count):
    source = f"class A {{ Object f(Future<Row> future) {{ return {start}(() -> future.get()); }} }}"
    assert len(marks_of(RULE, source, "java")) == count


@pytest.mark.parametrize(("name", "severity"), [("startPprof", "info"), ("startShop", "")])
def test_a_server_for_profiles(name, severity):
    source = f'package a\nimport "net/http"\nfunc {name}(addr string) {{\n\thttp.ListenAndServe(addr, nil)\n}}\n'
    assert [mark.severity for mark in marks_of(RULE, source, "go")] == [severity]


def test_who_waits_outside_of_a_handler_is_less_certain():
    view = "from flask import Flask\napp = Flask(__name__)\n@app.get('/')\ndef show(future):\n    return read(future)\n"
    source = view + "def read(future):\n    return future.result()\n"
    assert [str(each.confidence) for each in findings_of(RULE, {"a.py": source})] == ["low"]
    direct = view.replace("read(future)", "future.result()")
    assert [str(each.confidence) for each in findings_of(RULE, {"a.py": direct})] == ["medium"]


@pytest.mark.parametrize(
    ("options", "count"),
    [("idleTimeoutMillis: 9", 1), ("idleTimeoutMillis: 9, query_timeout: 5", 0), ("connectionTimeoutMillis: 9", 0)],
)
def test_how_long_a_connection_may_lie_unused_is_no_limit(options, count):
    source = f'import {{ Pool }} from "pg";\nconst pool = new Pool({{ host: "db", {options} }});\n'
    assert len(marks_of(RULE, source, "typescript")) == count


@pytest.mark.parametrize(
    ("limit", "count"), [("IdleTimeout", 1), ("WriteTimeout", 1), ("ReadTimeout", 0), ("ReadHeaderTimeout", 0)]
)
def test_limits_of_a_server_that_cover_reading(limit, count):
    source = f'package a\nimport "net/http"\nfunc f() *http.Server {{\n\treturn &http.Server{{{limit}: wait}}\n}}\n'
    assert len(marks_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("made", "asked", "count"),
    [
        ("jobs = queue.Queue()", "jobs.get()", 1),
        ("jobs: queue.Queue = queue.SimpleQueue()", "jobs.get()", 1),
        ("jobs = queue.Queue()", "jobs.get(timeout=2)", 0),
        ("jobs = load()", "jobs.get()", 0),
    ],
)
def test_queues_by_what_made_them(made, asked, count):
    source = f"import queue\n{made}\ndef f():\n    return {asked}\n"
    assert len(marks_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("declared", "waits", "count"),
    [
        ("Future<Row> row = pool.submit(job);", "row.get()", 1),
        ("CompletableFuture<Row> row = ask();", "row.join()", 1),
        ("CountDownLatch all = new CountDownLatch(3);", "all.await()", 1),
        ("BlockingQueue<Row> rows = rows();", "rows.take()", 1),
        ("Future<Row> row = pool.submit(job);", "row.get(3, SECONDS)", 0),
        ("Supplier<Row> row = rows();", "row.get()", 0),
        ("Condition all = lock.newCondition();", "all.await()", 0),
    ],
)
def test_waits_of_java_by_what_is_declared(declared, waits, count):
    source = f"class A {{ Object f() {{\n{declared}\nreturn {waits};\n}} }}"
    assert len(marks_of(RULE, source, "java")) == count


STUB = """import com.acme.PricesGrpc;
class Prices {
  private final PricesGrpc.PricesBlockingStub stub;
  Reply price(String isbn) {
    return stub%s.getPrice(request(isbn));
  }
}
"""


@pytest.mark.parametrize(("limit", "found"), [("", [5]), (".withDeadlineAfter(5, TimeUnit.SECONDS)", [])])
def test_a_blocking_stub_of_grpc(limit, found):
    assert lines_of(RULE, STUB % limit, "java") == found


@pytest.mark.parametrize(
    "made", ["stub = PricesGrpc.newBlockingStub(c).withDeadlineAfter(5, S);", "stub = stub.withInterceptors(limits);"]
)
def test_a_stub_that_was_limited_when_it_was_made(made):
    assert lines_of(RULE, (STUB % "").replace("Reply", f"Prices() {{ {made} }}\n  Reply"), "java") == []


@pytest.mark.parametrize(
    ("sent", "count"),
    [
        ('events.send("orders", id).get()', 1),
        ("pool.submit(task).get()", 1),
        ("web.sendAsync(request, handler).join()", 1),
        ("web.sendAsync(request, handler).orTimeout(5, S).join()", 0),
        ('events.send("orders", id).get(5, S)', 0),
        ('letters.send("orders", id).get()', 0),
    ],
)
def test_a_handler_of_java_that_waits_for_what_it_has_sent(sent, count):
    source = (
        "class Orders {\n  private final KafkaTemplate<String, String> events;\n  private final Letters letters;\n"
        f'  @PostMapping("/orders")\n  void place(String id) throws Exception {{\n    {sent};\n  }}\n}}\n'
    )
    assert [each.line for each in findings_of(RULE, {"src/Orders.java": source})] == [6] * count


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("psycopg.connect(dsn, row_factory=dict_row)", [("info", "low")]),
        ("psycopg.connect(f\"host='{HOST}'\", autocommit=True)", [("info", "low")]),
        ("psycopg.connect(dsn, connect_timeout=5)", []),
        ("psycopg.connect(settings)", []),
        ('sqlalchemy.create_engine("postgresql://harbour/ships")', [("warning", "medium")]),
        ("sqlalchemy.create_engine(os.environ['SHIPS'])", [("warning", "low")]),
        ("sqlalchemy.create_engine(url)", [("info", "low")]),
        ("sqlalchemy.create_engine(url, connect_args=LIMITS)", []),
        ('sqlalchemy.create_engine("sqlite:///ships.db")', []),
    ],
)
def test_databases_of_which_the_address_is_known(call, told):
    source = f"import os\nimport psycopg\nimport sqlalchemy\n\ndef link(dsn, url, settings):\n    return {call}\n"
    found = findings_of(RULE, {"harbour/links.py": source})
    assert [(str(each.severity), str(each.confidence)) for each in found] == told


@pytest.mark.parametrize(("end", "count"), [("return engine", 1), ('engine.execute("CREATE DATABASE ships")', 0)])
def test_an_engine_that_only_its_function_uses_does_not_live_long(end, count):
    source = f"from sqlalchemy import create_engine\n\ndef ships(url):\n    engine = create_engine(url)\n    {end}\n"
    assert len(findings_of(RULE, {"harbour/links.py": source})) == count


@pytest.mark.parametrize(
    ("opened", "confidences"),
    [
        ('sql.Open("mysql", "reader:x@tcp(rows:3306)/stock?parseTime=true")', ["medium"]),
        ('sql.Open("postgres", "postgres://rows:5432/stock?sslmode=disable")', ["medium"]),
        ('sql.Open("mysql", fmt.Sprintf("%s:%s@tcp(%s)/stock", user, word, host))', ["medium"]),
        ('sqlx.Connect("mysql", "reader:x@tcp(rows:3306)/stock")', ["medium"]),
        ('gorm.Open(mysql.Open("reader:x@tcp(rows:3306)/stock"), &gorm.Config{})', ["medium"]),
        ('sql.Open("mysql", "reader:x@tcp(rows:3306)/stock?timeout=5s&readTimeout=30s")', []),
        ('sql.Open("postgres", "host=rows dbname=stock connect_timeout=5")', []),
        ('sql.Open("mysql", address)', []),
        ('sql.Open("sqlite3", "stock.db")', []),
        ('sql.Open("pgx", "postgres://rows:5432/stock")', []),
    ],
)
def test_a_pool_of_go_without_a_limit_in_its_address(opened, confidences):
    source = (
        'package stock\n\nimport (\n\t"database/sql"\n\t"fmt"\n\n\t"github.com/jmoiron/sqlx"\n'
        '\t"gorm.io/driver/mysql"\n\t"gorm.io/gorm"\n)\n\n'
        f"func dial(address string) any {{\n\tdb, err := {opened}\n\tcheck(err)\n\treturn db\n}}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"stock/a.go": source})] == confidences


def test_a_pool_of_go_whose_address_a_name_holds():
    source = (
        'package stock\n\nimport "database/sql"\n\n'
        'func dial() any {\n\tdsn := "reader:x@tcp(rows:3306)/stock"\n'
        '\tdb, _ := sql.Open("mysql", dsn)\n\treturn db\n}\n'
    )
    assert [each.line for each in findings_of(RULE, {"stock/a.go": source})] == [7]
    assert findings_of(RULE, {"stock/a.go": source.replace("\tdb, _", "\tdsn += options\n\tdb, _")}) == []


@pytest.mark.parametrize(
    ("made", "waits", "count"),
    [
        ("job = mail.delay(1)", "job.get()", 1),
        ("job = mail.delay(1)", "job.get(timeout=3)", 0),
        ("job = pool.apply_async(load, (1,))", "job.get()", 1),
        ("job = AsyncResult(key)", "job.get()", 1),
        ("job = rows.first(1)", "job.get()", 0),
        ("job = pool.submit(load)", "job.result()", 1),
        ("pass", "mail.apply_async((1,)).get()", 1),
    ],
)
def test_jobs_that_are_waited_for(made, waits, count):
    assert len(lines_of(RULE, f"def answer(key):\n    {made}\n    return {waits}\n")) == count


@pytest.mark.parametrize(
    ("head", "call", "count"),
    [
        ("DSN = os.environ.get('DSN', 'dbname=a connect_timeout=3')", "psycopg2.connect(DSN)", 0),
        ("DSN = os.environ.get('DSN', 'dbname=a')", "psycopg2.connect(DSN)", 1),
        ("pool = redis.ConnectionPool(socket_timeout=2)", "redis.Redis(connection_pool=pool)", 0),
        ("pool = 1", "redis.Redis(host='a')", 1),
    ],
)
def test_limits_that_stand_behind_a_name(head, call, count):
    assert len(lines_of(RULE, f"import os, psycopg2, redis\n{head}\ndef f():\n    return {call}\n")) == count


@pytest.mark.parametrize(
    ("imported", "call", "count"),
    [
        ("from a.rates_pb2_grpc import RatesStub", "self.stub.Get(row)", 1),
        ("from a.rates_pb2_grpc import RatesStub", "self.stub.Get(row, timeout=3)", 0),
        ("from a.rates_pb2_grpc import RatesStub", "self.stub.Get(row, **more)", 0),
        ("from a.rates_pb2_grpc import RatesStub", "[each for each in self.stub.Watch(row)]", 0),
        ("from a.rates import RatesStub", "self.stub.Get(row)", 0),
    ],
)
def test_calls_of_grpc_in_python(imported, call, count):
    source = (
        f"{imported}\nclass Rates:\n    def __init__(self, channel):\n        self.stub = RatesStub(channel)\n"
        f"    def load(self, row, more):\n        return {call}\n"
    )
    assert len(lines_of(RULE, source)) == count


@pytest.mark.parametrize(
    ("made", "call", "count"),
    [
        ("ctx := context.Background()", "client.Price(ctx, in)", 1),
        ("ctx, cancel := context.WithTimeout(context.Background(), 1)", "client.Price(ctx, in)", 0),
        ("ctx := context.Background()", "client.Watch(ctx, in)\n\tstream.Recv()", 0),
        ("ctx := context.Background()", "other.Price(ctx, in)", 0),
    ],
)
def test_calls_of_grpc_in_go(made, call, count):
    source = (
        'package a\nimport ("context"; "example.org/gen/tollpb")\n'
        f"func f(client tollpb.TollClient, other *Prices, in *In) {{\n\t{made}\n\tstream, err := {call}\n}}\n"
    )
    assert len(lines_of(RULE, source, "go")) == count


@pytest.mark.parametrize(
    ("call", "confidences"),
    [
        ('redis.Dial("tcp", addr)', [""]),
        ('redis.Dial("tcp", addr, redis.DialReadTimeout(wait))', []),
        ('redis.Dial("tcp", addr, opts...)', []),
        ('mongo.Connect(ctx, options.Client().ApplyURI("mongodb://rows"))', ["low"]),
        ('mongo.Connect(ctx, options.Client().ApplyURI("mongodb://rows/?timeoutMS=900"))', []),
        ('mongo.Connect(ctx, options.Client().ApplyURI("mongodb://rows").SetTimeout(wait))', []),
        ("mongo.Connect(ctx, opts)", []),
        ("grpc.Dial(addr, grpc.WithBlock())", [""]),
        ("grpc.Dial(addr, creds)", []),
        ("grpc.DialContext(ctx, addr, grpc.WithBlock())", []),
        ("grpc.DialContext(context.Background(), addr, grpc.WithBlock())", [""]),
    ],
)
def test_clients_that_go_builds(call, confidences):
    source = (
        'package a\nimport ("context"; "github.com/gomodule/redigo/redis"; "go.mongodb.org/mongo-driver/mongo"; '
        '"go.mongodb.org/mongo-driver/mongo/options"; "google.golang.org/grpc")\n'
        f"func f(ctx context.Context, addr string) {{\n\tg({call})\n}}\n"
    )
    assert [each.confidence for each in marks_of(RULE, source, "go")] == confidences


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ('MongoClients.create("mongodb://rows")', 1),
        ("MongoClients.create()", 1),
        ('MongoClients.create("mongodb://rows/?socketTimeoutMS=900")', 0),
        ("MongoClients.create(settings)", 0),
        ("consumer.poll(Duration.ofMillis(Long.MAX_VALUE))", 1),
        ("consumer.poll(Long.MAX_VALUE)", 1),
        ("consumer.poll(Duration.ofMillis(500))", 0),
    ],
)
def test_clients_that_java_builds_or_asks(call, count):
    source = (
        "import com.mongodb.client.MongoClients;\nimport org.apache.kafka.clients.consumer.KafkaConsumer;\n"
        f"class Rows {{\n  void f(KafkaConsumer<String, String> consumer) {{\n    {call};\n  }}\n}}\n"
    )
    assert len(lines_of(RULE, source, "java")) == count


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ("'mongodb://rows/a'", 1),
        ("'mongodb://rows/a', { socketTimeoutMS: 900 }", 0),
        ("'mongodb://rows/a', options", 0),
        ("'mongodb://rows/a?socketTimeoutMS=900'", 0),
    ],
)
def test_mongoose(given, count):
    source = f"import mongoose from 'mongoose';\nawait mongoose.connect({given});\n"
    assert len(lines_of(RULE, source, "javascript")) == count
