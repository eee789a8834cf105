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
    clamp = "start = min(start, 9000)\n        "
    found = {"Order": "XL"}
    assert len(findings(RULE, VIEW % (offset + size + PAGE), volumes=found)) == 1
    assert len(findings(RULE, VIEW % (offset + PAGE + next_one), volumes=found)) == 1
    assert findings(RULE, VIEW % (offset + clamp + PAGE), volumes=found) == []
    assert findings(RULE, VIEW % ("start = min(page, 90) * 50\n        " + PAGE), volumes=found) == []
