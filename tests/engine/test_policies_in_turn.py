"""One state judged by one policy after the other."""

from datetime import date
from itertools import permutations

from analysis.engine.evaluate import evaluate, report_of
from analysis.engine.evaluator import Evaluator
from analysis.engine.extract import extract
from analysis.engine.graph import build_graph
from analysis.engine.history import History
from analysis.engine.policy_file import parse_policy
from tests.engine.rules.shop import DJANGO, DJANGO_MODELS

TODAY = date(2026, 3, 1)
FILES = {
    path: extract(source.encode(), "python")
    for path, source in {
        "shop/models.py": DJANGO_MODELS + "\nfrom shop.views import index\n",
        "shop/views.py": DJANGO + "import requests\n\ndef index(request):\n    for order in Order.objects.all():\n"
        "        requests.get(order.reference)\n        order.customer.email\n    return list(Order.objects.all())\n",
        "jobs/work.py": "from shop.models import Order\n\ndef work(seen=[]):\n    Order.objects.all().delete()\n",
    }.items()
}
POLICIES = [
    parse_policy(body)
    for body in (
        {},
        {"data_volumes": {"Order": "XXL"}},
        {"layers": [{"name": "views", "path": "views.py"}, {"name": "models", "path": "models.py"}]},
        {"gates": {"block_merge": [{"metric": "new_violations", "operator": ">", "value": 0}]}},
        {
            "exceptions": [
                {"rule": "risk-http-no-timeout", "file": "shop/**", "expires": TODAY.isoformat(), "reason": "x"}
            ]
        },
    )
]


def judged_afresh(policy):
    return evaluate(files=FILES, history=History.empty(), policy=policy, today=TODAY)


class TestPoliciesInTurn:
    def test_each_gets_the_report_of_a_judge_of_its_own(self):
        expected = [judged_afresh(policy) for policy in POLICIES]
        assert len({report.findings for report in expected}) == len(POLICIES)
        graph = build_graph(FILES)
        for order in permutations(range(len(POLICIES))):
            evaluator = Evaluator(POLICIES[0])
            for index in order:
                evaluator.policy = POLICIES[index]
                evaluator.judge(FILES, History.empty(), TODAY, graph=graph)
                found = report_of(evaluator)
                assert (found.findings, found.suppressed) == (expected[index].findings, expected[index].suppressed)
                assert (found.health_score, found.debt_score) == (
                    expected[index].health_score,
                    expected[index].debt_score,
                )
