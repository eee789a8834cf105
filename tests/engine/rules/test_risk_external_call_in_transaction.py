import pytest

from tests.engine.rules.reading import findings_of

RULE = "risk-external-call-in-transaction"

DJANGO = """
import requests
import time
from django.core.mail import send_mail
from django.db import transaction
from shop.models import Order
from shop.tasks import notify
"""
SPRING = """
package shop;
import org.springframework.transaction.annotation.Transactional;
"""
GO = 'package shop\nimport (\n\t"net/http"\n\t"time"\n)\n'

FLAGGED = [
    (
        "a.py",
        DJANGO,
        "def pay(order):\n    with transaction.atomic():\n        order.save()\n        notify.delay(order.pk)",
        4,
    ),
    ("a.py", DJANGO, "@transaction.atomic\ndef pay(order):\n    order.save()\n    send_mail('a', 'b', 'c', ['d'])", 4),
    ("a.py", DJANGO, "async def f():\n    async with session.begin():\n        await client.queue.send_email(1)", 3),
    ("a.py", DJANGO, "def f():\n    with transaction.atomic():\n        while busy():\n            time.sleep(1)", 4),
    (
        "a.ts",
        "",
        "await prisma.$transaction(async (tx) => {\n  await tx.order.create({ data });\n  await fetch(url);\n});",
        3,
    ),
    ("a.ts", "", "await db.transaction(async (tx) => {\n  await stripe.refunds.create({ charge });\n});", 2),
    (
        "A.java",
        SPRING,
        "class A {\n  @Transactional\n  public void pay(Order o) {\n    a.save(o);\n    mailSender.send(o);\n  }\n}",
        5,
    ),
    (
        "A.java",
        SPRING,
        '@Transactional\nclass A {\n  public void pay(Order o) {\n    kafkaTemplate.send("paid", o);\n  }\n}',
        4,
    ),
    (
        "a.go",
        GO,
        "func pay(db *sql.DB) error {\n\ttx, err := db.Begin()\n\ttx.Exec(q)\n\thttp.Get(u)\n\treturn tx.Commit()\n}",
        4,
    ),
    (
        "a.go",
        GO,
        "func f(db *gorm.DB) {\n\tdb.Transaction(func(tx *gorm.DB) error {\n\t\ttime.Sleep(1)\n\t\treturn nil\n\t})\n}",
        3,
    ),
]
FINE = [
    (
        "a.py",
        DJANGO,
        "def pay(order):\n    with transaction.atomic():\n        order.save()\n"
        "        transaction.on_commit(lambda: notify.delay(order.pk))\n    send_mail('a', 'b', 'c', ['d'])",
    ),
    ("a.py", DJANGO, "def pay(order):\n    order.save()\n    notify.delay(order.pk)"),
    (
        "a.py",
        DJANGO,
        "def pay():\n    with transaction.atomic():\n        def later():\n            notify.delay(1)",
    ),
    (
        "a.ts",
        "",
        "await prisma.$transaction(async (tx) => {\n  await tx.order.create({ data });\n});\nawait fetch(url);",
    ),
    ("a.ts", "", "await prisma.$transaction([prisma.order.create({ data }), prisma.line.create({ data })]);"),
    ("A.java", SPRING, "class A {\n  public void pay(Order o) {\n    mailSender.send(o.mail());\n  }\n}"),
    ("a.go", GO, "func f(db *sql.DB) error {\n\ttx, err := db.Begin()\n\ttx.Commit()\n\thttp.Get(u)\n\treturn nil\n}"),
]


@pytest.mark.parametrize(("path", "head", "source", "line"), FLAGGED)
def test_what_leaves_the_process_is_found(path, head, source, line):
    lines = [finding.line - head.count("\n") for finding in findings_of(RULE, {path: head + source})]
    assert lines == [line]


@pytest.mark.parametrize(("path", "head", "source"), FINE)
def test_what_waits_for_the_commit_is_fine(path, head, source):
    assert findings_of(RULE, {path: head + source}) == []


def test_a_call_without_a_time_limit_or_with_row_locks_is_critical():
    endless = "def pay(order):\n    with transaction.atomic():\n        requests.post(url)"
    locked = (
        "def pay(key):\n    with transaction.atomic():\n        order = Order.objects.select_for_update().get(pk=key)\n"
        "        requests.post(url, timeout=5)"
    )
    (first,) = findings_of(RULE, {"a.py": DJANGO + endless})
    (second,) = findings_of(RULE, {"a.py": DJANGO + locked})
    assert (first.severity, first.confidence) == ("critical", "high")
    assert first.message == (
        "`requests.post` calls another service over HTTP inside the transaction of line 9, and without a time limit"
    )
    assert second.severity == "critical"
    assert second.message.endswith("which holds row locks")


def test_one_level_deep_it_is_less_certain():
    tell = "def tell(order):\n    send_mail('a', 'b', 'c', ['d'])\n\n"
    source = DJANGO + tell + "@transaction.atomic\ndef pay(order):\n    order.save()\n    tell(order)\n"
    (finding,) = findings_of(RULE, {"a.py": source})
    assert finding.confidence == "medium"
    assert finding.message.startswith("`tell` sends mail (`mail.send_mail`) inside the transaction")


def test_a_callee_that_waits_for_the_commit_is_fine():
    tell = "def tell(order):\n    transaction.on_commit(lambda: notify.delay(order.pk))\n\n"
    source = DJANGO + tell + "@transaction.atomic\ndef pay(order):\n    order.save()\n    tell(order)\n"
    assert findings_of(RULE, {"a.py": source}) == []


def test_a_transaction_that_reads_only_is_worth_knowing():
    source = (
        "class A {\n  @Transactional(readOnly = true)\n  public void f() {\n    restTemplate.getForObject(u);\n  }\n}"
    )
    (finding,) = findings_of(RULE, {"A.java": SPRING + source})
    assert finding.severity == "info"


def test_clients_are_known_by_their_declared_types():
    java = """package shop;
import org.springframework.transaction.annotation.Transactional;
class A {
    private KafkaTemplate<String, String> events;
    @Transactional
    void f() {
        events.send("topic", "x");
    }
}
"""
    go = """package shop
import "net/http"
var outside = &http.Client{Timeout: limit}
func f(db *gorm.DB) {
	db.Transaction(func(tx *gorm.DB) error {
		tx.Create(&row)
		outside.Get("https://example.org")
		return nil
	})
}
"""
    assert [finding.line for finding in findings_of(RULE, {"A.java": java})] == [7]
    assert [finding.line for finding in findings_of(RULE, {"a.go": go})] == [7]


def test_an_imported_mailer_sends_mail():
    source = (
        "import { mailer } from './mailer';\nawait prisma.$transaction(async (tx) => {\n"
        "  await mailer.sendMail(letter);\n});"
    )
    assert [finding.line for finding in findings_of(RULE, {"a.ts": source})] == [3]


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        (
            "src/a.js",
            "async function f() {\nconst t = await sequelize.transaction();\n"
            "await Order.create({}, { transaction: t });\n"
            "await fetch(url);\nawait t.commit();\nawait fetch(other);\n}",
            [4],
        ),
        (
            "src/A.java",
            "class A { void f() {\ntransactionTemplate.execute(status -> {\norders.save(o);\n"
            "restTemplate.postForObject(u, o, T);\n"
            "return null; });\nrestTemplate.postForObject(u, o, T); } }",
            [4],
        ),
        (
            "shop/a.py",
            "class Gateway:\n    def charge(self):\n        return self.session.post(url)\n\n\n"
            "def f():\n    with transaction.atomic():\n        order.save()\n        Gateway(url).charge()\n",
            [9],
        ),
    ],
)
def test_transactions_that_are_begun_by_hand_and_clients_of_a_gateway(path, source, lines):
    assert [each.line for each in findings_of(RULE, {path: source})] == lines


@pytest.mark.parametrize(
    ("decorator", "confidences"),
    [("shared_task", ["high"]), ("app.task(bind=True)", ["high"]), ("handled_later()", []), ("own.task()", [])],
)
def test_a_task_that_no_broker_is_known_of_may_wait_in_a_table(decorator, confidences):
    tasks = f"@{decorator}\ndef tell(order):\n    print(order)\n"
    source = (
        DJANGO
        + "from shop.tasks import tell\n\n@transaction.atomic\ndef pay(order):\n    order.save()\n"
        + "    tell.delay(order.pk)\n"
    )
    found = findings_of(RULE, {"shop/a.py": source, "shop/tasks.py": tasks})
    assert [each.confidence for each in found] == confidences


@pytest.mark.parametrize(("decorator", "count"), [("shared_task", 1), ("handled_later()", 0)])
def test_a_function_that_queues_a_task_of_no_known_broker(decorator, count):
    source = (
        f"{DJANGO}\n@{decorator}\ndef tell(order):\n    print(order)\n"
        "\ndef announce(order):\n    tell.delay(order.pk)\n"
        "\n@transaction.atomic\ndef pay(order):\n    order.save()\n    announce(order)\n"
    )
    assert len(findings_of(RULE, {"shop/a.py": source})) == count


@pytest.mark.parametrize(("verb", "count"), [("getForObject(url, A.class)", 1), ("setErrorHandler(handler)", 0)])
def test_what_sets_up_a_client_asks_nobody(verb, count):
    source = f"class A {{\n  @Transactional\n  public void f() {{\n    restTemplate.{verb};\n  }}\n}}"
    assert len(findings_of(RULE, {"A.java": SPRING + source})) == count


@pytest.mark.parametrize(("receiver", "count"), [("orderQueue", 1), ("socketHandler", 0)])
def test_a_message_goes_into_a_queue_by_the_name_of_the_receiver(receiver, count):
    source = f"class A {{\n  @Transactional\n  public void f() {{\n    {receiver}.sendMessage(x);\n  }}\n}}"
    assert len(findings_of(RULE, {"A.java": SPRING + source})) == count


@pytest.mark.parametrize(("name", "count"), [("delete", 0), ("remove", 1)])
def test_a_method_that_a_chain_shares_with_the_function_around_it(name, count):
    source = (
        f"export class Files {{\n  async {name}(id: string) {{\n    await fetch(this.url);\n"
        "    await prisma.$transaction(async (tx) => {\n      await this.model().where({ id }).delete();\n    });\n"
        f"  }}\n  async {'remove' if name == 'delete' else 'delete'}() {{\n    await fetch(this.url);\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("rows.save(o);", 0),
        ("restTemplate.exchange(o);", 1),
        ("restClient.post().uri(u).retrieve();", 1),
        ("http.newCall(o).execute();", 1),
        ("restClient.mutate().build();", 0),
    ],
)
def test_of_several_classes_that_implement_it_all_have_to_leave(body, count):
    files = {
        "src/a/Sender.java": "package a;\npublic interface Sender {\n  void send(Order o);\n}\n",
        "src/a/Remote.java": (
            "package a;\npublic class Remote implements Sender {\n  public void send(Order o) {\n"
            "    restTemplate.exchange(o);\n  }\n}\n"
        ),
        "src/a/Local.java": (
            "package a;\npublic class Local implements Sender {\n"
            f"  public void send(Order o) {{\n    {body}\n  }}\n}}\n"
        ),
        "src/a/Orders.java": (
            "package a;\npublic class Orders {\n  private Sender sender;\n  @Transactional\n"
            "  public void pay(Order o) {\n    sender.send(o);\n  }\n}\n"
        ),
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("call", "count"), [("requests.get()", 0), ("restTemplate.exchange(o)", 1)])
def test_what_java_calls_like_a_library_of_python(call, count):
    source = f"class A {{\n  @Transactional\n  public void f(Order o) {{\n    {call};\n  }}\n}}\n"
    assert len(findings_of(RULE, {"A.java": source})) == count


@pytest.mark.parametrize(("first", "count"), [("tx.Rollback()", 0), ("log(err)", 1), ("defer tx.Rollback()", 1)])
def test_what_is_done_after_the_rollback(first, count):
    source = (
        'package a\nimport "time"\nfunc f(db *sql.DB) error {\n\ttx, err := db.Begin()\n'
        "\tif err := work(tx); err != nil {\n"
        f"\t\t{first}\n\t\ttime.Sleep(1)\n\t\treturn err\n\t}}\n\treturn tx.Commit()\n}}\n"
    )
    assert len(findings_of(RULE, {"shop/a.go": source})) == count


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        (
            "a.py",
            "import time\ndef f(session):\n    session.begin()\n    session.execute(q)\n    time.sleep(2)\n"
            "    session.commit()\n    time.sleep(2)\n",
            [5],
        ),
        ("a.py", "import time\ndef f(session):\n    session.execute(q)\n    time.sleep(2)\n    session.commit()\n", []),
        (
            "a.ts",
            "async function f(db) {\n  const t = db.createQueryRunner();\n  await t.startTransaction();\n"
            "  await firstValueFrom(this.http.post(url, {}));\n  await t.commitTransaction();\n}\n",
            [4],
        ),
        (
            "A.java",
            "class A {\n  private final TransactionTemplate tx;\n  private final KafkaOperations<K, V> kafka;\n"
            '  void f() {\n    tx.executeWithoutResult(s -> {\n      kafka.send("a", b);\n    });\n  }\n}\n',
            [6],
        ),
        (
            "A.java",
            "class A {\n  private final Executor tx;\n  private final KafkaTemplate<K, V> kafka;\n"
            '  void f() {\n    tx.execute(() -> {\n      kafka.send("a", b);\n    });\n  }\n}\n',
            [],
        ),
        (
            "a.go",
            "package a\nfunc (s *S) f() error {\n\ttx := s.db.Begin()\n\tdefer tx.Rollback()\n"
            "\ts.out.WriteMessages(ctx, m)\n\treturn tx.Commit().Error\n}\n",
            [5],
        ),
    ],
)
def test_transactions_and_queues_by_more_names(path, source, lines):
    assert [each.line for each in findings_of(RULE, {path: source})] == lines


@pytest.mark.parametrize(("call", "count"), [("BEGIN", 1), ("SELECT 1", 0)])
def test_a_transaction_of_a_script_that_is_begun_by_a_statement(call, count):
    source = (
        f"async function f(c) {{\n  await c.query('{call}');\n  await c.query('UPDATE a SET b = 1 WHERE id = 1');\n"
        "  await fetch('https://bank.example');\n  await c.query('COMMIT');\n  await fetch('https://b.example');\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/a.ts": source})] == [4] * count


@pytest.mark.parametrize(("annotation", "count"), [('@FeignClient(name = "billing")', 1), ("", 0)])
def test_an_interface_that_is_declared_as_a_client(annotation, count):
    client = f"package shop;\n{annotation}\npublic interface BillingClient {{\n  void charge(Long id);\n}}\n"
    work = (
        "package shop;\nimport org.springframework.transaction.annotation.Transactional;\npublic class Work {\n"
        "  private final BillingClient billing;\n  @Transactional\n  public void pay(Long id) {\n"
        "    rows.save(id);\n    billing.charge(id);\n  }\n}\n"
    )
    files = {"src/shop/BillingClient.java": client, "src/shop/Work.java": work}
    assert [each.line for each in findings_of(RULE, files)] == [8] * count


GO_TX = (
    'package a\nimport "os/exec"\nfunc f(ctx C, db *sql.DB) error {{\n'
    "tx, err := db.Begin()\n{}\nreturn tx.Commit()\n}}\n"
)
IN_SEQUELIZE = (
    "{}\nexport async function f() {{\n"
    "await sequelize.transaction(async (t) => {{\nawait routing.post('/a', b);\n}});\n}}\n"
)
IN_ATOMIC = (
    "import requests, httpx\nfrom django.db import transaction\n{}\n"
    "def f():\n    with transaction.atomic():\n        courier.post('/a')\n"
)


@pytest.mark.parametrize(
    ("path", "source", "is_told"),
    [
        ("app/a.go", GO_TX.format('exec.CommandContext(ctx, "lp").Run()'), True),
        ("app/a.go", GO_TX.format('cmd := exec.Command("lp")\ncmd.Run()'), True),
        ("app/a.go", GO_TX.format('cmd := exec.CommandContext(ctx, "lp")\n_, err = cmd.Output()'), True),
        ("app/a.go", GO_TX.format("cmd := newJob()\ncmd.Run()"), False),
        ("app/a.js", IN_SEQUELIZE.format("const routing = axios.create({});"), True),
        ("app/a.js", IN_SEQUELIZE.format("const routing = got.extend({});"), True),
        ("app/a.js", IN_SEQUELIZE.format("const routing = makeTable(axios.create({}));"), False),
        ("app/a.py", IN_ATOMIC.format("courier = requests.Session()"), True),
        ("app/a.py", IN_ATOMIC.format("courier = httpx.Client(timeout=3)"), True),
        ("app/a.py", IN_ATOMIC.format("from requests import Session\ncourier = Session()"), True),
        ("app/a.py", IN_ATOMIC.format("def set_up(courier: httpx.Client):\n    pass"), True),
        ("app/a.py", IN_ATOMIC.format("courier = Board()\nother = requests.Session()"), False),
        ("app/a.py", IN_ATOMIC.format("from shop.rows import Session\ncourier = Session()"), False),
    ],
)
def test_clients_and_processes_that_a_variable_holds(path, source, is_told):
    assert bool(findings_of(RULE, {path: source})) == is_told


@pytest.mark.parametrize(
    ("call", "count"),
    [("s.client.Post(s.address, kind, body)", 1), ("s.http.Do(order)", 1), ("s.shelf.Post(body)", 0)],
)
def test_a_client_of_go_that_is_a_field_is_asked_one_level_deep(call, count):
    source = (
        'package shop\nimport "gorm.io/gorm"\n'
        f"func (s *Till) tell() error {{\n\t_, err := {call}\n\treturn err\n}}\n"
        "func (s *Till) Pay() error {\n\treturn s.db.Transaction(func(tx *gorm.DB) error {\n"
        "\t\ttx.Create(&row)\n\t\treturn s.tell()\n\t})\n}\n"
    )
    assert len(findings_of(RULE, {"shop/till.go": source})) == count


@pytest.mark.parametrize(("kind", "count"), [("httpx.AsyncClient", 1), ("Board", 0)])
def test_a_client_that_an_object_is_given_is_asked_inside_of_its_session(kind, count):
    source = (
        "import httpx\nfrom sqlalchemy.ext.asyncio import AsyncSession\nfrom shop.rows import Board\n\n\n"
        f"class Till:\n    def __init__(self, session: AsyncSession, http: {kind}) -> None:\n"
        "        self._session = session\n        self._http = http\n\n"
        "    async def pay(self, order):\n        async with self._session.begin():\n"
        "            self._session.add(order)\n            await self._http.post('/charges', json=order.id)\n"
    )
    assert [each.line for each in findings_of(RULE, {"shop/till.py": source})] == [14] * count


@pytest.mark.parametrize(
    ("imported", "declared", "call", "count"),
    [
        ('{ Queue } from "bullmq"', "Queue", "add('done', { id })", 1),
        ('{ Queue } from "bull"', "Queue<Job>", "add('done', { id })", 1),
        ('{ Queue } from "./queue"', "Queue", "add('done', { id })", 0),
        ('{ HttpService } from "@nestjs/axios"', "HttpService", "post(url, { id })", 1),
        ('{ Set } from "immutable"', "Set<string>", "add('done')", 0),
    ],
)
def test_what_a_class_of_a_script_is_given_is_known_by_its_type(imported, declared, call, count):
    source = (
        f"import {{ prisma }} from './db';\nimport {imported};\nexport class Orders {{\n"
        f"  constructor(private readonly work: {declared}, private readonly url: string) {{}}\n"
        "  close(id) {\n    return prisma.$transaction(async (tx) => {\n"
        f"      await tx.order.update({{ where: {{ id }} }});\n      await this.work.{call};\n    }});\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(
    ("call", "count"),
    [("s.nc.Publish(subject, payload)", 1), ("js.PublishAsync(subject, payload)", 1), ("s.page.Publish(payload)", 0)],
)
def test_a_message_of_nats(call, count):
    source = (
        'package shop\nimport "github.com/uptrace/bun"\n'
        "func (s *Till) Pay(ctx context.Context) error {\n"
        "\treturn s.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {\n"
        f"\t\ttx.NewInsert().Model(&row).Exec(ctx)\n\t\treturn {call}\n\t}})\n}}\n"
    )
    assert len(findings_of(RULE, {"shop/till.go": source})) == count


@pytest.mark.parametrize(
    ("field", "call", "count"),
    [
        ("RestTemplate rest", "rest.postForObject(url, o, String.class)", 1),
        ("HttpClient http", "http.send(request, handler)", 1),
        ("HttpClient client", "client.send(request, handler)", 1),
        ("KafkaTemplate<String, Order> events", 'this.events.send("paid", o)', 1),
        ("Client partner", "partner.target(url).path(p).request().post(Entity.json(o), String.class)", 1),
        ("Rows rest", "rest.postForObject(url, o, String.class)", 0),
        ("OutboxTemplate events", 'events.send("paid", o)', 0),
    ],
)
def test_what_a_function_of_another_class_asks_by_the_class_of_its_field(field, call, count):
    files = {
        "src/shop/Gateway.java": (
            f"package shop;\n\nclass Gateway {{\n  private final {field};\n\n"
            f"  public void charge(Order o) {{\n    {call};\n  }}\n}}\n"
        ),
        "src/shop/Orders.java": SPRING.strip()
        + "\nclass Orders {\n  private final Gateway payments;\n\n  @Transactional\n  public void pay(Order o) {\n"
        "    repository.save(o);\n    payments.charge(o);\n  }\n}\n",
    }
    assert [each.line for each in findings_of(RULE, files)] == [9] * count


@pytest.mark.parametrize(
    ("made", "count"),
    [
        ("export const stock = axios.create({ baseURL, timeout: 5000 });", 1),
        ("export const stock = got.extend({ prefixUrl });", 1),
        ("export const stock = new Map();", 0),
    ],
)
@pytest.mark.parametrize("call", ["await stock.delete(`/rooms/${id}`);", "await release(id);"])
def test_a_client_that_another_file_makes(made, count, call):
    files = {
        "src/lib/http.ts": f"import axios from 'axios';\nimport got from 'got';\n{made}\n",
        "src/rooms.ts": "import { stock } from './lib/http';\nimport { source } from './db';\n"
        "async function release(id: number) {\n  await stock.delete(`/rooms/${id}`);\n}\n"
        "export async function close(id: number) {\n  await source.transaction(async (em) => {\n"
        f"    await em.delete(Room, {{ id }});\n    {call}\n  }});\n}}\n",
    }
    assert len(findings_of(RULE, files)) == count


HARBOUR = """
from django.db import transaction
from harbour import tides
from harbour.clients import bucket

@transaction.atomic
def berth(ship, pilots):
    ship.save()
    {call}
"""
TIDES = """
from harbour.clients import SESSION

def height(quay):
    return SESSION.get(f"https://tides.example/{quay}", timeout=5).json()

def known(quay):
    return TABLE.get(quay)
"""
HARBOUR_CLIENTS = """
import boto3
import requests

def session():
    made = requests.Session()
    made.headers["User-Agent"] = "harbour"
    return made

def bucket():
    return boto3.client("s3")

SESSION = session()
"""


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ("tides.height(ship.quay)", 1),
        ("tides.known(ship.quay)", 0),
        ('bucket().put_object(Bucket="ships", Key=ship.name)', 1),
        ('bucket().generate_presigned_url("get_object")', 0),
    ],
)
def test_a_client_that_another_file_holds_or_gives(call, count):
    files = {
        "harbour/berths.py": HARBOUR.format(call=call),
        "harbour/tides.py": TIDES,
        "harbour/clients.py": HARBOUR_CLIENTS,
    }
    assert [each.line for each in findings_of(RULE, files)] == [9] * count


@pytest.mark.parametrize(("kind", "count"), [("httpx.AsyncClient", 1), ("Ledger", 0)])
def test_a_client_that_an_object_was_given_is_asked_one_level_deep(kind, count):
    pilots = (
        f"import httpx\nfrom harbour.ledger import Ledger\n\nclass Pilots:\n    def __init__(self, link: {kind}):\n"
        '        self._link = link\n\n    async def order(self, ship):\n        await self._link.post("/orders")\n'
    )
    berths = (
        "from harbour.pilots import Pilots\n\nasync def berth(session, pilots: Pilots, ship):\n"
        "    async with session.begin():\n        ship.state = 'due'\n        await pilots.order(ship)\n"
    )
    files = {"harbour/pilots.py": pilots, "harbour/berths.py": berths}
    assert [each.line for each in findings_of(RULE, files)] == [6] * count


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ("QuarkusTransaction.requiringNew().run", 1),
        ("QuarkusTransaction.joiningExisting().call", 1),
        ("jdbi.useTransaction", 1),
        ("executor.run", 0),
    ],
)
def test_what_runs_a_lambda_in_a_transaction_by_its_name(runs, count):
    source = (
        "class Rides {\n  private final HttpClient meter;\n  void close(Ride ride) {\n"
        f"    {runs}(() -> {{\n      ride.close();\n      tell(ride);\n    }});\n  }}\n"
        "  private void tell(Ride ride) {\n    meter.sendAsync(request(ride), discarding()).join();\n  }\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"src/Rides.java": source})] == [6] * count


@pytest.mark.parametrize(("kind", "count"), [("MailGateway", 1), ("MailMerge", 0)])
def test_a_gateway_for_mail(kind, count):
    files = {
        "src/shop/Letters.java": (
            f"package shop;\n\nclass Letters {{\n  private final {kind} mail;\n\n"
            "  public void paid(Order o) {\n    mail.send(o.mail());\n  }\n}\n"
        ),
        "src/shop/Orders.java": SPRING.strip()
        + "\nclass Orders {\n  private final Letters letters;\n\n  @Transactional\n  public void pay(Order o) {\n"
        "    repository.save(o);\n    letters.paid(o);\n  }\n}\n",
    }
    assert [each.line for each in findings_of(RULE, files)] == [9] * count


@pytest.mark.parametrize(
    ("calls", "lines"),
    [
        (("requests.post(url, timeout=5)", "send_mail('a', 'b', 'c', ['d'])"), [12, 13]),
        (("requests.post(url, timeout=5)", "requests.get(url, timeout=5)"), [12]),  # one way, one thing to move
        (("requests.post(url, timeout=5)", "thank(order)"), [12, 13]),
        (("thank(order)", "send_mail('a', 'b', 'c', ['d'])"), [13]),
        (("requests.post(url, timeout=5)", "transaction.on_commit(thank)"), [12]),
    ],
)
def test_each_kind_of_what_leaves_is_told_once(calls, lines):
    head, body = (
        "\n\n".join(("", "def pay(order, url):\n    with transaction.atomic():")),
        "\n        ".join(("", *calls)),
    )
    after = "\n\n\ndef thank(order):\n    send_mail('a', 'b', 'c', ['d'])\n"
    found = findings_of(RULE, {"shop/a.py": DJANGO + head + body + after})
    assert [each.line for each in found] == lines


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ('new ProcessBuilder("lp", file).start()', 1),
        ('new ProcessBuilder("lp", file).inheritIO().start()', 1),
        ("printing.start()", 1),
        ("Runtime.getRuntime().exec(file)", 1),
        ("Runtime.getRuntime().availableProcessors()", 0),
        ("job.start()", 0),
    ],
)
def test_processes_of_java(call, count):
    source = (
        f"{SPRING}class A {{\n  @Transactional\n  public void print(String file) {{\n"
        f"    ProcessBuilder printing = of(file);\n    repository.save(file);\n    {call};\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/A.java": source})) == count


@pytest.mark.parametrize(
    ("tell", "confidences"),
    [
        ("    return ask('/orders')\n", ["medium"]),
        ("    found = ask('/orders')\n    print(found)\n    return found['id']\n", ["low"]),
        ("    found = tidy('/orders')\n    return found\n", []),
        ("    transaction.on_commit(ask)\n    return tidy('/orders')\n", []),
    ],
)
def test_a_function_that_leaves_by_a_client_of_the_project(tell, confidences):
    client = (
        "import requests\n\n\ndef ask(path):\n    url = BASE + path\n"
        "    return requests.get(url, timeout=3).json()\n\n\ndef tidy(path):\n    return path.strip()\n"
    )
    source = (
        "from django.db import transaction\nfrom shop.client import ask, tidy\n\n\ndef tell():\n" + tell + "\n\n"
        "def close(order):\n    with transaction.atomic():\n        order.save()\n        tell()\n"
    )
    found = findings_of(RULE, {"shop/__init__.py": "", "shop/client.py": client, "shop/orders.py": source})
    assert [each.confidence for each in found] == confidences
