"""An object that owns a pool of connections is built for every call."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analysis.engine.codebase import Codebase, Place
from analysis.engine.extract.loops import WORD, dependents
from analysis.engine.extract.source import SourceFile
from analysis.engine.facts import Mark
from analysis.engine.languages import FileKind
from analysis.engine.model import Category, Confidence, Finding, Guide, Rule, Severity
from analysis.engine.names import MADE_UP
from analysis.engine.policy import Policy
from analysis.engine.readers.compiled_templates import COMPILERS, GO_NAMES, compiles, is_fixed
from analysis.engine.readers.go_handlers import may_be_reached
from analysis.engine.readers.java_beans import ANNOTATIONS
from analysis.engine.readers.reading import (
    assigned_values,
    followed,
    function_name,
    has_own,
    is_made_once,
    round_of,
    text_after,
)
from analysis.engine.rules.base import GO, JAVA, PYTHON, SCRIPT, Watch, last_names

RULE = Rule(
    id="perf-client-per-call",
    type="client_per_call",
    category=Category.PERFORMANCE,
    title="Client built per call",
    severity=Severity.WARNING,
    points=2,
    confidence=Confidence.MEDIUM,
    suggestion="Create the client once (module, DI singleton) and reuse its connection pool.",
)
GUIDE = Guide(
    why=(
        "Making the client opens connections, reads configuration and shakes hands; doing so for every call multiplies "
        "latency and exhausts sockets."
    ),
    flagged=(
        {
            "shop/storage.py": """
import boto3


def save(files):
    for name, data in files.items():
        boto3.client("s3").put_object(Bucket="shop", Key=name, Body=data)
"""
        },
    ),
    fine=(
        {
            "shop/storage.py": """
import boto3

S3 = boto3.client("s3")


def save(files):
    for name, data in files.items():
        S3.put_object(Bucket="shop", Key=name, Body=data)
"""
        },
    ),
)

_PYTHON = frozenset(
    """requests.Session requests.session httpx.Client httpx.AsyncClient aiohttp.ClientSession sqlalchemy.create_engine
    sqlalchemy.ext.asyncio.create_async_engine boto3.client boto3.resource redis.Redis redis.from_url
    pymongo.MongoClient
    psycopg_pool.ConnectionPool elasticsearch.Elasticsearch redis.asyncio.Redis redis.asyncio.from_url
    redis.ConnectionPool motor.motor_asyncio.AsyncIOMotorClient asyncpg.create_pool psycopg2.pool.SimpleConnectionPool
    psycopg2.pool.ThreadedConnectionPool concurrent.futures.ThreadPoolExecutor concurrent.futures.ProcessPoolExecutor
    google.cloud.storage.Client google.cloud.pubsub_v1.PublisherClient jinja2.Environment""".split()
)
_SCRIPT = frozenset(
    """axios.create @prisma/client.PrismaClient pg.Pool mysql2.createPool mysql2/promise.createPool mongodb.MongoClient
    ioredis.Redis ioredis redis.createClient @aws-sdk/client-s3.S3Client @aws-sdk/client-sqs.SQSClient
    @aws-sdk/client-ses.SESClient @aws-sdk/client-sns.SNSClient @aws-sdk/client-dynamodb.DynamoDBClient
    @aws-sdk/client-lambda.LambdaClient @aws-sdk/client-secrets-manager.SecretsManagerClient mysql.createPool
    mysql.createConnection mysql2.createConnection mysql2/promise.createConnection sequelize.Sequelize sequelize knex
    mongoose.createConnection typeorm.DataSource nodemailer.createTransport kafkajs.Kafka undici.Pool
    @elastic/elasticsearch.Client @google-cloud/storage.Storage @google-cloud/pubsub.PubSub
    @google-cloud/bigquery.BigQuery @google-cloud/firestore.Firestore @azure/storage-blob.BlobServiceClient
    aws-sdk.S3 aws-sdk.SQS aws-sdk.SNS aws-sdk.DynamoDB aws-sdk.Lambda knex.knex piscina piscina.Piscina
    tinypool.Tinypool workerpool.pool""".split()
)
_JAVA = frozenset(
    """com.fasterxml.jackson.databind.ObjectMapper java.net.http.HttpClient.newHttpClient
    org.springframework.web.client.RestTemplate okhttp3.OkHttpClient com.zaxxer.hikari.HikariDataSource
    java.util.concurrent.Executors.newFixedThreadPool java.util.concurrent.Executors.newCachedThreadPool
    java.util.concurrent.Executors.newScheduledThreadPool java.util.concurrent.Executors.newSingleThreadExecutor
    java.util.concurrent.Executors.newWorkStealingPool java.util.concurrent.ThreadPoolExecutor
    java.net.http.HttpClient.newBuilder com.fasterxml.jackson.databind.json.JsonMapper
    org.apache.http.impl.client.HttpClients.createDefault
    org.apache.hc.client5.http.impl.classic.HttpClients.createDefault
    org.springframework.web.reactive.function.client.WebClient.create
    software.amazon.awssdk.services.s3.S3Client.create software.amazon.awssdk.services.sqs.SqsClient.create
    jakarta.ws.rs.client.ClientBuilder.newClient jakarta.ws.rs.client.ClientBuilder.newBuilder
    javax.ws.rs.client.ClientBuilder.newClient javax.ws.rs.client.ClientBuilder.newBuilder
    com.mongodb.client.MongoClients.create redis.clients.jedis.JedisPool
    com.github.mustachejava.DefaultMustacheFactory freemarker.template.Configuration
    com.github.jknack.handlebars.Handlebars org.apache.velocity.app.VelocityEngine org.thymeleaf.TemplateEngine
    com.hubspot.jinjava.Jinjava""".split()
)
_GO = frozenset(
    """database/sql.Open github.com/jmoiron/sqlx.Open github.com/jmoiron/sqlx.Connect
    github.com/redis/go-redis/v9.NewClient
    github.com/jackc/pgx/v5/pgxpool.New gorm.io/gorm.Open go.mongodb.org/mongo-driver/mongo.Connect
    github.com/aws/aws-sdk-go-v2/service/s3.NewFromConfig google.golang.org/grpc.Dial google.golang.org/grpc.NewClient
    html/template.ParseFiles html/template.ParseGlob html/template.ParseFS text/template.ParseFiles
    text/template.ParseGlob""".split()
)
_CLOUD = re.compile(  # the clients of all services of a cloud
    r"(?:github\.com/aws/aws-sdk-go-v2/service/\w+\.New(?:FromConfig)?"
    r"|software\.amazon\.awssdk\.services\.[\w.]+Client\.(?:create|builder)|@aws-sdk/client-[\w-]+\.\w+Client)$"
)
_BUILDERS = ("builder", "newBuilder")  # whose client is made by the chain behind it
_SHARED = re.compile(rb"\bhttp\.DefaultTransport\b(?!\.\()")  # and no copy of it
_GO_CLIENT = re.compile(rb"http\.Client\{")
_OWN = frozenset({"", "self", "cls", "ctx"})
_STARTS = re.compile(  # no part of a word: `Server.page` handles requests
    r"(^|[._])_*(?i:init|initiali[sz]e|__init__|__new__|setup|configure|constructor|main|bootstrap|lifespan|serve)(?=[_A-Z]|$)"
)
_FACTORY = re.compile(
    r"(^|[._])_*(get|create|make|build|new|provide\w*|connect|open|start"
    r"|default|\w*(client|session|factory|engine|pool|mapper|template))([_A-Z]\w*|$)",
    re.IGNORECASE,
)
LONGEST_HEAD = 200
LONGEST_NAME = 60  # bytes before a function, of what it is handed to
NEAR = 120  # bytes before a call
_IN_TRY = re.compile(rb"\btry\s*\([^{}]*\Z")  # as one of its resources
_ONCE = re.compile(rb"(?i)(?:once\w*(?:\.Do)?|memoi[sz]e\w*|lazy|singleton)\(\s*\Z")
_ATTEMPTS = re.compile(rb"(?i)retr(?:y|ies)|attempt")
_LEAVES = re.compile(rb"^[ \t]*(?:break|return)\b", re.MULTILINE)
_COUNTED = re.compile(r"\w+ <=? \w+$")  # the head of a loop of Go
_CACHED = re.compile(r"cache|fixture|Bean|Provides|singleton|contextmanager|Produces|depends", re.IGNORECASE)
# And no key that is only called the same, and no context of a request.
_TAKEN = re.compile(r"(?!\s*:|\s*=(?!=)|(?:\.Request(?:\(\))?)?\.(?:User)?Context\(\))\b")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?!\s*[(:=])")
_GIVEN = re.compile(rb"(?:^|[\s{;])(\w+)[ \t]*=[ \t]*(?:await |new )*\Z")
# What a function of Go or Java calls what it builds.
_NAMED = re.compile(rb"\b(\w+)(?:(?:, \w+)? := &?|(?<=\w) = )\Z")
_ASKED_AT_ONCE = re.compile(
    rb"\s*\.\s*(?:read|write|convert|parse|get|post|exchange|submit|invokeAll|execute|send)\w*\("
)
_STORED = re.compile(rb"(?:\b(?:self|this|cls|global|globalThis|g|app)\.[\w.]+|\?\?=?|\|\|=?)\s*=?\s*$")


def look(call: Node, file: SourceFile) -> Iterator[Mark]:
    callee = file.callee(call)
    known = {"python": _PYTHON, "java": _JAVA, "go": _GO}.get(file.language, _SCRIPT)
    is_known = callee in known or _CLOUD.match(callee) is not None or (compiles(callee) and is_fixed(call, file))
    if is_known and ("/" in callee or "." in callee or _is_of_import(callee, file)):
        yield from _built(call, callee, file)


def _is_of_import(callee: str, file: SourceFile) -> bool:
    """Whether a bare name, `knex(...)`, is what the file imports, and not a connection that it is given."""
    return callee in file.bindings.values()


def _built(call: Node, callee: str, file: SourceFile) -> Iterator[Mark]:
    if file.scope_of(call).function.index == 0:
        return
    function = file.functions[file.function_of(call)]
    in_loop = file.in_loop(call) and not _is_attempted(call, file)
    if not in_loop and (any(map(_CACHED.search, function.decorators)) or _runs_once(call, file)):
        return
    if not in_loop and _STARTS.search(function.name):
        return
    if in_loop and ("template.Parse" in callee or compiles(callee)) and _changes(call, file):
        return  # a template of its own in each round
    if in_loop and any("PostConstruct" in each for each in function.decorators):
        return  # as many as are wanted, when the program starts
    if _STORED.search(file.source, max(0, call.start_byte - 80), call.start_byte) or _is_kept_outside(call, file):
        return
    name = callee.rpartition("/")[2]
    when = "in every round of the loop" if in_loop else f"by each call of `{function_name(call, file)}`"
    is_of_caller = _is_of_caller(call, file)
    ends_here = "Executor" in name and _ends_here(call, file)
    yield file.mark(
        RULE.id,
        call,
        f"`{name}` {_does(callee)} {when}",
        severity="info" if is_of_caller else "",
        # What only its caller can say, or a pool that ends with the work it is made for, may be meant.
        confidence="low" if is_of_caller or ends_here else "",
        data=_facts_of(call, function.name, file, in_loop=in_loop, ends_here=ends_here),
    )


def _does(callee: str) -> str:
    """What a message says of the call."""
    if compiles(callee):
        return "compiles the same template"
    has_caches = callee.endswith(("Mapper", "Environment", "Factory"))
    return "builds caches of its own" if has_caches else "builds a pool of its own"


def _facts_of(call: Node, function: str, file: SourceFile, *, in_loop: bool, ends_here: bool) -> dict[str, str] | None:
    if in_loop:
        return {"loop": "yes"}
    told = {
        "factory": _FACTORY.search(function) is not None,
        "scoped": file.is_in(call, "with"),
        "ends": ends_here,
        "used": file.language in ("go", "java") and _is_used_up(call, file),
        "closed": file.language == "java" and _is_closed_here(call, file),
    }
    return {name: "yes" for name, holds in told.items() if holds} or None


def _is_kept_outside(call: Node, file: SourceFile) -> bool:
    """Whether a name of the file or the class holds the client from its first use on: `if (!shared) shared = …`."""
    named = _GIVEN.search(file.source, max(0, call.start_byte - LONGEST_NAME), call.start_byte)
    function = file.enclosing_function(call)
    if named is None or function is None or not is_made_once(call, file):
        return False
    name, text = named[1].decode(), file.source[function.start_byte : function.end_byte]
    if file.language == "python":
        return b"global " + named[1] in text or b"nonlocal " + named[1] in text
    return not has_own(name, text) and re.search(rb"\b[A-Z][\w<>]* " + named[1] + rb"\b", text) is None


def _runs_once(call: Node, file: SourceFile) -> bool:
    """Whether the function around is handed to something that calls it once: `once.Do(func() {…})`, `memoize(…)`."""
    function = file.enclosing_function(call)
    start = function.start_byte if function is not None else 0
    return _ONCE.search(file.source, max(0, start - LONGEST_NAME), start) is not None


def _changes(call: Node, file: SourceFile) -> bool:
    """Whether the call is given something else in each round of its loop."""
    loop = round_of(call, file)
    names = dependents(loop, file.source) if loop is not None else frozenset()
    return not names.isdisjoint(WORD.findall(file.source, call.start_byte, call.end_byte))


def _is_attempted(call: Node, file: SourceFile) -> bool:
    """Whether the loop around tries until it holds a client: it is left behind the call, or counts its attempts."""
    loop = round_of(call, file)
    if loop is None:
        return False
    start = max(loop.node.start_byte, file.source.rfind(b"\n", 0, loop.node.start_byte))
    head = file.source[start : loop.node.start_byte + LONGEST_HEAD].partition(b"\n")[0]
    if _ATTEMPTS.search(head) is not None:
        return True
    goes_through_nothing = (
        _COUNTED.match(loop.iterable) is not None or loop.kind == "while" or loop.iterable.startswith("range(")
    )
    return goes_through_nothing and _LEAVES.search(file.source, call.end_byte, loop.node.end_byte) is not None


def look_at_literal(literal: Node, file: SourceFile) -> Iterator[Mark]:
    """Go: `http.Client{Transport: ...}`; without a transport of its own, or with one around the default, it shares that
    of all clients."""
    text = file.source[literal.start_byte : literal.end_byte]
    if b"Transport:" in text and _SHARED.search(text) is None:
        yield from _built(literal, "http.Client", file)


def _ends_here(call: Node, file: SourceFile) -> bool:
    """Whether the function that builds a pool also closes it."""
    if file.language == "java" and _is_closed_here(call, file):
        return True
    function = file.enclosing_function(call)
    end = function.end_byte if function is not None else call.end_byte
    return file.is_in(call, "with") or file.source.find(b".shutdown", call.end_byte, end) >= 0


def _is_used_up(call: Node, file: SourceFile) -> bool:
    """Whether the function asks something of what it builds, and neither keeps it nor gives it away."""
    if file.language == "java" and _ASKED_AT_ONCE.match(file.source, call.end_byte) is not None:
        return True
    named = _NAMED.search(file.source, max(0, call.start_byte - LONGEST_NAME), call.start_byte)
    after = text_after(call, file)
    uses = [after[each.end() :] for each in followed(named[1].decode(), after, _TAKEN, "_.")] if named else []
    return bool(uses) and all(each.startswith(".") for each in uses)


def _is_closed_here(call: Node, file: SourceFile) -> bool:
    """Whether the function closes what it builds: the client is one of this call for certain."""
    before = file.source[max(0, call.start_byte - NEAR) : call.start_byte]
    return (
        _IN_TRY.search(before) is not None
        or re.search(r"\bfinally\b[^}]*\.close\(\)", text_after(call, file)) is not None
    )


def _is_of_caller(call: Node, file: SourceFile) -> bool:
    """Whether the function is given what the client is made of, as the credentials of a tenant."""
    function = file.enclosing_function(call)
    parameters = file.dialect.parameters(function, file) if function is not None else ()
    text = _given_to(call, file)
    names = [each.name for each in parameters if each.name not in _OWN]
    local = [value for name in _WORD.findall(text) for value in assigned_values(name, call, file)]
    texts = (text, *(file.text(each) for each in local))
    return any(next(followed(name, each, _TAKEN, "_."), None) is not None for name in names for each in texts)


def _given_to(call: Node, file: SourceFile) -> str:
    """What a client is made of: the arguments of its call, of a builder those of the chain that follows."""
    node = call
    if file.callee(call).endswith(_BUILDERS):
        while (parent := node.parent) is not None and parent.start_byte == call.start_byte:
            node = parent
    return file.text(node).partition("(")[2]


def judge(mark: Mark, place: Place, codebase: Codebase, policy: Policy) -> Finding | None:
    """A loop builds many; a function counts when requests run it, may when messages of a queue do, and may when it
    could for all that anybody sees."""
    if place.kind is FileKind.SCRIPT or MADE_UP.search(place.path):
        return None
    if not (mark.data.get("loop") or place.in_request_path or place.in_message_path):
        return place.finding(mark, confidence=Confidence.LOW) if _may_be_run(mark, place) else None
    if mark.data.get("factory") and not place.in_handler:
        return None  # a name like `create_client`; a handler may be called `create`, too
    if mark.data.get("ends") and not place.in_request_path:
        return None  # as many threads as the work is worth
    if mark.data.get("loop") and place.function.short_name == "main":
        return None  # the program goes on in it until it ends
    if mark.data.get("loop") or place.in_request_path:
        return place.finding(mark)
    # A block in a task may have the whole of a batch to send, on an event loop of its own.
    return None if mark.data.get("scoped") else place.finding(mark, confidence=Confidence.LOW)


def _may_be_run(mark: Mark, place: Place) -> bool:
    """Whether a request may reach the function by a way that nobody sees: a method of a bean that closes or uses up
    what it builds, or one of a program in Go that answers requests and uses up what it builds. Of what a timetable runs
    the way is seen."""
    if place.in_job_path or "ends" in mark.data:
        return False
    if "closed" in mark.data or ("used" in mark.data and place.facts.language == "java"):
        return "factory" not in mark.data and _is_bean(place)
    return "used" in mark.data and "factory" not in mark.data and may_be_reached(place)


def _is_bean(place: Place) -> bool:
    """Whether a container of Java makes the one object that the function belongs to."""
    owners = (each for each in place.facts.classes if each.name == place.function.owner)
    return any(f"@{name.rpartition('.')[2]}".encode() in ANNOTATIONS for each in owners for name in each.decorators)


WATCHES = (
    Watch("call", look, PYTHON, names=last_names(_PYTHON | COMPILERS)),
    Watch("call", look, SCRIPT, names=last_names(_SCRIPT | COMPILERS), endings=("Client",)),
    Watch("call", look, JAVA, names=last_names(_JAVA) | {"builder"}),
    Watch("call", look, GO, names=last_names(_GO) | {"New"} | GO_NAMES),
    Watch("literal", look_at_literal, GO, starts=_GO_CLIENT),
)
