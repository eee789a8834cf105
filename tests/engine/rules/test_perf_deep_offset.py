import pytest

from tests.engine.rules import orms
from tests.engine.rules.reading import findings_of
from tests.engine.rules.shop import findings

RULE = "perf-deep-offset"
VIEW = "from rest_framework.views import APIView\nclass Orders(APIView):\n    def get(self, request):\n        %s\n"
PAGE = "return list(Order.objects.all()[start : start + 50])"


def test_an_offset_of_a_request_into_a_large_table():
    (finding,) = findings(RULE, VIEW % PAGE, volumes={"Order": "XL"})
    assert (finding.severity, finding.confidence, finding.table) == ("warning", "medium", "shop_order")
    assert "comes from the request" in finding.message


def test_small_tables_first_pages_and_other_code_are_fine():
    assert findings(RULE, VIEW % PAGE) == []
    assert findings(RULE, VIEW % "return list(Order.objects.all()[:50])", volumes={"Order": "XL"}) == []
    assert findings(RULE, f"def f(start):\n    {PAGE}", volumes={"Order": "XL"}) == []


def test_a_job_that_walks_the_table_by_offsets():
    source = (
        "def f():\n    for start in range(0, 10**7, 50):\n        work(list(Order.objects.all()[start : start + 50]))"
    )
    (finding,) = findings(RULE, source, volumes={"Order": "XXL"})
    assert (finding.severity, "grows" in finding.message) == ("critical", True)


def test_a_clamp_is_one_of_the_offset_and_in_the_same_function():
    offset = "page = int(request.GET['page'])\n        start = (page - 1) * 50\n        "
    size = "size = min(int(request.GET['size']), 100)\n        "
    next_one = "\n\n    def post(self, request):\n        page = min(int(request.GET['page']), 90)"
    size_of_a_page = "size = min(size, MAX_PAGE)\n        "
    assert len(findings(RULE, VIEW % (offset + size_of_a_page + PAGE), volumes={"Order": "XL"})) == 1
    clamp = "start = min(start, 9000)\n        "
    found = {"Order": "XL"}
    assert len(findings(RULE, VIEW % (offset + size + PAGE), volumes=found)) == 1
    assert len(findings(RULE, VIEW % (offset + PAGE + next_one), volumes=found)) == 1
    assert findings(RULE, VIEW % (offset + clamp + PAGE), volumes=found) == []
    assert findings(RULE, VIEW % ("start = min(page, 90) * 50\n        " + PAGE), volumes=found) == []


def test_an_offset_in_short_form_that_grows():
    files = {
        "prisma/schema.prisma": "model Order {\n  id Int @id\n}\n",
        "src/work.ts": (
            "async function walk(sink) {\n  let skip = 0;\n  for (;;) {\n"
            "    const rows = await prisma.order.findMany({ skip, take: 100, orderBy: { id: 'asc' } });\n"
            "    if (!rows.length) return;\n    await sink(rows);\n    skip += rows.length;\n  }\n}\n"
        ),
    }
    (finding,) = findings_of(RULE, files, volumes={"Order": "XL"})
    assert finding.line == 4


@pytest.mark.parametrize(
    ("parameters", "found"),
    [
        ("page: int = 1, size: int = Query(50, le=100)", 1),
        ("page: int = Query(1, le=100), size: int = 50", 0),
        ("page: Annotated[int, Query(le=100)] = 1, size: int = 50", 0),
    ],
)
def test_a_statement_that_gets_its_offset_where_it_runs(parameters, found):
    source = (
        "from sqlalchemy import select\nclass Order(Base):\n    __tablename__ = 'orders'\n"
        "    id = mapped_column(Integer, primary_key=True)\n\n@app.get('/orders')\n"
        f"def show(db, {parameters}):\n    wanted = select(Order).order_by(Order.id)\n"
        "    return db.scalars(wanted.offset((page - 1) * size).limit(size)).all()\n"
    )
    assert len(findings_of(RULE, {"shop/work.py": source}, volumes={"Order": "XL"})) == found


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("Math.min(Number(req.query.offset), 5000)", "0", 0),
        ("Number(req.query.offset)", "0", 1),
        ("Math.min(Number(req.query.offset), 5000)", "req.query.offset", 1),
    ],
)
def test_a_limit_that_a_handler_sets(first, second, found):
    service = (
        'import { prisma } from "./client";\nexport function page(customer, skip) {\n'
        "  return prisma.order.findMany({ where: { customer }, skip, take: 50 });\n}\n"
    )
    routes = (
        'import express from "express";\nimport { page } from "./service";\nconst app = express();\n'
        f'app.get("/orders", async (req, res) => {{\n  const offset = {first};\n'
        "  res.json(await page(req.user, offset));\n});\n"
        f'app.get("/others", async (req, res) => {{\n  res.json(await page(req.user, {second}));\n}});\n'
    )
    files = {
        "prisma/schema.prisma": "model Order {\n  id Int @id\n  customer Int\n}\n",
        "src/service.ts": service,
        "src/routes.ts": routes,
    }
    assert len(findings_of(RULE, files, volumes={"Order": "XL"})) == found


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        ("Limit(min(size, 100)).Offset((page - 1) * size)", 1),
        ("Limit(size).Offset((min(page, 50) - 1) * size)", 0),
        ("Limit(size).Offset((min(int(page), 50) - 1) * size)", 0),
    ],
)
def test_a_clamp_of_the_limit_leaves_the_offset_free(limits, count):
    files = {
        "a/a.go": 'package a\nimport ("gorm.io/gorm"; "net/http")\n'
        'type Order struct {\n\tID uint `gorm:"primaryKey"`\n\tState int\n}\n'
        "func (s *S) Page(w http.ResponseWriter, r *http.Request) { s.page(read(r)) }\n"
        f"func (s *S) page(page, size int) {{\n\tvar out []Order\n\ts.db.Where(q).{limits}.Find(&out)\n}}\n"
    }
    assert len(findings_of(RULE, files, volumes={"Order": "XL"})) == count


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("Number(req.nextUrl.searchParams.get('page'))", [6]),
        ("Math.min(Number(req.nextUrl.searchParams.get('page')), 50)", []),
    ],
)
def test_an_offset_of_drizzle(page, found):
    source = (
        "import { db } from '@/db';\nimport { orders } from '@/db/schema';\n\nexport async function GET(req) {\n"
        f"  const page = {page};\n  const rows = await db.select().from(orders).limit(50).offset((page - 1) * 50);\n"
        "  return Response.json(rows);\n}\n"
    )
    files = {**orms.DRIZZLE, "src/app/api/orders/route.ts": source}
    assert [each.line for each in findings_of(RULE, files, volumes={"orders": "XL"})] == found


@pytest.mark.parametrize(
    ("loop", "call", "found"),
    [
        ("for {", "s.batch(ctx, offset)", 1),
        ("for _, kind := range kinds {", "s.batch(ctx, offset)", 0),
        ("for offset := 0; offset < most; offset += 1000 {", "s.batch(ctx, offset)", 1),
        ("for {", "s.batch(ctx, 0)", 0),
        ("for {", "s.other(ctx, offset)", 0),
    ],
)
def test_a_loop_that_calls_a_function_with_its_offset(loop, call, found):
    files = {
        "db/schema.sql": "CREATE TABLE scans (id bigint primary key);",
        "jobs/walk.go": (
            f"package jobs\n\nfunc (s *Walk) Run(ctx context.Context) {{\n\tfor {{\n\t\tbreak\n\t}}\n\t{loop}\n"
            f"\t\tids := {call}\n\t\tuse(ids)\n\t}}\n}}\n\n"
            "func (s *Walk) batch(ctx context.Context, offset int) []int64 {\n"
            '\trows, err := s.db.QueryContext(ctx, "SELECT id FROM scans ORDER BY id LIMIT 1000 OFFSET $1", offset)\n'
            "\treturn read(rows, err)\n}\n"
        ),
    }
    assert len(findings_of(RULE, files, volumes={"scans": "XL"})) == found
