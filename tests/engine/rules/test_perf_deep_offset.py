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
