import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings, lines

RULE = "perf-missing-pagination"

FLASK = "from flask import Blueprint\napp = Blueprint('x')\n\n"
DRF = "from rest_framework.viewsets import ModelViewSet\nclass V(ModelViewSet):\n"
FLAGGED = [
    (FLASK + "@app.get('/orders')\ndef orders():\n    return [o.pk for o in Order.objects.all()]", 6),
    (DRF + "    queryset = Order.objects.all()\n", 3),
    (
        "from rest_framework.viewsets import ModelViewSet\nclass V(ModelViewSet):\n"
        "    queryset = Order.objects.all()\n    pagination_class = None\n",
        3,
    ),
]
FINE = [
    FLASK + "@app.get('/orders/<pk>')\ndef order(pk):\n    return [o.pk for o in Order.objects.all()]",
    FLASK + "@app.post('/orders')\ndef orders():\n    return [o.pk for o in Order.objects.all()]",
    FLASK + "@app.get('/orders')\ndef orders():\n    return paginate(o.pk for o in Order.objects.all())",
    FLASK + "@app.get('/orders')\ndef orders():\n    return [o.pk for o in Order.objects.all()[:50]]",
    "from rest_framework.viewsets import ModelViewSet\nclass V(ModelViewSet):\n"
    "    queryset = Order.objects.all()\n    pagination_class = Pages\n",
    "from rest_framework.viewsets import ViewSet\nclass V(ViewSet):\n    queryset = Order.objects.all()\n",
]


@pytest.mark.parametrize(("source", "line"), FLAGGED)
def test_a_list_that_answers_with_all_rows_is_found(source, line):
    assert lines(RULE, source) == [line]


@pytest.mark.parametrize("source", FINE)
def test_pages_single_objects_and_limits_are_fine(source):
    assert lines(RULE, source) == []


def test_a_default_paginator_in_the_settings_covers_views_that_do_not_refuse_it():
    others = {"shop/settings.py": "REST_FRAMEWORK = {'DEFAULT_PAGINATION_CLASS': 'shop.Pages'}"}
    plain, refusing = FLAGGED[1][0], FLAGGED[2][0]
    assert lines(RULE, plain, others=others) == []
    assert lines(RULE, refusing, others=others) == [3]


def test_the_query_of_a_called_function_is_reported_at_the_handler_and_only_there():
    source = FLASK + "from shop.orders import load\n@app.get('/orders')\ndef orders():\n    return load()"
    others = {"shop/orders.py": "from shop.models import Order\ndef load():\n    return list(Order.objects.all())\n"}
    (finding,) = findings(RULE, source, others=others, volumes={"shop_order": "XL"})
    assert (finding.line, finding.severity, finding.confidence) == (8, "critical", "medium")
    assert "through `load` (`shop/orders.py:3`)" in finding.message
    assert findings("perf-unbounded-query", source, others=others) == []


def test_a_service_that_hands_on_what_a_repository_gives_is_seen_through():
    source = FLASK + "from shop import service\n@app.get('/orders')\ndef orders():\n    return service.load()"
    others = {
        "shop/service.py": "from shop import store\ndef load():\n    return store.everything()\n",
        "shop/store.py": "from shop.models import Order\ndef everything():\n    return list(Order.objects.all())\n",
    }
    (finding,) = findings(RULE, source, others=others)
    assert finding.line == 8 and "through `everything` (`shop/store.py:3`)" in finding.message
    assert findings("perf-unbounded-query", source, others=others) == []
    cut = "from shop import store\ndef load(first=0):\n    rows = store.everything()\n    return rows[first:9] or []\n"
    assert findings(RULE, source, others={**others, "shop/service.py": cut}) == []


@pytest.mark.parametrize(
    ("handler", "found"),
    [
        ("async () => everything()", [(6, "everything")]),
        ("async () => prisma.order.findMany()", [(6, "routes")]),
        ("async (request) => pageOf(request.query.after)", []),
        ("async () => one()", []),
    ],
)
def test_a_handler_written_out_as_an_expression_answers_for_itself(handler, found):
    source = (
        'import Fastify from "fastify";\nimport { everything, one, pageOf } from "./orders";\n'
        'import { prisma } from "./client";\nexport async function routes(app) {\n'
        '  app.get("/orders/page", async () => pageOf(3));\n'
        f'  app.get("/orders", {handler});\n}}\n'
    )
    store = (
        'import { prisma } from "./client";\n'
        "export function everything() {\n  return prisma.order.findMany();\n}\n"
        "export function one() {\n  return prisma.order.findFirst();\n}\n"
        "export function pageOf(id) {\n  return prisma.order.findMany({ where: { id: { gt: id } }, take: 50 });\n}\n"
    )
    schema = "model Order {\n  id Int @id\n  total Int\n}\n"
    files = {"src/routes.ts": source, "src/orders.ts": store, "prisma/schema.prisma": schema}
    assert [
        (each.line, "everything" if "through" in each.message else each.function) for each in findings_of(RULE, files)
    ] == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return [o for o in Order.objects.all() if o.is_paid]", []),
        ("return sum(o.total for o in Order.objects.all())", []),
        ("return list(Order.objects.all())", [6]),
    ],
)
def test_a_list_that_the_program_makes_smaller_is_told_for_that(body, found):
    assert lines(RULE, f"{FLASK}@app.get('/orders')\ndef orders():\n    {body}") == found


VIEW = "from rest_framework.generics import ListAPIView\nclass Orders(ListAPIView):\n    def get_queryset(self):\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return Order.objects.order_by('pk')", [4]),
        ("return Order.objects.filter(customer=self.request.user.customer)", []),
        ("return Order.objects.all()[:9]", []),
    ],
)
def test_a_queryset_that_a_method_returns(body, found):
    assert lines(RULE, f"{VIEW}        {body}") == found


def test_a_view_that_serializes_all_rows():
    source = (
        "def orders(request):\n    rows = Order.objects.filter(is_paid=True)\n"
        "    return JsonResponse(OrderSerializer(rows, many=True).data)"
    )
    urls = "from django.urls import path\nfrom shop import work\nurlpatterns = [path('orders/', work.orders)]"
    assert lines(RULE, source, others={"shop/urls.py": urls}) == [2]


def test_handlers_of_go_are_methods_or_made_by_functions():
    source = """package shop
import "gorm.io/gorm"
type Order struct {
	gorm.Model
}
func (h *Handler) Routes(r *gin.Engine) {
	r.GET("/orders", h.List)
	r.GET("/all", all(h.db))
}
func (h *Handler) List(c *gin.Context) {
	var orders []Order
	h.db.Find(&orders)
}
func all(db *gorm.DB) gin.HandlerFunc {
	return func(c *gin.Context) {
		var orders []Order
		db.Find(&orders)
	}
}
"""
    assert [finding.line for finding in findings_of(RULE, {"shop/api.go": source})] == [12, 17]


DJANGO = "from django.http import JsonResponse\nfrom rest_framework.decorators import action, api_view\n\n"
ALL = "    return JsonResponse([o.pk for o in Order.objects.all()], safe=False)"


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("def orders(request):\n", 1),
        ("@api_view(['GET'])\ndef orders(request):\n", 1),
        ("@api_view(['POST'])\ndef orders(request):\n", 0),
        ("@require_POST\ndef orders(request):\n", 0),
        ("def orders(request, pk):\n", 0),
    ],
)
def test_a_view_that_is_a_function(head, found):
    assert len(findings(RULE, DJANGO + head + ALL)) == found


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("    @action(detail=False)\n    def late(self, request):\n", 1),
        ("    @action(detail=False, name='Get status choices')\n    def late(self, request):\n", 0),
        ("    @action(detail=False)\n    def choices(self, request):\n", 0),
        ("    @action(detail=False, methods=['post'])\n    def late(self, request):\n", 0),
        ("    @action(detail=True)\n    def late(self, request, pk):\n", 0),
        ("    def list(self, request):\n", 1),
    ],
)
def test_a_list_of_a_viewset(head, found):
    assert len(findings(RULE, DJANGO + "class Orders(ViewSet):\n" + head + "    " + ALL)) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("model = Order", [5]),
        ("queryset = Order.objects.all()", [6]),
        ("model = Order\n    paginate_by = 50", []),
        ("queryset = Order.objects.filter(is_paid=False)", []),
        ("queryset = Order.objects.all()[:50]", []),
    ],
)
def test_a_generic_list_has_pages_of_its_own_only(body, found):
    source = f"from django.views.generic import ListView\n\nclass Orders(ListView):\n    {body}\n"
    others = {"shop/settings.py": "REST_FRAMEWORK = {'DEFAULT_PAGINATION_CLASS': 'shop.Pages'}"}
    assert [each.line for each in findings(RULE, source, others=others)] == found


def test_a_generic_list_of_a_back_office_is_seen_by_few():
    source = "from django.views.generic import ListView\n\nclass Orders(ListView):\n    model = Order\n"
    assert len(findings_of(RULE, {"shop/views.py": source})) == 1
    assert findings_of(RULE, {"shop/dashboard/views.py": source}) == []


@pytest.mark.parametrize("condition", ["reference__startswith='terms'", "is_paid=False"])
def test_a_viewset_of_a_named_part_lists_few(condition):
    source = DJANGO + f"class Orders(ModelViewSet):\n    queryset = Order.objects.filter({condition})\n"
    assert len(findings_of(RULE, {"shop/views.py": source})) == (condition == "is_paid=False")


@pytest.mark.parametrize(
    ("path", "found"),
    [("/orders", 1), ("/orders/export", 0), ("/reports", 1), ("/settings/orders", 0), ("/settings-of/orders", 1)],
)
def test_files_of_all_rows_and_settings_need_no_pages(path, found):
    source = (
        "const { Order } = require('./models'); // sequelize\n"
        f"app.get('{path}', async (req, res) => {{\n  res.json(await Order.findAll());\n}});\n"
    )
    files = {"models.js": "const Order = sequelize.define('Order', { code: DataTypes.STRING });\n", "work.js": source}
    assert [str(each.confidence) for each in findings_of(RULE, files)] == ["medium"] * found


@pytest.mark.parametrize("fill", ["bulkCreate(rows)", "create({ code: rows })"])
def test_a_name_that_does_not_speak_of_many_rows_is_a_guess(fill):
    source = (
        "const { Gadget } = require('./models'); // sequelize\n"
        f"async function fill(rows) {{ await Gadget.{fill}; }}\n"
        "app.get('/gadgets', async (req, res) => {\n  res.json(await Gadget.findAll());\n});\n"
    )
    files = {"models.js": "const Gadget = sequelize.define('Gadget', { code: DataTypes.STRING });\n", "work.js": source}
    assert [str(each.confidence) for each in findings_of(RULE, files)] == ["low"]


@pytest.mark.parametrize(("bases", "found"), [("ModelViewSet", 1), ("NestedViewSetMixin, ModelViewSet", 0)])
def test_rows_of_one_parent_are_listed_by_nested_views(bases, found):
    source = DJANGO + f"class Orders({bases}):\n    queryset = Order.objects.all()\n"
    assert len(findings_of(RULE, {"shop/views.py": source})) == found


def test_a_base_class_lists_no_model_yet():
    source = "from django.views.generic import ListView\n\nclass Base(ListView):\n    model = None\n"
    assert findings_of(RULE, {"shop/views.py": source}) == []


@pytest.mark.parametrize(("path", "found"), [("shop/settings/third_party/rest.py", 0), ("third_party/rest.py", 1)])
def test_settings_of_third_parties_are_settings(path, found):
    files = {
        "shop/views.py": DRF + "    queryset = Order.objects.all()\n",
        path: "REST_FRAMEWORK = {'DEFAULT_PAGINATION_CLASS': 'shop.Pages'}\n",
    }
    assert len(findings_of(RULE, files)) == found


@pytest.mark.parametrize(
    ("model", "found"),
    [("Gadget", ["low"]), ("Order", ["medium"]), ("Tag", []), ("Country", []), ("PaymentMethod", [])],
)
def test_most_names_say_nothing_of_how_many_rows_there_are(model, found):
    files = {
        "models.js": f"const {model} = sequelize.define('{model}', {{ code: DataTypes.STRING }});\n",
        "work.js": f"const {{ {model} }} = require('./models'); // sequelize\n"
        f"app.get('/all', async (req, res) => {{\n  res.json(await {model}.findAll());\n}});\n",
    }
    assert [str(each.confidence) for each in findings_of(RULE, files)] == found


SERVICE = "from shop.models import Order\n\ndef newest():\n    return Order.objects.order_by('pk')%s\n"
HANDLER = (
    "from rest_framework.decorators import api_view\nfrom shop import service\n\n"
    "@api_view(['GET'])\ndef listed(request):\n    rows = service.newest()\n    return Response(%s)\n"
)


@pytest.mark.parametrize(
    ("cut", "answer", "found"),
    [
        ("", "OrderSerializer(rows, many=True).data", [5]),
        ("[:50]", "OrderSerializer(rows, many=True).data", []),
        ("", "OrderSerializer(rows[start : start + size], many=True).data", []),
        ("", "OrderSerializer(rows[start:], many=True).data", [5]),
        ("", "rows.count()", []),
    ],
)
def test_a_lazy_queryset_of_a_service_runs_where_it_is_written_out(cut, answer, found):
    files = {
        "shop/models.py": "from django.db import models\n\nclass Order(models.Model):\n"
        "    total = models.IntegerField()\n",
        "shop/service.py": SERVICE % cut,
        "shop/views.py": HANDLER % answer,
    }
    assert [each.line for each in findings_of(RULE, files)] == found


@pytest.mark.parametrize(("items", "found"), [("list(rows[start : start + size])", 0), ("list(rows)", 1)])
def test_a_page_of_what_a_method_gives(items, found):
    files = {
        "shop/models.py": "from django.db import models\n\nclass Order(models.Model):\n"
        "    total = models.IntegerField()\n",
        "shop/views.py": "from rest_framework.views import APIView\nfrom shop.models import Order\n\n"
        "class Orders(APIView):\n    def get_queryset(self):\n        return Order.objects.order_by('pk')\n\n"
        "    def get(self, request):\n        size = max(1, min(100, int(request.query_params.get('size', 20))))\n"
        "        start = int(request.query_params.get('start', 0))\n        rows = self.get_queryset()\n"
        f"        items = {items}\n        return Response(OrderSerializer(items, many=True).data)\n",
        "shop/urls.py": "from django.urls import path\nfrom shop.views import Orders\n"
        "urlpatterns = [path('orders/', Orders.as_view())]\n",
    }
    assert len(findings_of(RULE, files)) == found


def test_a_list_that_is_overridden_is_told_as_a_handler_if_at_all():
    source = (
        DJANGO + "class Orders(ModelViewSet):\n    queryset = Order.objects.all()\n"
        "    def list(self, request):\n        return Response([])\n"
    )
    assert findings_of(RULE, {"shop/views.py": source}) == []


@pytest.mark.parametrize(
    ("name", "body", "found"),
    [
        ("gadgets", "    return JsonResponse([each.pk for each in Gadget.objects.all()], safe=False)", 1),
        ("import_gadgets", "    return JsonResponse([each.pk for each in Gadget.objects.all()], safe=False)", 0),
        ("gadgets", "    for each in Gadget.objects.all():\n        each.save()\n    return JsonResponse({})", 0),
        ("gadgets", "    rows = Gadget.objects.all()\n    for each in rows:\n        show(each)\n    return done()", 0),
    ],
)
def test_rows_of_an_unknown_number_must_be_what_is_answered(name, body, found):
    source = (
        "from django.db import models\nfrom django.urls import path\n\nclass Gadget(models.Model):\n"
        f"    code = models.CharField()\n\ndef {name}(request):\n{body}\n\nurlpatterns = [path('all', {name})]\n"
    )
    assert len(findings_of(RULE, {"shop/views.py": source})) == found


@pytest.mark.parametrize(("methods", "count"), [('["post", "put"]', 0), ('["get", "post"]', 1)])
def test_a_view_that_nobody_may_get_lists_nothing(methods, count):
    source = (
        f"{DJANGO}class Orders(ModelViewSet):\n    queryset = Order.objects.all()\n    http_method_names = {methods}\n"
    )
    assert len(findings_of(RULE, {"shop/views.py": source})) == count


@pytest.mark.parametrize(("taken", "count"), [("", 1), ("Pageable page", 0)])
def test_a_handler_that_is_given_a_page_hands_it_on(taken, count):
    given = taken.rpartition(" ")[2]
    files = {
        "src/main/java/Event.java": "import javax.persistence.*;\n@Entity class Event { @Id Long id; }\n",
        "src/main/java/EventRepository.java": "interface EventRepository extends JpaRepository<Event, Long> {}\n",
        "src/main/java/EventService.java": (
            "class EventService {\n  EventRepository eventRepository;\n"
            "  List<Event> findAll() { return eventRepository.findAll(); }\n"
            "  Page<Event> findAll(Pageable page) { return eventRepository.findAll(page); }\n}\n"
        ),
        "src/main/java/EventController.java": (
            "class EventController {\n  EventService eventService;\n"
            f'  @GetMapping("/events")\n  Object events({taken}) {{ return eventService.findAll({given}); }}\n}}\n'
        ),
    }
    assert len(findings_of(RULE, files)) == count


@pytest.mark.parametrize(
    ("service", "found"),
    [
        ("return rows.load()", [6]),
        ("found = rows.load()\n    log(found)\n    return found", []),
        ("return newest(rows.load())", []),
    ],
)
def test_a_service_that_only_hands_the_question_on(service, found):
    source = FLASK + "from shop import orders\n@app.get('/orders')\ndef listed():\n    return orders.everything()"
    others = {
        "shop/orders.py": "from shop import rows\ndef newest(found):\n    return found\n"
        f"def everything():\n    {service}\n",
        "shop/rows.py": "from shop.models import Order\ndef load():\n    return list(Order.objects.all())\n",
    }
    assert lines(RULE, source, others=others) == found
    told = findings("perf-unbounded-query", source, others=others, volumes={"shop_order": "XL"})
    assert len(told) == (0 if found else 1)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("db.select().from(orders).orderBy(orders.id)", [5]),
        ("db.query.orders.findMany()", [5]),
        ("db.select().from(orders).limit(200)", []),
        ("db.query.orders.findMany({ limit: 200 })", []),
    ],
)
def test_a_list_of_drizzle(query, found):
    source = (
        "import { db } from '@/db';\nimport { orders } from '@/db/schema';\n\nexport async function GET() {\n"
        f"  const rows = await {query};\n  return Response.json(rows);\n}}\n"
    )
    files = {**orms.DRIZZLE, "src/app/api/orders/route.ts": source}
    assert [each.line for each in findings_of(RULE, files)] == found


SERVED = {
    "src/main/java/Event.java": "import javax.persistence.*;\n@Entity class Event { @Id Long id; boolean open; }\n",
    "src/main/java/EventRepository.java": "interface EventRepository extends JpaRepository<Event, Long> {}\n",
    "src/main/java/EventStore.java": (
        "class EventStore {\n  EventRepository eventRepository;\n"
        "  List<Event> all() { return eventRepository.findAll(); }\n"
        "  List<Event> open() { return eventRepository.findAll().stream().filter(e -> e.isOpen()).toList(); }\n}\n"
    ),
    "src/main/java/EventController.java": (
        "class EventController {\n  EventService eventService;\n"
        '  @GetMapping("/events")\n  Object events() { return eventService.list(); }\n}\n'
    ),
}


@pytest.mark.parametrize(
    ("work", "found"),
    [
        ("return eventStore.all();", 1),
        ("return eventStore.open();", 0),
        ("for (Event each : eventStore.all()) {\n      counts.add(each.id);\n    }\n    return counts.top(9);", 0),
    ],
)
def test_a_service_that_only_hands_the_call_on_stands_between(work, found):
    service = f"class EventService {{\n  EventStore eventStore;\n  Object list() {{\n    {work}\n  }}\n}}\n"
    files = {**SERVED, "src/main/java/EventService.java": service}
    assert [each.file.rpartition("/")[2] for each in findings_of(RULE, files)] == ["EventController.java"] * found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("return this.prisma.harbor.findMany();", 1),
        (
            "const all = await this.prisma.harbor.findMany();\n    return new Map(all.map((each) => [each.id, each]));",
            0,
        ),
    ],
)
def test_rows_that_are_given_back_as_they_are_make_no_look_up(body, found):
    files = {
        "prisma/schema.prisma": "model Harbor {\n  id Int @id\n  city String\n}\n",
        "src/harbors.service.ts": "@Injectable()\nexport class HarborsService {\n"
        "  constructor(private readonly prisma: PrismaService) {}\n"
        f"  async forMap() {{\n    {body}\n  }}\n}}\n",
        "src/harbors.controller.ts": "import { HarborsService } from './harbors.service';\n@Controller('harbors')\n"
        "export class HarborsController {\n  constructor(private readonly harbors: HarborsService) {}\n"
        "  @Get('map')\n  map() {\n    return this.harbors.forMap();\n  }\n}\n",
    }
    assert len(findings_of(RULE, files)) == found


@pytest.mark.parametrize(
    ("made", "given", "found"),
    [
        ("handlers.NewOrders(db)", "orders.List", [7]),
        ("&handlers.Orders{DB: db}", "orders.List", [7]),
        ("handlers.NewOrders(db)", "orders.Newest", []),
        ("handlers.NewDocks(db)", "orders.List", []),
    ],
)
def test_a_method_of_what_the_main_function_made(made, given, found):
    files = {
        **orms.GORM,
        "go.mod": "module example.com/quay\n",
        "main.go": (
            'package main\n\nimport "example.com/quay/handlers"\n\nfunc main() {\n'
            f'\torders := {made}\n\trouter.GET("/orders", {given})\n}}\n'
        ),
        "handlers/docks.go": "package handlers\n\ntype Docks struct{}\n\nfunc (d *Docks) List(c *web.Context) {}\n",
        "handlers/orders.go": (
            "package handlers\n\ntype Orders struct { DB *gorm.DB }\n\nfunc (o *Orders) List(c *web.Context) {\n"
            "\tvar rows []shop.Order\n\to.DB.Find(&rows)\n\tc.JSON(200, rows)\n}\n\n"
            "func (o *Orders) Newest(c *web.Context) {\n\tvar rows []shop.Order\n\to.DB.Limit(50).Find(&rows)\n"
            "\tc.JSON(200, rows)\n}\n"
        ),
    }
    assert [each.line for each in findings_of(RULE, files) if each.file == "handlers/orders.go"] == found


@pytest.mark.parametrize(
    ("condition", "size", "found"),
    [
        ("order_id=self.kwargs['pk']", "XL", 1),
        ("order_id=self.kwargs['pk']", "M", 0),
        ("amount=self.kwargs['amount']", "XL", 0),
    ],
)
def test_the_rows_of_one_parent_in_a_large_table(condition, size, found):
    source = (
        "from rest_framework.generics import ListAPIView\nclass Lines(ListAPIView):\n"
        f"    def get_queryset(self):\n        return Line.objects.filter({condition})\n"
    )
    told = findings(RULE, source, volumes={"Line": size})
    assert [str(each.confidence) for each in told] == ["low"] * found
    view = (
        FLASK + "@app.get('/orders/<pk>/lines')\ndef lines_of(pk):\n    return list(Line.objects.filter(order_id=pk))"
    )
    assert len(findings(RULE, view, volumes={"Line": size})) == (size == "XL")


@pytest.mark.parametrize(("asked", "found"), [("select distinct e.kind", 0), ("select distinct e", 1), ("select e", 1)])
def test_the_different_values_of_a_column_are_few(asked, found):
    files = {
        **SERVED,
        "src/main/java/EventStore.java": (
            "interface EventStore extends JpaRepository<Event, Long> {\n"
            f'  @Query("{asked} from Event e")\n  List<Event> findThem();\n}}\n'
        ),
        "src/main/java/EventService.java": (
            "import org.springframework.stereotype.Service;\n\nclass EventService {\n  EventStore eventStore;\n"
            "  Object list() {\n    return eventStore.findThem();\n  }\n}\n"
        ),
    }
    assert len(findings_of(RULE, files)) == found


@pytest.mark.parametrize(
    ("work", "answer", "found"),
    [
        ("", "rows", 1),
        ("sort.Slice(rows, func(i, j int) bool { return rows[i].Total > rows[j].Total })", "rows", 1),
        (
            "sort.Slice(rows, func(i, j int) bool { return rows[i].Total > rows[j].Total })\n\trows = rows[:10]",
            "rows",
            0,
        ),
        ("", "len(rows) > 50", 0),
    ],
)
def test_a_handler_of_go_that_answers_with_less(work, answer, found):
    source = (
        "package shop\n\ntype Orders struct { DB *gorm.DB }\n\nfunc (o *Orders) List(c *gin.Context) {\n"
        f"\tvar rows []Order\n\to.DB.Find(&rows)\n\t{work}\n\tc.JSON(200, {answer})\n}}\n\n"
        'func Routes(r *gin.Engine, o *Orders) {\n\tr.GET("/orders", o.List)\n}\n'
    )
    assert len(findings_of(RULE, {**orms.GORM, "shop/api.go": source})) == found


@pytest.mark.parametrize(("answer", "found"), [("len(rows)", 0), ("rows", 1)])
def test_a_handler_that_only_counts(answer, found):
    source = FLASK + f"@app.get('/orders')\ndef orders():\n    rows = list(Order.objects.all())\n    return {answer}"
    assert len(findings(RULE, source)) == found


@pytest.mark.parametrize(("rows", "found"), [("Order.objects.all()", 1), ("Order.objects.all()[:50]", 0)])
def test_a_service_that_its_package_has_for_others(rows, found):
    others = {
        "shop/rows/__init__.py": "from shop.rows.orders import Orders\n",
        "shop/rows/orders.py": (
            f"from shop.models import Order\n\nclass Orders:\n    def whole(self):\n        return list({rows})\n"
        ),
        "shop/desk.py": (
            "from shop.rows import Orders\n\nclass Desk:\n    def __init__(self):\n        self.orders = Orders()\n\n"
            "    def shown(self):\n        return self.orders.whole()\n"
        ),
    }
    source = FLASK + "from shop.desk import Desk\n\n@app.get('/orders')\ndef orders():\n    return Desk().shown()"
    assert len(findings(RULE, source, others=others)) == found
