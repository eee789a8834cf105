import pytest

from tests.engine.rules.reading import findings_of

RULE = "rel-webhook-not-idempotent"

EXPRESS = "const app = express();\napp.post('/hooks/pay', async (req, res) => {\n  %s\n  res.sendStatus(200);\n});\n"
FLASK = (
    "from flask import Flask\napp = Flask(__name__)\n\n@app.route('/webhooks/pay', methods=['POST'])\n"
    "def pay_webhook():\n    %s\n"
)
SPRING = """
package shop;
import org.springframework.web.bind.annotation.*;

@RestController
class Hooks {
  @PostMapping("/webhook/pay")
  public void pay(@RequestBody Event event) {
    %s
  }
}
"""

FLAGGED = [
    ("a.ts", EXPRESS % "await credits.add(req.body.org, 500);", 2),
    ("a.py", FLASK % "org.credits += 5\n    org.save()", 5),
    ("Hooks.java", SPRING % "accounts.save(event.account());", 8),
]
FINE = [
    ("a.ts", EXPRESS % "const fresh = await events.insertIfNew(verified(req).id);\n  if (fresh) await credits.add(1);"),
    ("a.ts", EXPRESS % "if (!(await claimEvent(req.body))) return res.end();\n  await credits.add(req.body.org, 500);"),
    ("a.ts", EXPRESS % "await prisma.payment.upsert({ where: { id }, update, create });"),
    ("a.ts", EXPRESS % "await queue.enqueue(req.body);"),
    ("a.ts", (EXPRESS % "await credits.add(1);").replace("/hooks/pay", "/orders")),
    ("a.py", FLASK % "if Delivery.objects.filter(event_id=x).exists():\n        return\n    org.save()"),
    ("Hooks.java", SPRING % "if (receipts.existsByNumber(number)) return;\n    accounts.save(event.account());"),
    ("a.py", FLASK % "log(request)"),
    ("a.py", (FLASK % "org.save()").replace("POST", "GET").replace("pay_webhook", "pay")),
    ("a.py", (FLASK % "hook.save()").replace("pay_webhook", "create_webhook").replace("webhooks/pay", "webhooks")),
    ("a.py", (FLASK % "hook.save()").replace("pay_webhook", "webhooks_put")),
    ("a.py", FLASK % "update_call_status(x)\n    org.save()"),
    ("a.py", FLASK % "org.owner = request.user\n    org.save()"),
    ("a.ts", (EXPRESS % "await hooks.add(1);").replace("/hooks/pay", "webhookSubscriptions.create")),
    ("a.py", (FLASK % "user.save()").replace("/webhooks/pay", "/saml/callback").replace("pay_webhook", "enter")),
]


@pytest.mark.parametrize(("path", "source", "line"), FLAGGED)
def test_a_handler_that_acts_on_each_delivery(path, source, line):
    (finding,) = findings_of(RULE, {path: source})
    assert finding.line == line
    assert finding.message.endswith("acts on every delivery: no event id is stored or checked")


@pytest.mark.parametrize(("path", "source"), FINE)
def test_handlers_that_know_the_event_or_change_nothing(path, source):
    assert findings_of(RULE, {path: source}) == []


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ("if (!(await claimEvent(req.body))) return;", 0),
        ("if (!claimable(req.body)) return;", 1),
        ("claimEvent(req.body);", 1),
    ],
)
def test_a_claim_guards_what_comes_behind_it_when_its_answer_is_asked(asked, count):
    source = EXPRESS % f"{asked}\n  await credits.add(req.body.org, 500);"
    assert len(findings_of(RULE, {"a.ts": source})) == count


def test_money_is_critical():
    (first, second, third) = (findings_of(RULE, {path: source})[0] for path, source, _ in FLAGGED)
    assert [first.severity, second.severity, third.severity] == ["critical", "critical", "warning"]


def test_a_handler_whose_callee_stores_the_event_is_fine():
    store = "\ndef store(event):\n    Delivery.objects.get_or_create(event_id=event)\n"
    source = FLASK % "store(request)\n    org.save()" + store
    assert findings_of(RULE, {"a.py": source}) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("data = request.get_json()\n    check_signature(request.data)\n    seen(data)", 1),
        ("check_signature(request.data)\n    data = request.get_json()\n    seen(data)", 0),
    ],
)
def test_the_signature_comes_before_the_body(body, count):
    found = findings_of(RULE, {"a.py": FLASK % body})
    assert [each.message for each in found] == count * [
        "`pay_webhook` reads the body before it has verified the signature"
    ]


@pytest.mark.parametrize(
    ("path", "source", "line"),
    [
        (
            "Hooks.java",
            (SPRING % "accounts.save(event);")
            .replace("/webhook/pay", "/pay")
            .replace("class", '@RequestMapping("/webhooks")\nclass'),
            9,
        ),
        (
            "hooks.controller.ts",
            "@Controller('webhooks')\nexport class Hooks {\n  @Post('pay')\n  async pay(@Body() event: Event) {\n"
            "    await this.accounts.save(event);\n  }\n}\n",
            4,
        ),
        (
            "shop/views.py",
            "from rest_framework.views import APIView\n\nclass PaymentCallback(APIView):\n"
            "    def post(self, request):\n        Payment.objects.create(amount=request.data['amount'])\n",
            4,
        ),
    ],
)
def test_the_class_says_that_it_takes_webhooks(path, source, line):
    (finding,) = findings_of(RULE, {path: source})
    assert finding.line == line
    plain = source.replace("webhooks", "accounts").replace("PaymentCallback", "PaymentView")
    assert findings_of(RULE, {path: plain}) == []


def test_a_method_that_keeps_the_list_of_webhooks_receives_none():
    source = (
        'package api\n\nfunc routes(r *gin.Engine, s *Service) {\n\tr.POST("/webhooks", s.%s)\n}\n\n'
        "func (s *Service) %s(c *gin.Context) {\n\ts.db.Create(c)\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"api/a.go": source % ("PayWebhook", "PayWebhook")})] == [7]
    assert findings_of(RULE, {"api/a.go": source % ("V1WebhookCreate", "V1WebhookCreate")}) == []


NEXT = "export const POST = wrapped(async (req) => {\n  const event = verified(await req.text());\n  %s\n});\n"
PAGE = "// NextApiRequest\nexport default async function handler(req, res) {\n  %s\n}\n"
VIEW = (
    "from django.views.decorators.csrf import csrf_exempt\nfrom django.http import HttpResponse\n\n@csrf_exempt\n"
    "def pay(request):\n    %s\n    return HttpResponse()\n"
)


@pytest.mark.parametrize(
    ("path", "source", "lines"),
    [
        ("app/api/pay/webhook/route.ts", NEXT % "await prisma.credit.create({ data: event });", [1]),
        ("app/api/pay/orders/route.ts", NEXT % "await prisma.credit.create({ data: event });", []),
        ("app/api/saml/callback/route.ts", NEXT % "await prisma.user.create({ data: event });", []),
        ("app/api/pay/webhook/route.ts", NEXT % "await prisma.credit.upsert({ where: event });", []),
        ("app/api/webhooks/route.ts", NEXT.replace("wrapped", "withSession") % "await prisma.hook.create({});", []),
        ("pages/api/webhooks/pay.ts", PAGE % "await prisma.credit.create({ data: req.body });", [2]),
        ("pages/api/orders/pay.ts", PAGE % "await prisma.credit.create({ data: req.body });", []),
        ("shop/webhooks.py", VIEW % "Payment.objects.create(amount=1)", [5]),
        ("shop/views.py", VIEW % "Payment.objects.create(amount=1)", []),
        ("shop/webhooks.py", VIEW % "run('INSERT INTO payment (id) VALUES (1) ON CONFLICT DO NOTHING')", []),
        ("shop/webhooks.py", VIEW % "db.execute('INSERT INTO payment (id) VALUES (1)')", [5]),
    ],
)
def test_the_path_of_the_file_is_the_route(path, source, lines):
    assert [each.line for each in findings_of(RULE, {path: source})] == lines


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("order.state = request.json['state']\n    order.save()", "info"),
        ("order.items += 5\n    order.save()", "warning"),
        ("cursor.execute('update rows set items = items + 1')", "warning"),
        ("Row.objects.create(a=1)", "warning"),
    ],
)
def test_a_state_that_is_set_once_more_is_worth_knowing(body, severity):
    (finding,) = findings_of(RULE, {"a.py": (FLASK % body).replace("pay", "row")})
    assert finding.severity == severity


@pytest.mark.parametrize(("asked", "confidence"), [("if order.status == 'paid':", "low"), ("if order:", "medium")])
def test_a_row_that_is_asked_for_its_state_leaves_a_guess(asked, confidence):
    (finding,) = findings_of(RULE, {"a.py": FLASK % f"{asked}\n        return\n    org.credits += 5\n    org.save()"})
    assert finding.confidence == confidence


@pytest.mark.parametrize(("route", "lines"), [("/hooks/pay", [7]), ("/orders", [])])
def test_a_handler_that_is_named_where_it_is_registered(route, lines):
    source = (
        f'package api\n\nfunc routes(r *gin.Engine) {{\n\tr.POST("{route}", limited(), takePay)\n}}\n\n'
        "func takePay(c *gin.Context) {\n\tdb.Create(c)\n}\n"
    )
    assert [each.line for each in findings_of(RULE, {"api/a.go": source})] == lines


def test_a_message_that_is_sent_counts():
    assert len(findings_of(RULE, {"a.ts": EXPRESS % "await mailer.sendMail(req.body);"})) == 1


@pytest.mark.parametrize(
    "name", ["regenerate_webhook_secret", "rotate_webhook_key", "reset_webhook", "recreate_webhook"]
)
def test_whoever_changes_a_webhook_receives_none(name):
    assert findings_of(RULE, {"a.py": (FLASK % "hook.save()").replace("pay_webhook", name)}) == []


def test_clients_that_sign_in_deliver_nothing():
    source = NEXT.replace("wrapped", "authenticatedClient") % "await prisma.hook.create({ data: event });"
    assert findings_of(RULE, {"app/api/webhooks/route.ts": source}) == []


def test_a_default_export_is_not_known_by_its_name():
    taken = "export default (app) => { app.post('/hooks/pay', safeWrap(require('./pay').default)); };"
    other = "export default (app) => { app.post('/orders', safeWrap(require('./create').default)); };"
    create = "export default async (req, res) => { await db.order.create(req.body); res.send(); };"
    assert findings_of(RULE, {"api/pay.ts": taken, "api/orders.ts": other, "api/create.ts": create}) == []


@pytest.mark.parametrize(("route", "count"), [("/hooks/pay", 1), ("/orders/pay", 0)])
def test_the_route_may_stand_in_another_file(route, count):
    routes = f'package main\nimport "net/http"\nfunc routes(h *api.Handler) {{ http.HandleFunc("{route}", h.Pay) }}\n'
    handler = """package api
import "net/http"
func (h *Handler) Pay(w http.ResponseWriter, r *http.Request) {
	h.db.ExecContext(r.Context(), "UPDATE orders SET paid = paid + 1 WHERE id = $1", 1)
}
"""
    assert len(findings_of(RULE, {"cmd/routes.go": routes, "api/handler.go": handler})) == count


@pytest.mark.parametrize(("path", "count"), [("src/routes/webhooks.js", 1), ("src/routes/orders.js", 0)])
def test_the_file_may_say_that_it_takes_webhooks(path, count):
    source = "router.post('/stripe', async (req, res) => {\n  await Account.update({ paid: 1 });\n  res.end();\n});\n"
    assert len(findings_of(RULE, {path: source})) == count


def test_callbacks_in_the_plural():
    source = "@app.post('/callbacks/bank')\ndef bank(body):\n    db.add(Payment(**body))\n    db.commit()\n"
    assert len(findings_of(RULE, {"shop/a.py": "from fastapi import FastAPI\n" + source})) == 1
    assert findings_of(RULE, {"shop/a.py": source.replace("callbacks", "orders")}) == []


def test_a_callee_that_meets_a_unique_constraint_knows_the_event():
    store = (
        "\ndef keep(event):\n    try:\n        rows.create(event)\n    except Exception as error:\n        %s(error)\n"
    )
    source = FLASK % "keep(request)\n    org.save()"
    assert findings_of(RULE, {"a.py": source + store % "is_unique_constraint_error"}) == []
    assert len(findings_of(RULE, {"a.py": source + store % "show"})) == 1


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("const { code, state } = req.query; await prisma.link.update({ data: { code } });", 0),
        ("const code = req.query.code; await prisma.link.update({ data: { code } });", 0),
        ("const { order } = req.body; await prisma.link.update({ data: { order } });", 1),
    ],
)
def test_who_comes_back_from_signing_in_brings_a_code(body, count):
    source = f"export default async function handler(req: NextApiRequest, res: NextApiResponse) {{ {body} res.end(); }}"
    assert len(findings_of(RULE, {"pages/api/providers/callback.ts": source})) == count


@pytest.mark.parametrize(("answer", "count"), [('c.HTML(200, "hooks")', 0), ("c.Status(200)", 1)])
def test_the_page_of_webhooks_takes_none(answer, count):
    source = (
        'package a\nimport "github.com/gin-gonic/gin"\nfunc routes(r *gin.Engine) { r.POST("/webhooks", all) }\n'
        f"func all(c *gin.Context) {{\n\tstore.Create(c)\n\t{answer}\n}}\n"
    )
    assert len(findings_of(RULE, {"a.go": source})) == count


@pytest.mark.parametrize(
    ("head", "body", "count"),
    [
        ("func MarkNotification(c *gin.Context) {", "store.Save(c)", 0),
        ("func TakeNotification(c *gin.Context) {", "a := auth.FromClaims(c)\n\tstore.Save(a)", 0),
        ("func TakeNotification(c *gin.Context) {", "store.Save(c)", 1),
    ],
)
def test_what_users_do_with_their_notifications_is_no_webhook(head, body, count):
    name = head.split("(")[0].removeprefix("func ")
    source = (
        'package a\nimport "github.com/gin-gonic/gin"\n'
        f'func routes(r *gin.Engine) {{ r.POST("/notification", {name}) }}\n'
        f"{head}\n\t{body}\n}}\n"
    )
    assert len(findings_of(RULE, {"a.go": source})) == count


@pytest.mark.parametrize(("answer", "count"), [('c.HTML(200, "hooks")', 0), ("c.Status(200)", 1)])
def test_the_page_of_that_name_takes_none(answer, count):
    source = (
        'package a\nimport "github.com/gin-gonic/gin"\nfunc routes(r *gin.Engine) { r.POST("/all", allWebhooks) }\n'
        f"func allWebhooks(c *gin.Context) {{\n\tsendMail(c)\n\t{answer}\n}}\n"
        "func sendMail(c *gin.Context) {\n\tmailer.Send(c)\n}\n"
    )
    assert len(findings_of(RULE, {"a.go": source})) == count


HOOKS_OF_GO = (
    'package a\nimport "net/http"\nfunc payWebhook(w http.ResponseWriter, r *http.Request) {\n%s\n}\n'
    "func payWebhookRenewed(w http.ResponseWriter, r *http.Request) {\n\tdb.Create(r.Body)\n}\n"
)


@pytest.mark.parametrize(
    ("body", "names"), [("payWebhookRenewed(w, r)", ["payWebhook"]), ("use(w)", ["payWebhookRenewed"])]
)
def test_a_part_of_another_handler_is_told_there(body, names):
    assert [each.function for each in findings_of(RULE, {"a.go": HOOKS_OF_GO % body})] == names


@pytest.mark.parametrize(
    ("event", "severity"), [("plan.updated", "info"), ("plan.deleted", "info"), ("invoice.paid", "critical")]
)
def test_events_that_say_what_something_is_now_may_come_twice(event, severity):
    body = f"if (req.body.type === '{event}') await subscriptions.add(req.body.plan);"
    assert [each.severity for each in findings_of(RULE, {"a.ts": EXPRESS % body})] == [severity]


def test_a_comment_about_rights_makes_no_sign_in_of_a_webhook():
    source = EXPRESS.replace("app.post", "// Authorized by the secret of the provider.\napp.post")
    assert len(findings_of(RULE, {"a.ts": source % "await credits.add(req.body.org, 500);"})) == 1


def test_headers_of_the_answer_change_nothing():
    assert findings_of(RULE, {"Hooks.java": SPRING % 'headers.add("a", "b");'}) == []


@pytest.mark.parametrize(("body", "count"), [('use(r.URL.Query().Get("state"))', 0), ("use(r.Body)", 1)])
def test_who_comes_back_with_a_state_was_sent(body, count):
    source = (
        'package a\nimport "net/http"\nfunc payWebhook(w http.ResponseWriter, r *http.Request) {\n'
        f"{body}\ndb.Create(r.Body)\n}}\n"
    )
    assert len(findings_of(RULE, {"a.go": source})) == count


def test_a_name_alone_makes_a_guess():
    (routed,) = findings_of(RULE, {"a.ts": EXPRESS % "await credits.add(req.body.org, 500);"})
    (named,) = findings_of(RULE, {"a.go": HOOKS_OF_GO % "use(w)"})
    assert (routed.confidence, named.confidence) == ("medium", "low")


NEST = (
    "@Controller('webhook')\nexport class WebhookController {\n  @Post('%s')\n%s  async %s(@Body() body) {\n"
    "    await this.credits.add(body.org, 500);\n  }\n}\n"
)


@pytest.mark.parametrize(
    ("name", "guard", "count"),
    [("receive", "", 1), ("resetWebhook", "", 0), ("receive", "  @UseGuards(DebounceGuard)\n", 0)],
)
def test_who_keeps_webhooks_and_who_lets_none_through_twice(name, guard, count):
    assert len(findings_of(RULE, {"src/webhook.controller.ts": NEST % (name, guard, name)})) == count


def test_the_name_of_a_handler_that_takes_posts_says_it():
    source = (
        "from fastapi import APIRouter\nrouter = APIRouter()\n\n"
        "@router.post('/fees')\ndef fee_callback(event: Fee):\n"
        "    session.add(Fee(amount=event.amount))\n    session.commit()\n"
    )
    assert len(findings_of(RULE, {"app/fees.py": source})) == 1
    assert findings_of(RULE, {"app/fees.py": source.replace("fee_callback", "fee")}) == []


def test_a_router_may_have_any_name():
    source = (
        "import { Router } from 'express';\nexport const orders = Router();\n"
        "orders.post('/webhook/paid', async (req, res) => {\n  await credits.add(req.body.org, 5);\n  res.end();\n});\n"
    )
    assert len(findings_of(RULE, {"src/orders.ts": source})) == 1
    assert findings_of(RULE, {"src/orders.ts": source.replace("= Router()", "= load()")}) == []


@pytest.mark.parametrize(
    ("asks", "count"),
    [
        ("fresh, err := h.svc.RegisterEvent(r.Context(), ev.ID)\nif !fresh {\nreturn\n}", 0),
        ("if !h.store.MarkSeen(ev.ID) {\nreturn\n}", 0),
        ("if err := h.svc.RecordHop(r.Context(), ev.ID); err != nil {\nreturn\n}", 1),
    ],
)
def test_whether_an_id_is_new_may_be_asked_by_any_name(asks, count):
    source = (
        'package a\nimport "net/http"\n'
        'func Routes(m *http.ServeMux) { m.HandleFunc("POST /webhooks/scan", scanHook) }\n'
        f"func scanHook(w http.ResponseWriter, r *http.Request) {{\n{asks}\n"
        f"db.Exec(`INSERT INTO hops VALUES ($1)`, ev.No)\n}}\n"
    )
    assert len(findings_of(RULE, {"a/hooks.go": source})) == count


def test_a_name_that_only_begins_like_a_verb_manages_nothing():
    source = (
        "import org.springframework.web.bind.annotation.*;\n@RestController\nclass A {\n"
        '@PostMapping("/notifications/pay")\n'
        "public void settled(@RequestBody Event event) {\nledger.save(new Entry(event.delta()));\n}\n}\n"
    )
    assert len(findings_of(RULE, {"src/main/java/a/A.java": source})) == 1


@pytest.mark.parametrize(("options", "count"), [(", { jobId: req.body.id }", 0), ("", 1)])
def test_a_queue_may_know_its_jobs_by_a_key(options, count):
    source = (
        f"app.post('/hooks/pay', async (req, res) => {{\nawait queue.add('pay', req.body{options});\n"
        "res.sendStatus(200);\n});\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": source})) == count


@pytest.mark.parametrize(("route", "count"), [("/carrier-webhook", 1), ("/carriers", 0)])
def test_a_route_whose_body_has_a_type(route, count):
    source = (
        f"app.post<{{ Body: CarrierEvent }}>('{route}', async (request) => {{\n"
        "  await credits.add(request.body.org, 500);\n});\n"
    )
    assert len(findings_of(RULE, {"src/a.ts": "const app = fastify();\n" + source})) == count


@pytest.mark.parametrize(
    ("chain", "count"), [("Create(fee)", 1), ("Clauses(clause.OnConflict{DoNothing: true}).Create(fee)", 0)]
)
def test_what_a_neighbour_of_the_handler_keeps_for_it(chain, count):
    files = {
        "go.mod": "module example.org/shop\n",
        "api/routes.go": 'package api\n\nimport (\n\t"example.org/shop/till"\n\t"github.com/gin-gonic/gin"\n)\n\n'
        "type Server struct {\n\tdesk *till.Desk\n}\n\n"
        'func routes(r *gin.Engine, s *Server) {\n\tr.POST("/webhooks/fees", s.feeWebhook)\n}\n',
        "api/fees.go": 'package api\n\nimport "github.com/gin-gonic/gin"\n\n'
        "func (s *Server) feeWebhook(c *gin.Context) {\n\ts.desk.Keep(c.Request.Context(), &Fee{})\n}\n",
        "till/desk.go": 'package till\n\nimport "gorm.io/gorm"\n\ntype Desk struct {\n\tdb *gorm.DB\n}\n\n'
        "func (d *Desk) Keep(ctx context.Context, fee *Fee) error {\n"
        f"\treturn d.db.WithContext(ctx).{chain}.Error\n}}\n",
    }
    assert len(findings_of(RULE, files)) == count


POST = "    def post(self, request):\n        Payment.objects.create(amount=json.loads(request.body)['amount'])\n"


@pytest.mark.parametrize(
    ("head", "route", "count"),
    [
        ("class PaymentHook(APIView):", "", 1),
        ("class StripeWebhookEndpoint(View):", "", 1),
        ("class Stripe(View):", "path('webhooks/stripe/', views.Stripe.as_view(), name='stripe')", 1),
        ("class Stripe(MethodView):", "app.add_url_rule('/hooks/pay', view_func=views.Stripe.as_view('pay'))", 1),
        ("class Stripe(Resource):", "api.add_resource(views.Stripe, '/webhooks/pay')", 1),
        ("class Stripe(View):", "path('payments/', views.Stripe.as_view())", 0),
        ("class Stripe(View):", "path('webhooks/paypal/', views.Paypal.as_view())", 0),
        ("class PaymentHook(LoginRequiredMixin, View):", "", 0),
        ("class PaymentHook(APIView):\n    permission_classes = [IsAuthenticated]\n", "", 0),
    ],
)
def test_classes_that_take_webhooks_by_name_or_by_route(head, route, count):
    files = {"shop/views.py": f"from shop.models import Payment\n\n\n{head}\n{POST}", "shop/urls.py": f"{route}\n"}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("caught", "count"), [("IntegrityError", 0), ("ValueError", 1)])
def test_a_callee_that_expects_the_event_to_be_there_knows_it(caught, count):
    service = (
        "from shop.models import Event, Scan\n\n\ndef keep(number, kind):\n    try:\n"
        "        Event.objects.create(number=number)\n        Scan.objects.create(kind=kind)\n"
        f"    except {caught}:\n        return False\n    return True\n"
    )
    view = (
        "from shop import scans\n\n\n@csrf_exempt\n@require_POST\ndef scan_webhook(request):\n"
        "    payload = json.loads(request.body)\n    scans.keep(payload['id'], payload['kind'])\n"
        "    return HttpResponse()\n"
    )
    models = (
        "from django.db import models\n\n\nclass Event(models.Model):\n    number = models.CharField(unique=True)\n"
    )
    models += "\n\nclass Scan(models.Model):\n    kind = models.CharField()\n"
    files = {"shop/scans.py": service, "shop/views.py": view, "shop/models.py": models}
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(("statement", "count"), [("", 1), (" ON CONFLICT DO NOTHING", 0)])
def test_what_a_service_between_the_handler_and_the_rows_does(statement, count):
    files = {
        "go.mod": "module example.org/shop\n",
        "api/fees.go": 'package api\n\nimport (\n\t"example.org/shop/till"\n\t"github.com/gin-gonic/gin"\n)\n\n'
        "type Server struct {\n\tdesk *till.Desk\n}\n\n"
        'func routes(r *gin.Engine, s *Server) {\n\tr.POST("/webhooks/fees", s.feeWebhook)\n}\n\n'
        "func (s *Server) feeWebhook(c *gin.Context) {\n\ts.desk.Take(c.Request.Context(), read(c))\n}\n",
        "till/desk.go": "package till\n\ntype Fees interface {\n\tKeep(no int) error\n}\n\n"
        "type Desk struct {\n\tfees Fees\n}\n\n"
        "func (d *Desk) Take(ctx context.Context, no int) error {\n\tif no == 0 {\n\t\treturn errEmpty\n\t}\n"
        "\treturn d.fees.Keep(no)\n}\n",
        "sql/fees.go": "package sql\n\ntype Fees struct {\n\tdb *DB\n}\n\nfunc (f *Fees) Keep(no int) error {\n"
        f'\treturn f.db.Exec("INSERT INTO fees (no) VALUES ($1){statement}", no)\n}}\n',
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("update Card c set c.balance = c.balance + :amount where c.code = :code", 1),
        ("select c from Card c where c.code = :code", 0),
    ],
)
def test_a_repository_of_java_writes_as_it_declares(query, count):
    files = {
        "src/shop/CardRepository.java": (
            "package shop;\ninterface CardRepository extends JpaRepository<Card, Long> {\n"
            f'  @Query("{query}")\n  int apply(String code, int amount);\n}}\n'
        ),
        "src/shop/CardService.java": (
            "package shop;\nclass CardService {\n  private final CardRepository cards;\n"
            "  void paid(String code, int amount) {\n    cards.apply(code, amount);\n  }\n}\n"
        ),
        "src/shop/PaymentWebhookController.java": (
            'package shop;\n@RequestMapping("/webhooks")\nclass PaymentWebhookController {\n'
            '  private final CardService cards;\n\n  @PostMapping("/card")\n'
            '  public void card(@RequestBody Paid paid, @RequestHeader("X-Signature") String signature) {\n'
            "    cards.paid(paid.code(), paid.amount());\n  }\n}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files)] == [7] * count


def test_many_rows_that_each_delivery_writes():
    service = 'const { Reading } = require("../models");\nexports.store = async (rows) => {\n'
    service += "  await Reading.bulkCreate(rows.map((each) => ({ at: each.at })));\n};\n"
    models = 'const { Sequelize, DataTypes } = require("sequelize");\nconst db = new Sequelize(url);\n'
    models += "const Reading = db.define('Reading', { at: { type: DataTypes.DATE } });\nmodule.exports = { Reading };\n"
    route = 'const readings = require("./readings");\nmodule.exports = async (app) => {\n'
    route += "  app.post('/meter-callback', async (req, reply) => {\n    await readings.store(req.body.rows);\n"
    route += "    return { ok: true };\n  });\n};\n"
    (finding,) = findings_of(RULE, {"src/a/readings.js": service, "src/models.js": models, "src/a/routes.js": route})
    assert (finding.file, finding.line) == ("src/a/routes.js", 3)


@pytest.mark.parametrize(
    ("path", "body", "count"),
    [
        ("src/webhooks/codehost.ts", "await members.add(req.body.id);", 1),
        ("src/webhooks/codehost.ts", "await members.upsert(req.body.id);", 0),
        ("src/routes/codehost.ts", "await members.add(req.body.id);", 0),
    ],
)
def test_a_handler_in_a_wrapper_in_a_folder_of_webhooks(path, body, count):
    source = (
        "import express, { Router } from 'express';\nimport asyncHandler from 'express-async-handler';\n"
        "export const routes = Router();\nroutes.post('/codehost/members', express.raw({ type: '*/*' }), "
        f"asyncHandler(async (req, res) => {{\n  {body}\n  res.sendStatus(202);\n}}));\n"
    )
    assert len(findings_of(RULE, {path: source})) == count


@pytest.mark.parametrize(
    ("caught", "count"),
    [
        ("if (e.code === 'P2002') return;\n    throw e;", 0),
        ("if (e instanceof UniqueConstraintError) return;\n    throw e;", 0),
        ("log.warn(e);\n    throw e;", 1),
    ],
)
def test_a_service_that_knows_a_delivery_by_its_key(caught, count):
    service = "export async function append(delivery: string, body: Scan) {\n  try {\n"
    service += "    await prisma.$transaction(async (tx) => {\n      await tx.receipt.create({ data: { delivery } });\n"
    service += f"      await tx.scan.create({{ data: body }});\n    }});\n  }} catch (e) {{\n    {caught}\n  }}\n}}\n"
    route = "import { append } from './scans';\nconst app = express();\napp.post('/hooks/scan', async (req, res) => {\n"
    route += "  await append(req.headers['x-delivery'], req.body);\n  res.sendStatus(200);\n});\n"
    assert len(findings_of(RULE, {"src/scans.ts": service, "src/routes.ts": route})) == count


def test_a_route_beside_one_that_takes_webhooks():
    source = "const app = express();\napp.post('/webhooks/pay', takePay);\n"
    source += "app.get('/accounts/:name/callback', async (req, res) => {\n  await accounts.create(req.query);\n});\n"
    assert findings_of(RULE, {"src/routes.ts": source}) == []


@pytest.mark.parametrize(
    ("router", "count"),
    [
        ('APIRouter(prefix="/webhooks", tags=["pilots"])', 1),
        ('Blueprint("pilots", __name__, url_prefix="/hooks/pilots")', 1),
        ('APIRouter(prefix="/pilots")', 0),
    ],
)
def test_a_router_that_puts_the_word_before_its_routes(router, count):
    source = (
        f"from fastapi import APIRouter\nfrom harbour import trips\n\nrouter = {router}\n\n\n"
        '@router.post("/arrivals", status_code=204)\nasync def arrival(session, event: Arrival):\n'
        "    await trips.count(session, event.ship)\n    await session.commit()\n"
    )
    assert [each.line for each in findings_of(RULE, {"harbour/pilots.py": source})] == [8] * count


@pytest.mark.parametrize(
    ("path", "body", "count"),
    [
        ("/webhooks/fares", "Trip row = new Trip();\n    row.fare = fare.cents();\n    row.persist();", 1),
        ("/webhooks/fares", "if (trips.existsByNumber(fare.number())) { return; }\n    new Trip(fare).persist();", 0),
        ("/fares", "Trip row = new Trip();\n    row.persist();", 0),
        ("/notifications", "Trip row = new Trip();\n    row.persist();", 0),
    ],
)
def test_a_resource_of_jakarta(path, body, count):
    source = (
        f'package a;\n\n@Path("{path}")\npublic class FareResource {{\n  @POST\n  @Path("/paid")\n'
        f"  public void paid(Fare fare) {{\n    {body}\n  }}\n}}\n"
    )
    assert len(findings_of(RULE, {"src/a/FareResource.java": source})) == count


@pytest.mark.parametrize(
    ("decorators", "count"),
    [
        ("@csrf_exempt\n@require_POST\n", 1),
        ("@require_POST\n@csrf_exempt\n", 1),
        ("@require_POST\n", 0),  # maybe of a page of this site
        ("@require_GET\n", 0),
    ],
)
def test_a_view_of_django_that_takes_posts_from_outside(decorators, count):
    files = {
        "shop/views.py": (
            f"{decorators}def parcel_callback(request):\n    sent = json.loads(request.body)\n"
            "    Scan.objects.create(place=sent['place'])\n    return HttpResponse()\n"
        ),
        "shop/urls.py": (
            "from django.urls import path\nfrom shop.views import parcel_callback\n"
            'urlpatterns = [path("parcels/", parcel_callback)]\n'
        ),
    }
    assert len(findings_of(RULE, files)) == count


VIEWS = """
from django.views.decorators.csrf import csrf_exempt
from shop.models import Parcel


@csrf_exempt
def %s(request):
    event = json.loads(request.body)
    %s
    return HttpResponse(status=204)
"""
CREATES = 'Parcel.objects.create(name=event["name"])'


@pytest.mark.parametrize(
    ("name", "route", "act", "count"),
    [
        ("parcel_hook", "parcels", CREATES, 1),
        ("shipped", "hooks/shipped", CREATES, 1),
        ("shipped", "parcels", CREATES, 0),
        ("parcel_hook", "parcels", 'Parcel.objects.get_or_create(key=event["id"])', 0),
        ("parcel_hook", "parcels", "log(event)", 0),
    ],
)
def test_a_view_of_django_that_is_named_or_routed_as_a_hook(name, route, act, count):
    urls = f'from django.urls import path\nfrom . import views\n\nurlpatterns = [path("{route}", views.{name})]\n'
    files = {"shop/views.py": VIEWS % (name, act), "shop/urls.py": urls}
    assert len(findings_of(RULE, files)) == count
