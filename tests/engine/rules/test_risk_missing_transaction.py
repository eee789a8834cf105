import pytest

from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import DJANGO, PRISMA, findings

RULE = "risk-missing-transaction"
TASK = "from celery import shared_task\nfrom django.db import transaction\n\n@shared_task\n"
ROUTE = "const app = express();\n"

FLAGGED = [
    TASK + "def f(c):\n    Order.objects.create(customer=c)\n    Line.objects.create(amount=1)",
    TASK + "def f(c):\n    if c:\n        Order.objects.create(customer=c)\n    Line.objects.filter(pk=c.pk).delete()",
    TASK + "def f(c):\n    if c:\n        Order.objects.all().update(total=1)\n        Line.objects.create(amount=1)",
]
FINE = [
    "def f(c):\n    with transaction.atomic():\n        Order.objects.create(total=1)\n        Line.objects.create()",
    "@traced_atomic_transaction()\ndef f(c):\n    Order.objects.create(customer=c)\n    Line.objects.create(amount=1)",
    "@transaction.atomic\ndef f(c):\n    Order.objects.create(customer=c)\n    Line.objects.create(amount=1)",
    "def f(c):\n    Order.objects.create(customer=c)\n    Order.objects.create(customer=c)",
    "def f(c):\n    if c:\n        Order.objects.create(customer=c)\n    else:\n        Line.objects.create(amount=1)",
    "def f(c):\n    if c:\n        return Order.objects.create(customer=c)\n    Line.objects.create(amount=1)",
    "def f(c):\n    Order.objects.get(customer=c)\n    Line.objects.create(amount=1)",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_two_writes_of_a_job_are_found_at_the_first(source):
    (finding,) = findings(RULE, source)
    assert (finding.severity, finding.confidence) == ("warning", "medium")
    assert "Order" in finding.message


@pytest.mark.parametrize("source", FINE)
def test_one_transaction_one_table_or_one_branch_is_fine(source):
    assert findings(RULE, TASK + source) == []


def test_the_message_names_both_tables():
    (finding,) = findings(RULE, FLAGGED[0])
    line = (DJANGO + TASK).count("\n") + 2
    assert finding.line == line
    assert finding.message == (
        f"`Order` is inserted here and `Line` inserted on line {line + 1}, not in one transaction"
    )


def test_money_is_critical():
    source = TASK + "def f(c):\n    Wallet.objects.filter(pk=1).update(balance=1)\n    Order.objects.create(customer=c)"
    (finding,) = findings(RULE, source)
    assert finding.severity == "critical"


def test_outside_of_requests_and_jobs_nothing_is_said():
    source = "def f(c):\n    Order.objects.create(customer=c)\n    Line.objects.create(amount=1)"
    assert findings(RULE, source) == []


def test_a_function_that_is_only_called_in_transactions_is_fine():
    helper = "def fill(c):\n    Order.objects.create(customer=c)\n    Line.objects.create(amount=1)\n\n"
    caller = TASK + "def f(c):\n    with transaction.atomic():\n        fill(c)\n"
    other = "\n@shared_task\ndef g(c):\n    fill(c)\n"
    assert findings(RULE, helper + caller) == []
    assert len(findings(RULE, helper + caller + other)) == 1


def test_settings_that_make_each_request_a_transaction():
    view = (
        "from rest_framework.views import APIView\n\nclass Orders(APIView):\n    def post(self, request):\n"
        "        Order.objects.create(total=1)\n        Line.objects.create(amount=1)\n"
    )
    settings = "DATABASES = {'default': {'NAME': 'shop', 'ATOMIC_REQUESTS': True}}\n"
    assert len(findings(RULE, view)) == 1
    assert findings(RULE, view, others={"shop/settings.py": settings}) == []


PRISMA_WRITES = "await prisma.order.create({ data });\n  await prisma.line.update({ where, data });\n"
SCRIPT = "import express from 'express';\nconst app = express();\napp.post('/x', async (req, res) => {\n  %s});\n"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (PRISMA_WRITES, 1),
        (
            "await prisma.$transaction(async (tx) => {\n  await tx.order.create({});\n  await tx.line.create({});\n});",
            0,
        ),
        ("await prisma.$transaction([\n  prisma.order.create({ data }),\n  prisma.line.create({ data }),\n]);\n", 0),
    ],
)
def test_prisma(body, count):
    assert len(findings(RULE, SCRIPT % body, "shop/work.ts")) == count
    assert PRISMA


SPRING = """
package shop;
import org.springframework.web.bind.annotation.*;
import org.springframework.transaction.annotation.Transactional;

@RestController
class Orders {
  @PostMapping("/x")
  %s
  public void pay(Order order) {
    orderRepository.save(order);
    stockRepository.save(order.stock());
  }
}
"""


def test_spring_repositories():
    (finding,) = findings_of(RULE, {"Orders.java": SPRING % ""})
    assert finding.message == "`order` is saved here and `stock` saved on line 12, not in one transaction"
    assert findings_of(RULE, {"Orders.java": SPRING % "@Transactional"}) == []


def test_a_private_transactional_method_has_no_transaction():
    source = "class A {\n  @Transactional\n  private void save(Order o) { }\n  @Transactional\n  public void f() { }\n}"
    (finding,) = findings_of(RULE, {"A.java": source})
    assert (finding.line, finding.confidence) == (3, "high")


GO = (
    "package shop\n\nfunc f(db *sql.DB) error {\n\ttx, err := db.Begin()\n%s"
    "\tif _, err := tx.Exec(q); err != nil {\n\t\treturn err\n\t}\n\treturn tx.Commit()\n}\n"
)


def test_a_go_transaction_needs_a_rollback():
    assert [each.line for each in findings_of(RULE, {"a.go": GO % ""})] == [4]
    assert findings_of(RULE, {"a.go": GO % "\tdefer tx.Rollback()\n"}) == []


PROXIED = """class A {
  public void place(Order o) {
    save(o);
  }
  @Transactional
  public void save(Order o) {
    orders.add(o);
  }
}
"""


def test_a_method_called_on_its_own_object_gets_no_transaction():
    assert [each.line for each in findings_of(RULE, {"A.java": PROXIED})] == [3]
    assert findings_of(RULE, {"A.java": PROXIED.replace("    save(o);", "    other.save(o);")}) == []
    assert (
        findings_of(RULE, {"A.java": PROXIED.replace("  public void place", "  @Transactional\n  public void place")})
        == []
    )


def test_a_call_that_is_commented_out_is_none():
    assert findings_of(RULE, {"A.java": PROXIED.replace("    save(o);", "    // save(o);")}) == []


def test_a_listener_to_transactions_opens_none():
    source = PROXIED.replace("@Transactional", "@TransactionalEventListener(classes = Saved.class)")
    assert findings_of(RULE, {"A.java": source}) == []


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("session.add(o)\n    session.commit()\n    session.add(l)\n    session.commit()", [7]),
        ("session.add(o)\n    session.add(l)\n    session.commit()", []),
        (
            "o = session.get(Order, 1)\n    o.paid = 1\n    session.commit()\n    session.add(l)\n    session.commit()",
            [8],
        ),
        ("o.paid = 1\n    session.commit()\n    session.add(l)\n    session.commit()", []),
        (
            "if a:\n        session.add(o)\n        session.commit()\n    else:\n        session.add(l)\n"
            "        session.commit()",
            [],
        ),
    ],
)
def test_two_commits_of_sqlalchemy(body, lines):
    head = "from celery import shared_task\n\n\n@shared_task\ndef f(session, o, l):\n    a = o.a\n    "
    assert [each.line for each in findings_of(RULE, {"shop/tasks.py": head + body})] == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (
            "session.execute(update(Order))\n    session.commit()\n    session.add(l)\n    session.commit()",
            [7],
        ),
        (
            "session.execute(select(Order))\n    session.commit()\n    session.add(l)\n    session.commit()",
            [],
        ),
        ("session.add(o)\n    session.commit()\n    run(session, delete(Line))", [7]),
        ("session.add(o)\n    run(session, delete(Line))", []),
        ("session.add(o)\n    session.commit()\n    log_action(session, l)", []),
        ("session.add(o)\n    session.commit()\n    show(session, l)", []),
    ],
)
def test_statements_and_functions_that_commit_a_second_time(body, lines):
    head = "from celery import shared_task\n\n\n@shared_task\ndef f(session, o, l):\n    a = o.a\n    "
    rest = (
        "\n\n\ndef run(session, statement):\n    session.execute(statement)\n    session.commit()\n"
        "\n\ndef log_action(session, l):\n    session.add(l)\n    session.commit()\n"
        "\n\ndef show(session, l):\n    session.execute(select(Line))\n"
    )
    assert [each.line for each in findings_of(RULE, {"shop/tasks.py": head + body + rest})] == lines


def test_the_handlers_of_go_lead_into_all_files_of_a_package():
    files = {
        "go.mod": "module shop\n",
        "web/web.go": (
            'package web\nimport ("net/http"; "shop/orders")\ntype H struct{ svc *orders.Service }\n'
            "func (h *H) Place(w http.ResponseWriter, r *http.Request) {\n\th.svc.Keep()\n}\n"
        ),
        "orders/a.go": "package orders\ntype Service struct{ db *gorm.DB }\n",
        "orders/b.go": (
            'package orders\nimport "gorm.io/gorm"\nfunc (s *Service) Keep() {\n'
            "\ts.db.Create(&Order{})\n\ts.note()\n}\n"
        ),
        "orders/c.go": 'package orders\nimport "gorm.io/gorm"\nfunc (s *Service) note() {\n\ts.db.Create(&Line{})\n}\n',
    }
    assert [(each.file, each.line) for each in findings_of(RULE, files)] == [("orders/b.go", 4)]


def test_one_write_is_one_write_whoever_reads_it():
    entity = "@Entity\npublic class Favorite {\n  @Id\n  private long id;\n}\n"
    repository = "public interface FavoriteRepository extends JpaRepository<Favorite, Long> {}\n"
    service = (
        "@RestController\npublic class A {\n  @PostMapping\n  public void keep(Favorite favorite) {\n"
        "    favoriteRepository.save(favorite);\n  }\n}\n"
    )
    files = {"a/Favorite.java": entity, "a/FavoriteRepository.java": repository, "a/A.java": service}
    assert findings_of(RULE, files) == []


def test_upserts_of_a_job_that_runs_again_are_worth_knowing():
    source = TASK + ("def f(c):\n    Order.objects.update_or_create(customer=c)\n    Line.objects.{}(amount=1)")
    assert [each.severity for each in findings(RULE, source.format("update_or_create"))] == ["info"]
    assert [each.severity for each in findings(RULE, source.format("create"))] == ["warning"]


def test_two_rows_of_one_table_are_two_writes():
    head = TASK + "def f(key, n):\n    a = Wallet.objects.get(pk=key)\n    b = Wallet.objects.get(pk=n)\n"
    assert len(findings(RULE, head + "    a.save()\n    b.save()\n")) == 1
    assert findings(RULE, head + "    a.save()\n    a.save()\n") == []
    assert findings(RULE, head + "    with transaction.atomic():\n        a.save()\n        b.save()\n") == []


def test_the_other_half_may_stand_in_a_function_that_is_called():
    source = TASK + "def f(c):\n    Order.objects.create(customer=c)\n    add(c)\n\n\n{}def add(c):\n    {}\n"
    (finding,) = findings(RULE, source.format("", "Line.objects.create(amount=1)"))
    assert finding.confidence == "low"
    assert finding.message == "`Order` is inserted here and `Line` inserted in `add`, not in one transaction"
    assert findings(RULE, source.format("", "Order.objects.create(customer=c)")) == []
    assert findings(RULE, source.format("@transaction.atomic\n", "Line.objects.create(amount=1)")) == []


@pytest.mark.parametrize(("call", "count"), [("add(c)", 1), ("note.delete()", 0), ("note.save()", 0)])
def test_what_each_row_of_django_can_is_no_method_of_another_model(call, count):
    source = TASK + f"def f(c, note):\n    Order.objects.create(customer=c)\n    {call}\n\n\n"
    source += "def add(c):\n    Line.objects.create(amount=1)\n\n\n"
    source += "class Queue:\n    def delete(self):\n        Line.objects.create(amount=1)\n\n"
    source += "    def save(self):\n        Line.objects.create(amount=1)\n"
    assert len(findings(RULE, source)) == count


def test_a_call_inside_a_transaction_is_protected():
    source = TASK + (
        "def f(c):\n    with transaction.atomic():\n        Order.objects.create(customer=c)\n        add(c)\n\n\n"
        "def add(c):\n    Line.objects.create(amount=1)\n"
    )
    assert findings(RULE, source) == []


def test_rows_of_gorm_by_the_names_of_variables():
    source = (
        'package a\nimport ("gorm.io/gorm"; "net/http")\n'
        "func f(w http.ResponseWriter, r *http.Request) {\n\tdb.Create(&order)\n\tdb.Save(&stock)\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"a/a.go": source})] == [4]
    assert findings_of(RULE, {"a/a.go": source.replace("\tdb.Save(&stock)\n", "")}) == []


def test_models_of_another_package_of_go():
    source = """package a
import ("gorm.io/gorm"; "net/http")
func (s *S) Pay(w http.ResponseWriter, r *http.Request) {
	s.db.Create(&domain.Invoice{})
	s.db.WithContext(r.Context()).Create(&domain.Parcel{})
}
"""
    assert [each.line for each in findings_of(RULE, {"a/a.go": source})] == [4]
    assert findings_of(RULE, {"a/a.go": source.replace("domain.Invoice", "domain.Parcel")}) == []


def test_a_command_that_is_made_is_no_row():
    source = (
        "import mongoose from 'mongoose';\n" + ROUTE + "app.delete('/x', async (req, res) => {\n"
        "  const shop = await find.execute(FindShopCommand.create({ id: 1 }));\n"
        "  await shopRepository.delete({ id: shop.id });\n  res.end();\n});\n"
    )
    assert findings_of(RULE, {"src/a.ts": source}) == []


@pytest.mark.parametrize(("block", "confidence"), [("transaction.atomic()", "low"), ("timer()", "medium")])
def test_what_a_framework_runs_for_views_that_open_transactions_is_less_certain(block, confidence):
    head = "from django.db import transaction\nfrom rest_framework.views import APIView\n"
    head += "from shop.serializers import fill\n\n"
    view = (
        f"class Orders(APIView):\n    def post(self, request):\n        with {block}:\n            save(request)\n\n"
        "    def put(self, request):\n        fill(request.data)\n"
    )
    writes = DJANGO + "def fill(c):\n    Order.objects.create(customer=c)\n    Line.objects.create(amount=1)\n"
    found = findings(RULE, "", others={"shop/views.py": head + view, "shop/serializers.py": writes})
    assert [each.confidence for each in found] == [confidence]


def test_the_progress_of_a_job_stands_outside_of_what_it_does():
    source = TASK + "def f(c):\n    {}.objects.create(customer=c)\n    Line.objects.create(amount=1)"
    assert findings(RULE, source.format("LongRunningJob")) == []
    assert len(findings(RULE, source.format("Shipment"))) == 1


def test_what_jpa_refuses_without_a_transaction_has_one():
    entities = {
        f"src/{name}.java": f"import jakarta.persistence.*;\n@Entity\nclass {name} {{\n@Id\nprivate Long id;\n}}"
        for name in ("Order", "Line")
    }
    source = """import javax.ws.rs.*;
@RestController class A {{
@PostMapping("/x")
public void f(Long id) {{
{}
}} }}"""
    managed = 'em.createQuery("delete from Order o where o.id = 1").executeUpdate();\n'
    managed += 'em.createQuery("delete from Line l where l.id = 1").executeUpdate();'
    repositories = "\n".join(f"{name}Repository.save({name[0]});" for name in ("order", "line"))
    assert findings_of(RULE, entities | {"src/A.java": source.format(managed)}) == []
    assert len(findings_of(RULE, entities | {"src/A.java": source.format(repositories)})) == 1


def test_a_map_of_the_process_is_no_table():
    source = "import mongoose from 'mongoose';\nconst app = express();\n{}\napp.post('/x', async (req, res) => {{\n"
    source += "  Waiting.delete(req.id);\n  await Order.deleteOne({{ id: req.id }});\n}});\n"
    assert findings_of(RULE, {"src/a.js": source.format("const Waiting = new Map();")}) == []


@pytest.mark.parametrize(("name", "count"), [("get_line", 0), ("getaway", 1), ("add_line", 1)])
def test_what_reads_makes_a_row_only_where_none_is(name, count):
    helper = f"def {name}(c):\n    return Line.objects.create(amount=c)\n\n"
    caller = TASK + f"def f(c):\n    {name}(c)\n    Order.objects.create(customer=c)\n"
    assert len(findings(RULE, helper + caller)) == count


@pytest.mark.parametrize(("path", "count"), [("shop/cli/work.py", 0), ("shop/client/work.py", 1)])
def test_a_command_line_is_no_job(path, count):
    assert len(findings(RULE, FLAGGED[0], path)) == count


def test_a_private_method_has_the_transaction_of_all_that_call_it():
    source = PROXIED.replace("public void place", "private void place")
    caller = "  %spublic void start(Order o) {\n    place(o);\n  }\n}\n"
    for annotation, count in (("", 1), ("@Transactional\n  ", 0)):
        text = source.removesuffix("}\n") + caller % annotation
        assert len(findings_of(RULE, {"A.java": text})) == count


@pytest.mark.parametrize(("leaves", "count"), [("if (gone.count > 0) return;", 0), ("if (late) return;", 1)])
def test_a_write_that_is_made_instead_of_the_first(leaves, count):
    body = (
        f"const gone = await prisma.order.deleteMany({{ where: {{ id }} }});\n{leaves}\n"
        "await prisma.line.delete({ where: { id } });\n"
    )
    assert len(findings(RULE, SCRIPT % body, "shop/work.ts")) == count


@pytest.mark.parametrize(
    ("stores", "confidence"),
    [("data.mongodb.core.MongoTemplate", "low"), ("data.mongodb.MongoTransactionManager", "medium")],
)
def test_documents_without_transactions_are_a_guess(stores, confidence):
    source = (
        f"import org.springframework.data.mongodb.core.Mapping;\nimport org.springframework.{stores};\n{SPRING % ''}"
    )
    (finding,) = findings_of(RULE, {"Orders.java": source})
    assert finding.confidence == confidence


@pytest.mark.parametrize(
    ("old", "new", "count"),
    [
        ("    save(o);", "    new TransactionTemplate(manager).execute(status -> save(o));", 0),
        ("@Transactional", "@Transactional(readOnly = true)", 0),
        ("class A", "import io.quarkus.Startup;\nclass A", 0),
        ("class A", "import org.springframework.Startup;\nclass A", 1),
    ],
)
def test_who_needs_no_proxy(old, new, count):
    assert len(findings_of(RULE, {"A.java": PROXIED.replace(old, new, 1)})) == count


@pytest.mark.parametrize(("annotation", "count"), [("@Transactional", 0), ("", 1)])
def test_writes_of_a_private_half_of_a_transaction(annotation, count):
    source = SPRING.replace(
        "  public void pay(Order order) {",
        "  public void pay(Order order) {\n    half(order);\n  }\n  private void half(Order order) {",
    )
    assert len(findings_of(RULE, {"Orders.java": source % annotation})) == count


@pytest.mark.parametrize(("made", "count"), [("await Line", 1), ("const line = Line", 0)])
def test_an_object_that_is_only_made_is_no_row(made, count):
    body = f"await Order.create({{ data }});\n  {made}.create({{ data }});\n"
    models = (
        "import mongoose from 'mongoose';\nconst Order = mongoose.model('Order', s);\n"
        "const Line = mongoose.model('Line', s);\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": models + SCRIPT % body})) == count


@pytest.mark.parametrize(("model", "severity"), [("Transfer", "critical"), ("TransferStatus", "warning")])
def test_the_status_of_handing_something_over_is_no_money(model, severity):
    body = f"await prisma.order.create({{ data }});\n  await prisma.{model[0].lower()}{model[1:]}.create({{ data }});\n"
    (finding,) = findings(RULE, SCRIPT % body, "shop/work.ts")
    assert finding.severity == severity


@pytest.mark.parametrize(("made", "count"), [("", 0), ("    cursor = connect()\n", 1)])
def test_a_cursor_that_the_caller_gives_brings_its_transaction(made, count):
    head = "def f(cursor):" if not made else "def f():"
    source = (
        f"@shared_task\n{head}\n{made}    cursor.execute('DELETE FROM shop_order WHERE id = 1')\n"
        "    cursor.execute('UPDATE shop_line SET amount = 1 WHERE id = 1')\n"
    )
    assert len(findings(RULE, "from celery import shared_task\n" + source)) == count


@pytest.mark.parametrize(("second", "count"), [("key", 0), ("other", 1)])
def test_the_same_row_of_a_script_twice_is_one(second, count):
    body = f"const key = new Key();\n  const other = new Key();\n  await key.save();\n  await {second}.save();\n"
    models = "import mongoose from 'mongoose';\nconst Key = mongoose.model('Key', s);\n"
    assert len(findings_of(RULE, {"src/a.ts": models + SCRIPT % body})) == count


@pytest.mark.parametrize(
    ("second", "count"),
    [("Account.objects.filter(pk=to).update(balance=2)", 1), ("Account.objects.filter(pk=source).update(total=2)", 0)],
)
def test_rows_of_one_table_by_their_keys(second, count):
    model = "class Account(models.Model):\n    balance = models.IntegerField()\n\n"
    source = f"{model}{TASK}def f(source, to):\n    Account.objects.filter(pk=source).update(balance=1)\n    {second}"
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("orders.save(o); lines.save(o);", ["high"]),
        ("orders.save(o);", ["low"]),
        ("rows = orders.findAll();", []),
    ],
)
def test_one_write_needs_no_transaction_of_its_own(body, confidences):
    source = PROXIED.replace("orders.add(o);", body)
    assert [each.confidence for each in findings_of(RULE, {"A.java": source})] == confidences


@pytest.mark.parametrize(("opened", "count"), [("db.write_ctx()", 0), ("connection.cursor()", 1)])
def test_a_block_that_opens_a_transaction_of_its_own(opened, count):
    source = (
        f"@shared_task\ndef f():\n    with {opened} as cursor:\n        cursor.execute('DELETE FROM a WHERE id = 1')\n"
        "        cursor.execute('UPDATE b SET amount = 1 WHERE id = 1')\n"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("opens", "count"), [("with transaction.atomic():\n        step(c)", 0), ("step(c)", 1)])
def test_who_calls_the_caller_opens_the_transaction(opens, count):
    source = (
        "from celery import shared_task\nfrom django.db import transaction\n\n@shared_task\ndef start(c):\n"
        f"    {opens}\n\ndef step(c):\n    place(c)\n\ndef place(c):\n"
        "    Order.objects.create(customer=c)\n    Line.objects.create(amount=1)\n"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(
    ("body", "confidences"),
    [
        ("\tif _, err := tx.Exec(q); err != nil {\n\t\treturn err\n\t}\n", ["high"]),
        ("\ttx.Exec(q)\n", []),
        ("\tif !rows.Next() {\n\t\tpanic(q)\n\t}\n\ttx.Exec(q)\n", []),
        ("", []),
    ],
)
def test_what_a_go_transaction_leaves_open(body, confidences):
    source = f"package shop\n\nfunc f(db *sql.DB) error {{\n\ttx, err := db.Begin()\n{body}\treturn tx.Commit()\n}}\n"
    assert [each.confidence for each in findings_of(RULE, {"a.go": source})] == confidences


def test_rows_that_repositories_of_spring_change_by_methods_of_their_own():
    entity = (
        "package shop;\nimport jakarta.persistence.*;\n@Entity\npublic class Purse { @Id Long id; long credits; }\n"
    )
    repository = (
        "package shop;\npublic interface PurseRepository extends JpaRepository<Purse, Long> {\n"
        '  @Modifying\n  @Query("update Purse p set p.credits = p.credits + :n where p.id = :id")\n'
        "  int addCredits(Long id, long n);\n}\n"
    )
    controller = (
        "package shop;\n@RestController\npublic class Transfers {\n  private final PurseRepository purses;\n"
        '  private TransactionTemplate tx;\n  @PostMapping("/a")\n'
        "  public void move(Long from, Long to, long n) {\n    {}\n  }\n}\n"
    )
    both = "purses.addCredits(from, -n);\n    purses.addCredits(to, n);"

    def count(body, annotation=""):
        source = controller.replace("{}", body).replace("  public void move", f"  {annotation}\n  public void move")
        files = {"Purse.java": entity, "PurseRepository.java": repository, "Transfers.java": source}
        return len(findings_of(RULE, {f"src/main/java/shop/{name}": text for name, text in files.items()}))

    assert count(both) == 1
    assert count("purses.addCredits(from, -n);") == 0
    assert count(both, "@Transactional") == 0
    assert count(f"tx.executeWithoutResult(status -> {{\n    {both}\n    }});") == 0


FOUND_AGAIN = (
    "region = Region.objects.filter(name=n).first()\n    if not region:\n"
    "        region = Region.objects.create(name=n)\n    "
)


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("Order.objects.create()\n    ", 1),
        ("# outside of the transaction, so that others see it at once\n    Order.objects.create()\n    ", 0),
        ("# TODO: one transaction\n    Order.objects.create()\n    ", 1),
        (FOUND_AGAIN, 0),
        ("if x:\n        order = Order.objects.create()\n        Line.objects.create(order=order)\n    ", 1),
    ],
)
def test_first_halves_that_are_meant_or_found_again(before, count):
    source = f"from celery import shared_task\n\n\n@shared_task\ndef work(n, x):\n    {before}Line.objects.create()\n"
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("leaves", "count"), [("return", 0), ("pass", 1)])
def test_a_callee_that_runs_in_another_branch_writes_for_itself(leaves, count):
    source = (
        "from celery import shared_task\n\n\n@shared_task\ndef work(n, x):\n    if x:\n"
        f"        Order.objects.create()\n        {leaves}\n    fill(n)\n\n\ndef fill(n):\n    Line.objects.create()\n"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(
    ("first", "count"),
    [
        ("if True:\n        kind = Kind(name=n)\n        db.session.add(kind)\n        db.session.commit()", 1),
        ("if not kind:\n        kind = Kind(name=n)\n        db.session.add(kind)\n        db.session.commit()", 0),
        ("db.session.add(kind)\n    db.session.commit()", 1),
        ("db.session.add(kind)\n    # commit now, so that the worker sees it\n    db.session.commit()", 0),
    ],
)
def test_a_row_that_is_committed_first_and_found_again(first, count):
    source = (
        "from celery import shared_task\nfrom app import db\n\n\n@shared_task\ndef work(n):\n"
        f"    kind = Kind.query.filter(Kind.name == n).first()\n    {first}\n"
        "    item = Item(kind=kind)\n    db.session.add(item)\n    db.session.commit()\n"
    )
    assert len(findings_of(RULE, {"app/tasks.py": source})) == count


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("Order.objects.filter(pk=n).delete()", "Line.objects.filter(pk=n).delete()", ("info", "low")),
        ("Order.objects.filter(pk=n).update(is_paid=True)", "Line.objects.filter(pk=n).delete()", ("info", "low")),
        (
            "Order.objects.filter(pk=n).update(a=F('a') - n)",
            "Line.objects.filter(pk=n).delete()",
            ("warning", "medium"),
        ),
        ("Order.objects.create(pk=n)", "Line.objects.filter(pk=n).delete()", ("warning", "medium")),
    ],
)
def test_what_the_next_run_of_a_job_leaves_alike(first, second, expected):
    source = f"from celery import shared_task\n\n\n@shared_task\ndef work(n):\n    {first}\n    {second}\n"
    assert [(each.severity, each.confidence) for each in findings(RULE, source)] == [expected]


@pytest.mark.parametrize("inside", ["Order.objects.select_for_update().get(pk=n)", "transaction.on_commit(tell)"])
def test_what_locks_rows_or_waits_for_the_commit_runs_in_a_transaction(inside):
    writes = "Order.objects.create(pk=n)\n    Line.objects.create(pk=n)"
    source = f"from celery import shared_task\n\n\n@shared_task\ndef work(n):\n    {inside}\n    {writes}\n"
    assert findings(RULE, source) == []


@pytest.mark.parametrize(("kind", "count"), [("TransactionTemplate", 0), ("ThreadPool", 1)])
def test_writes_in_what_a_template_of_any_name_runs(kind, count):
    source = (
        "package shop;\n@RestController\npublic class Work {\n  private OrderRepository orders;\n"
        f"  private LineRepository lines;\n  private {kind} tx;\n"
        '  @PostMapping("/a")\n  public void move(Order o, Line l) {\n    tx.executeWithoutResult(status -> {\n'
        "      orders.save(o);\n      lines.save(l);\n    });\n  }\n}\n"
    )
    assert len(findings_of(RULE, {"src/main/java/shop/Work.java": source})) == count


@pytest.mark.parametrize(("handle", "count"), [("s.db", 1), ("tx", 0)])
def test_a_parameter_of_go_that_is_called_t_is_no_transaction(handle, count):
    source = (
        'package a\nimport ("database/sql"; "net/http")\n'
        "func (s *S) Move(w http.ResponseWriter, r *http.Request) {\n"
        f'\t{handle}.ExecContext(ctx, "UPDATE parcels SET shelf = $1 WHERE id = $2", t.Shelf, t.Parcel)\n'
        f'\t{handle}.ExecContext(ctx, "UPDATE shelves SET state = $1 WHERE id = $2", t.State, t.Shelf)\n}}\n'
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(
    ("loaded", "count"),
    [
        ("User.query.filter_by(id=key).one()", 1),
        ("(\n        db.session.query(User)\n        .filter_by(id=key)\n        .one()\n    )", 1),
        ("make(key)", 0),
    ],
)
def test_rows_that_a_query_of_the_model_gives_are_written_by_the_commit(loaded, count):
    source = (
        f"@app.post('/x')\ndef move(key, other):\n    first = {loaded}\n    first.state = 1\n    db.session.commit()\n"
        f"    second = {loaded}\n    second.state = 2\n    db.session.commit()\n"
    )
    assert len(findings_of(RULE, {"shop/work.py": source})) == count


KNEX = 'import knex from "knex";\nexport const db = knex({ client: "pg" });\n'
BODY = 'const [v] = await db("visits").insert({ day }).returning("id");\n  '


@pytest.mark.parametrize(
    ("body", "pool", "count"),
    [
        (BODY + 'await db("visit_notes").insert({ visit: v.id });', KNEX, 1),
        (BODY + 'await db("visit_notes").insert({ visit: v.id });', 'export const db = open("store");\n', 0),
        (BODY + 'await db("visits").select("id");', KNEX, 0),
        (
            "await db.transaction(async (trx) => {\n"
            '    await trx("visits").insert({ day });\n    await trx("visit_notes").insert({ day });\n  });',
            KNEX,
            0,
        ),
    ],
)
def test_knex_whose_handle_another_file_makes(body, pool, count):
    source = (
        'import express from "express";\nimport { db } from "./pool";\nconst app = express();\n'
        f'app.post("/x", async (req, res) => {{\n  const {{ day }} = req.body;\n  {body}\n}});\n'
    )
    assert len(findings_of(RULE, {"src/a.ts": source, "src/pool.ts": pool})) == count


CLAIM = (
    'import { db } from "./pool";\nexport async function %s(event) {\n'
    '  const rows = await db("webhook_events").insert({ id: event.id }).onConflict("id").ignore().returning("id");\n'
    "  return rows.length > 0;\n}\n"
)
GRANT = 'await db("accounts").where({ id: event.account }).increment("cents", event.cents);'


@pytest.mark.parametrize(
    ("name", "body", "count"),
    [
        ("claimEvent", "if (!(await claimEvent(event))) return;\n  " + GRANT, 1),
        ("keepEvent", GRANT + "\n  await keepEvent(event);", 0),
        ("claimEvent", 'await db("webhook_events").insert({ id: event.id });\n  ' + GRANT, 1),
        ("claimEvent", GRANT + '\n  await db("webhook_events").insert({ id: event.id });', 0),
        (
            "claimEvent",
            'await db("webhook_events").insert({ id: event.id });\n  '
            + GRANT
            + '\n  await db("webhook_events").where({ id: event.id }).update({ done: true });',
            0,
        ),
        ("claimEvent", 'await db("audit_events").insert({ id: event.id });\n  ' + GRANT, 0),
        (
            "claimEvent",
            "await db.transaction(async (trx) => {\n    if (!(await claimEvent(event))) return;\n"
            '    await trx("accounts").where({ id: event.account }).increment("cents", event.cents);\n  });',
            0,
        ),
    ],
)
def test_a_delivery_that_is_claimed_belongs_to_what_is_done_for_it(name, body, count):
    source = (
        f'import express from "express";\nimport {{ db }} from "./pool";\nimport {{ {name} }} from "./claims";\n'
        'const app = express();\napp.post("/hooks/pay", async (req, res) => {\n'
        f"  const event = verified(req);\n  {body}\n  res.end();\n}});\n"
    )
    files = {"src/a.ts": source, "src/pool.ts": KNEX, "src/claims.ts": CLAIM % name}
    assert len(findings_of(RULE, files)) == count


GO_WRITES = """package a
import ("gorm.io/gorm"; "net/http")
func (s *S) Move(w http.ResponseWriter, r *http.Request) {
	%s
	if err != nil {
		return
	}
	err = s.db.Model(&Wallet{}).Where("id = ?", %s).Update("state", 1).Error
}
"""


@pytest.mark.parametrize(
    ("first", "key", "count"),
    [
        ('err := s.db.Model(&Wallet{}).Where("id = ? AND state = 0", from).Update("state", 2).Error', "to", 1),
        ('err := s.db.Model(&Wallet{}).Where("id = ?", to).Update("state", 2).Error', "to", 0),
        ('err := s.db.Model(&Wallet{}).Where("owner = ?", from).Update("state", 2).Error', "to", 0),
        ("err := s.db.Create(&Order{}).Error", "to", 1),
        ("done := s.db.Create(&Order{}).Error == nil\n\tif done {\n\t\treturn\n\t}\n\terr := check()", "to", 0),
    ],
)
def test_writes_of_go_to_two_rows_with_the_failure_of_the_first_in_between(first, key, count):
    assert len(findings_of(RULE, {"a/a.go": GO_WRITES % (first, key)})) == count


@pytest.mark.parametrize(("runner", "count"), [("pgx.BeginFunc(ctx, s.pool, ", 0), ("s.each(ctx, ", 1)])
def test_what_a_function_of_pgx_runs_in_its_transaction(runner, count):
    source = (
        'package a\nimport ("github.com/jackc/pgx/v5"; "net/http")\n'
        "func (s *S) Move(w http.ResponseWriter, r *http.Request) {\n"
        f"\t{runner}func(q pgx.Tx) error {{\n"
        '\t\tq.Exec(ctx, "UPDATE parcels SET shelf = $1 WHERE id = $2", t.Shelf, t.Parcel)\n'
        '\t\tq.Exec(ctx, "UPDATE shelves SET state = $1 WHERE id = $2", t.State, t.Shelf)\n\t\treturn nil\n\t})\n}\n'
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


@pytest.mark.parametrize(
    ("head", "second", "confidences"),
    [
        ("func (s *S) move(id int) {", 'UPDATE shelves SET state = state + 1 WHERE id = $2"', ["low"]),
        ("func move(s *S, id int) {", 'UPDATE shelves SET state = state + 1 WHERE id = $2"', []),
        ("func (s *S) move(id int) {", 'DELETE FROM shelves WHERE id = $1"', []),
    ],
)
def test_a_method_of_a_server_in_go_to_which_no_way_is_seen(head, second, confidences):
    source = (
        'package a\nimport "net/http"\nfunc Show(w http.ResponseWriter, r *http.Request) { answer(w) }\n'
        f'{head}\n\ts.db.Exec("DELETE FROM parcels WHERE id = $1", id)\n\ts.db.Exec("{second}, id)\n}}\n'
    )
    assert [each.confidence for each in findings_of(RULE, {"a/a.go": source})] == confidences
    assert findings_of(RULE, {"a/a.go": source.replace("http.ResponseWriter, r *http.Request", "Writer")}) == []


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ('"UPDATE wallets SET coins = coins - $1 WHERE id = $2", n, from', "to", 1),
        ('"UPDATE wallets SET coins = coins - ? WHERE id = ?", n, from', "to", 1),
        ('"UPDATE wallets SET coins = coins - $1 WHERE id = $2", n, to', "to", 0),
        ('"UPDATE wallets SET coins = coins - $1 WHERE owner = $2", n, from', "to", 0),
    ],
)
def test_two_rows_of_one_table_by_what_is_bound_to_their_keys(one, other, count):
    source = (
        'package a\nimport ("database/sql"; "net/http")\nfunc (s *S) Move(w http.ResponseWriter, r *http.Request) {\n'
        f"\ts.db.ExecContext(ctx, {one})\n"
        f'\ts.db.ExecContext(ctx, "UPDATE wallets SET coins = coins + $1 WHERE id = $2", n, {other})\n}}\n'
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


DRIZZLE_TABLES = (
    "import { pgTable, serial } from 'drizzle-orm/pg-core';\n"
    "export const orders = pgTable('orders', { id: serial() });\n"
    "export const lines = pgTable('lines', { id: serial() });\n"
)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("await db.insert(orders).values({ id });\n  await db.delete(lines).where(eq(lines.id, id));", 1),
        ("await db\n    .update(orders)\n    .set({ id });\n  await db.insert(lines).values({ id });", 1),
        ("await db.insert(orders).values({ id });\n  await db.insert(orders).values({ id });", 0),
        (
            "await db.transaction(async (tx) => {\n    await tx.insert(orders).values({ id });\n"
            "    await tx.insert(lines).values({ id });\n  });",
            0,
        ),
        ("await db.batch([\n    db.insert(orders).values({ id }),\n    db.insert(lines).values({ id }),\n  ]);", 0),
    ],
)
def test_drizzle(body, count):
    source = (
        "import { eq } from 'drizzle-orm';\nimport { db, lines, orders } from '../db';\n"
        f"export default async function handler(req, res) {{\n  const id = req.body.id;\n  {body}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/db.ts": DRIZZLE_TABLES, "pages/api/orders.ts": source})) == count


@pytest.mark.parametrize(("verb", "count"), [("get_or_create", 0), ("update_or_create", 1), ("create", 1)])
def test_a_row_that_is_found_again_is_no_half(verb, count):
    source = TASK + f"def f(c):\n    order = Order.objects.{verb}(customer=c)\n    Line.objects.create(order=order)"
    assert len(findings(RULE, source)) == count
    halves = TASK + f"def f(c):\n    Order.objects.{verb}(customer=c)\n    fill(c)\n\n"
    halves += "def fill(c):\n    Line.objects.create(amount=1)\n"
    assert len(findings(RULE, halves)) == count
    others = halves.replace(verb, "create").replace("Line.objects.create", f"Line.objects.{verb}")
    assert len(findings(RULE, others)) == 1


@pytest.mark.parametrize(
    ("condition", "count"), [("not order", 0), ("order is None", 0), ("order", 1), ("not line", 1)]
)
def test_a_row_that_is_made_only_where_the_first_branch_found_none(condition, count):
    source = TASK + (
        "def f(c, order, line):\n    if c:\n        order = c.order\n        Line.objects.create(order=order)\n"
        f"    if {condition}:\n        Order.objects.create(customer=c)"
    )
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("between", "count"), [("    conn.commit()\n", 1), ("", 0)])
def test_statements_of_a_driver_that_are_committed_one_by_one(between, count):
    source = (
        "import psycopg\nfrom celery import shared_task\n\n@shared_task\ndef merge(dsn, keep, drop):\n"
        "    conn = psycopg.connect(dsn)\n"
        f'    conn.execute("UPDATE trips SET quay = %s WHERE quay = %s", (keep, drop))\n{between}'
        '    conn.execute("DELETE FROM quays WHERE id = %s", (drop,))\n    conn.commit()\n'
    )
    assert [each.line for each in findings_of(RULE, {"ferry/merge.py": source})] == [7] * count


@pytest.mark.parametrize(
    ("save", "count"),
    [
        ("entry.save(update_fields=['state'])", 1),
        ("line.save(update_fields=['state'])", 0),
        ("entry.save()", 0),
        ("self.save(update_fields=['state'])", 0),
    ],
)
def test_a_row_that_a_function_is_given_is_saved_beside_another(save, count):
    source = TASK + f"def f(self, entry, line):\n    {save}\n    Line.objects.create(amount=1)"
    assert len(findings(RULE, source)) == count


def test_a_row_by_its_name_alone_is_no_half_of_what_is_called():
    source = TASK + "def f(entry):\n    entry.save(update_fields=['state'])\n    fill(entry)\n\n"
    source += "def fill(entry):\n    Line.objects.create(amount=1)\n"
    assert findings(RULE, source) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("Line.objects.filter(order=c).delete()\n    Line.objects.create(order=c)", 1),
        ("Line.objects.create(order=c)\n    Line.objects.filter(order=c, old=True).delete()", 0),
        ("Line.objects.filter(order=c).delete()\n    Line.objects.filter(spare=True).delete()", 0),
        ("Line.objects.filter(order=c).delete()", 0),
    ],
)
def test_a_row_that_is_taken_from_here_and_made_there(body, count):
    assert len(findings(RULE, TASK + f"def f(c):\n    {body}")) == count


MILL = """package mill

import (
	"context"
	"database/sql"
	"net/http"
)

type Sacks struct{ db *sql.DB }

func (s *Sacks) Fill(ctx context.Context, id int) error {
	_, err := s.db.ExecContext(ctx, `UPDATE sacks SET full = true WHERE id = $1`, id)
	return err
}

func (s *Sacks) Weigh(ctx context.Context, id int) error {
	_, err := s.db.ExecContext(ctx, `UPDATE sacks SET weight = $1 WHERE id = $2`, 9, id)
	return err
}

type Bins struct{ db *sql.DB }

func (b *Bins) Empty(ctx context.Context, id, n int) error {
	_, err := b.db.ExecContext(ctx, `UPDATE bins SET level = level - $1 WHERE id = $2`, n, id)
	return err
}

func (b *Bins) Level(ctx context.Context, id int) error {
	return b.db.QueryRowContext(ctx, `SELECT level FROM bins WHERE id = $1`, id).Scan(&id)
}

func (m *Mill) serve(w http.ResponseWriter, r *http.Request) {
	m.Grind(r.Context(), 7)
}

type Mill struct {
	sacks *Sacks
	bins  *Bins
}

"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if err := m.bins.Empty(ctx, id, 2); err != nil {\n\t\tpanic(err)\n\t}\n\treturn m.sacks.Fill(ctx, id)", [42]),
        ("err := m.bins.Empty(ctx, id, 2)\n\tcheck(err)\n\treturn m.sacks.Fill(ctx, id)", [42]),
        ("m.sacks.Fill(ctx, id)\n\treturn m.sacks.Weigh(ctx, id)", []),
        ("m.bins.Level(ctx, id)\n\treturn m.sacks.Fill(ctx, id)", []),
        ("if id > 9 {\n\t\treturn m.bins.Empty(ctx, id, 2)\n\t}\n\treturn m.sacks.Fill(ctx, id)", []),
        ("tx := m.Begin(ctx)\n\tm.bins.Empty(ctx, id, 2)\n\tm.sacks.Fill(ctx, id)\n\treturn tx.Commit()", []),
        ("return m.InTx(ctx, func() error {\n\t\tm.bins.Empty(ctx, id, 2)\n\t\treturn m.sacks.Fill(ctx, id)\n\t})", []),
    ],
)
def test_a_service_of_go_that_has_two_stores_write(body, lines):
    source = MILL + f"func (m *Mill) Grind(ctx context.Context, id int) error {{\n\t{body}\n}}\n"
    found = findings_of(RULE, {"mill/a.go": source})
    assert [each.line for each in found] == lines
    assert all(each.confidence == "low" for each in found)


@pytest.mark.parametrize(
    ("modifier", "package", "confidence"),
    [
        ("", "jakarta", "low"),
        ("protected ", "jakarta", "low"),
        ("private ", "jakarta", "high"),
        ("", "javax", "medium"),
    ],
)
def test_since_spring_6_proxies_of_classes_see_what_is_not_private(modifier, package, confidence):
    source = (
        f"import {package}.persistence.Entity;\nimport org.springframework.stereotype.Service;\n"
        f"@Service\nclass Ledger {{\n  @Transactional\n  {modifier}void book(Order o) {{ orders.save(o); }}\n}}\n"
    )
    assert [each.confidence for each in findings_of(RULE, {"Ledger.java": source})] == [confidence]


TRANSFERS = {
    "src/a.js": (
        "import mongoose from 'mongoose';\nconst Purse = mongoose.model('Purse', s);\n"
        + ROUTE
        + "app.post('/x', async (req, res) => {\n  const { from, to } = req.body;\n"
        "  await Purse.updateOne({ code: %s }, { $inc: { coins: 1 } });\n"
        "  await Purse.updateOne({ %s }, { $inc: { coins: -1 } });\n});\n"
    ),
    "src/b.js": (
        "const knex = require('knex')(config);\n" + ROUTE + "app.post('/x', async (req, res) => {\n"
        "  const { from, to } = req.body;\n  await knex('purses').where({ code: %s }).increment('coins', 1);\n"
        "  await knex('purses').where({ %s }).decrement('coins', 1);\n});\n"
    ),
}


@pytest.mark.parametrize("path", TRANSFERS)
@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("from", "code: to", 1),
        ("from", "code: from", 0),
        ("from", "owner: to", 0),  # which may be the same row
        ("from", "code: true", 0),
        ("from", "code: to, kind", 0),
    ],
)
def test_rows_of_one_table_by_any_key_of_a_script(path, first, second, count):
    assert len(findings_of(RULE, {path: TRANSFERS[path] % (first, second)})) == count


JPA = """
@Service
class Purses {
  private final PurseRepository purses;

  @PostMapping("/x")
  public void move(Purse from, Purse to) {
    purses.save(%s);
    purses.save(%s);
  }
}
interface PurseRepository extends JpaRepository<Purse, Long> {}
"""


@pytest.mark.parametrize(
    ("first", "second", "confidences"),
    [
        ("from", "to", ["medium"]),
        ("from", "from", []),
        ("new Purse(from, -1)", "new Purse(to, 1)", ["low"]),
        ('new Purse("a")', 'new Purse("b")', []),
        ("new Purse(from)", "from", []),
    ],
)
def test_rows_that_a_repository_is_handed(first, second, confidences):
    source = "import org.springframework.data.jpa.repository.JpaRepository;\n" + JPA % (first, second)
    assert [each.confidence for each in findings_of(RULE, {"Purses.java": source})] == confidences


@pytest.mark.parametrize(("made", "count"), [("amount=c.a", 0), ("amount=c.b", 1)])
def test_rows_that_are_made_of_other_values(made, count):
    source = TASK + f"def f(c):\n    Line.objects.create(amount=c.a)\n    Line.objects.create({made})\n"
    assert [each.confidence for each in findings(RULE, source)] == ["low"] * count


@pytest.mark.parametrize(("table", "count"), [("OutboxMessage", 1), ("AuditMessage", 0)])
def test_a_message_that_waits_in_a_table_belongs_to_the_rest(table, count):
    source = TASK + f"def f(c):\n    Order.objects.create(customer=c)\n    {table}.objects.create(topic=c)\n"
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("name", "count"), [("order", 1), ("job", 0)])
def test_a_row_that_is_given_is_half_of_what_a_callee_completes(name, count):
    source = TASK + f"def f({name}):\n    {name}.save(update_fields=['total'])\n    add({name})\n\n\n"
    source += "def add(c):\n    Line.objects.create(amount=1)\n"
    assert [each.confidence for each in findings(RULE, source)] == ["low"] * count


@pytest.mark.parametrize(("name", "count"), [("update_order_search_vector", 0), ("update_order_lines", 1)])
def test_what_a_search_reads_is_made_anew(name, count):
    source = TASK + f"def f(c):\n    Order.objects.create(customer=c)\n    {name}(c)\n\n\n"
    source += f"def {name}(c):\n    Line.objects.filter(order=c).update(amount=1)\n"
    assert len(findings(RULE, source)) == count


@pytest.mark.parametrize(("end", "count"), [("", 1), ("\tdefer tx.Rollback()\n", 0)])
@pytest.mark.parametrize("begin", ["MustBegin()", "MustBeginTx(ctx, nil)"])
def test_a_transaction_of_sqlx_that_panics_where_it_cannot_begin(begin, end, count):
    source = (
        'package a\nimport "github.com/jmoiron/sqlx"\nfunc keep(ctx context.Context, db *sqlx.DB, row Row) error {\n'
        f"\ttx := db.{begin}\n{end}"
        '\tif _, err := tx.NamedExec("INSERT INTO rows (id) VALUES (:id)", row); err != nil {\n\t\treturn err\n\t}\n'
        "\treturn tx.Commit()\n}\n"
    )
    assert len(findings_of(RULE, {"a/a.go": source})) == count


BILLS = {
    "shop/models.py": (
        "from flask_sqlalchemy import SQLAlchemy\ndb = SQLAlchemy()\n\n\n"
        "class Bill(db.Model):\n    id = db.Column(db.Integer, primary_key=True)\n\n\n"
        "class Line(db.Model):\n    id = db.Column(db.Integer, primary_key=True)\n"
    ),
    "shop/web.py": (
        "from flask import Flask\nfrom shop.models import Bill, db\nfrom shop.desk import settle\n"
        "app = Flask(__name__)\n"
        "@app.post('/bills/<int:pk>')\ndef add(pk):\n    settle(db.session.get(Bill, pk))\n    return ''\n"
    ),
}


@pytest.mark.parametrize(
    ("given", "steps", "count"),
    [
        ("bill: Bill", ["db.session.add(Line())", "db.session.commit()", "bill.paid = True", "db.session.commit()"], 1),
        (
            "bill: Bill | None",
            ["db.session.add(Line())", "db.session.commit()", "bill.n = 1", "db.session.commit()"],
            1,
        ),
        ("bill: Bill", ["db.session.add(Line())", "bill.paid = True", "db.session.commit()"], 0),
        ("bill: Bill", ["db.session.add(bill)", "db.session.commit()", "bill.paid = True", "db.session.commit()"], 0),
        ("seen: Settings", ["db.session.add(Line())", "db.session.commit()", "seen.n = 1", "db.session.commit()"], 0),
    ],
)
def test_a_row_that_is_given_and_changed_behind_a_commit(given, steps, count):
    body = "\n    ".join(steps)
    source = f"from shop.models import Bill, Line, db\n\n\ndef settle({given}):\n    {body}\n"
    assert len(findings_of(RULE, BILLS | {"shop/desk.py": source})) == count


@pytest.mark.parametrize(
    ("calls", "count"),
    [
        (('update(b.giver, { name: "a" })', 'update(b.taker, { name: "b" })'), 1),
        (('update(b.giver, { name: "a" })', 'update(b.giver, { code: "b" })'), 0),
        (('decrement({ id: b.giver }, "cents", 5)', 'increment({ id: b.taker }, "cents", 5)'), 1),
        (('decrement({ id: b.giver }, "cents", 5)', 'increment({ id: b.giver }, "seen", 5)'), 0),
        (("save(giver)", "save(taker)"), 1),
        (("save(giver)", "save(giver)"), 0),
    ],
)
def test_rows_of_one_table_that_a_repository_of_nest_is_asked_to_change(calls, count):
    entity = "@Entity()\nexport class Purse {\n  @PrimaryGeneratedColumn() id: number;\n  @Column() cents: number;\n}\n"
    first, second = calls
    source = (
        'import { Controller, Post } from "@nestjs/common";\nimport { Repository } from "typeorm";\n'
        'import { Purse } from "./purse";\n@Controller("purses")\nexport class Purses {\n'
        "  constructor(@InjectRepository(Purse) private readonly purses: Repository<Purse>) {}\n"
        f"  @Post()\n  async move(@Body() b: Move, giver: Purse, taker: Purse) {{\n    await this.purses.{first};\n"
        f"    await this.purses.{second};\n  }}\n}}\n"
    )
    files = {"src/purse.ts": 'import { Entity } from "typeorm";\n' + entity, "src/purses.ts": source}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("other", "count"), [("taker", 1), ("giver", 0)])
def test_rows_by_their_keys_of_a_model_that_another_file_makes(other, count):
    model = 'import mongoose from "mongoose";\n'
    model += 'export const Purse = mongoose.model("Purse", new mongoose.Schema({ n: Number }));\n'
    source = (
        'import express from "express";\nimport { Purse } from "./purse";\nconst app = express();\n'
        'app.post("/move", async (req, res) => {\n  const { giver, taker } = req.body;\n'
        "  await Purse.findByIdAndUpdate(giver, { $inc: { n: -1 } });\n"
        f"  await Purse.findByIdAndUpdate({other}, {{ $inc: {{ n: 1 }} }});\n  res.end();\n}});\n"
    )
    assert len(findings_of(RULE, {"src/purse.ts": model, "src/app.ts": source})) == count
