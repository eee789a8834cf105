"""The AI operations over the API: what they answer, what they cost, who may ask, and that a bad answer is free."""

import subprocess
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from analysis.models import Repository, Violation, ViolationSource, ViolationStatus
from analysis.services.runs import request_run
from credits import services as credits
from credits.models import CreditAccount, Reservation
from tests import factories
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import GitRepository
from tests.conftest import client_of
from tests.providers.chat import Chat
from tests.providers.loopback import serving

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

BAD_MOODS = ["hangs", "drips", "fails", "refuses", "lies", "mumbles", "is silent", "floods", "redirects"]
FIX = {
    "explanation": "The call can hang for ever.",
    "patch": """--- a/shop/client.py
+++ b/shop/client.py
@@ -1,3 +1,3 @@
     try:
-        return requests.get(f"https://rates.example.org/{region}").json()
+        return requests.get(f"https://rates.example.org/{region}", timeout=10).json()
     except Exception:
""",
}
REMARK = {
    "file": "shop/orders.py",
    "line": 7,
    "function": "total",
    "category": "reliability",
    "severity": "warning",
    "confidence": "medium",
    "message": "rates answers None after an error and total adds it up",
    "suggestion": "Let rates raise",
}


@pytest.fixture
def chat(settings: Any) -> Iterator[Chat]:
    """The model on the loopback, with a time limit that a test can wait for."""
    with serving(Chat) as server:
        settings.AI_BASE_URL, settings.AI_MODEL, settings.AI_API_KEY = server.base_url, "small-1", "key-of-the-service"
        settings.AI_TIMEOUT_SECONDS, settings.AI_CALLS_AT_ONCE = 5, 4
        yield server
        server.go_on.set()


@pytest.fixture
def repository(connect: Any, shop: GitRepository, organization: Any) -> Repository:
    """Scanned, in an organization with 100 credits."""
    give(organization, 100)
    made: Repository = connect(shop)
    return made


def give(organization: Any, amount: int) -> None:
    month = credits.Allocation(
        credits=amount,
        window="test:2026-11",
        starts_at=datetime(2026, 11, 1, tzinfo=UTC),
        ends_at=datetime(2036, 12, 1, tzinfo=UTC),
    )
    credits.allocate(organization=organization, allocation=month)


def address(repository: Repository, operation: str) -> str:
    base = f"/v1/api/repos/{repository.pk}"
    if operation == "ai-fix":
        return f"{base}/violations/{violation_of(repository).pk}/ai-fix"
    return f"{base}/ai/{operation}"


def violation_of(repository: Repository) -> Violation:
    return repository.violations.get(rule_id="risk-http-no-timeout")


def ledger_of(repository: Repository) -> list[tuple[str, int]]:
    """What AI operations took, the oldest first."""
    entries = CreditAccount.objects.get(organization=repository.organization).entries.filter(cost__gt=0)
    return list(entries.order_by("number").values_list("operation", "amount"))


def credits_of(repository: Repository) -> tuple[int, int]:
    account = CreditAccount.objects.get(organization=repository.organization)
    return account.balance, account.reserved


class TestScanSummary:
    def test_it_sums_up_the_scan_for_five_credits(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = "Repair shop/client.py first."

        response = as_member.post(address(repository, "scan-summary"))

        assert response.status_code == 200
        assert response.json() == {"summary": "Repair shop/client.py first.", "creditsUsed": 5}
        assert ledger_of(repository) == [("ai_scan_summary", -5)]
        assert credits_of(repository) == (95, 0)

    def test_the_prompt_holds_figures_and_findings_but_no_code(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        as_member.post(address(repository, "scan-summary"))

        asked = chat.asked[0]
        assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
        assert asked.headers["Authorization"] == "Bearer key-of-the-service"
        assert asked.body["model"] == "small-1"
        assert "risk-http-no-timeout at shop/client.py:8" in chat.prompts[0]
        assert "rates.example.org" not in chat.prompts[0]
        assert "key-of-the-service" not in chat.prompts[0]

    def test_before_the_first_scan_there_is_nothing_to_sum_up(
        self, as_member: Any, organization: Any, chat: Chat
    ) -> None:
        give(organization, 100)
        empty = Repository.objects.create(organization=organization, full_name="acme/new", platform="git")

        response = as_member.post(address(empty, "scan-summary"))

        assert response.status_code == 409
        assert response.json()["message"] == "There is no finished scan of this repository yet; analyze it first"
        assert chat.asked == []

    def test_the_number_of_queries_does_not_grow_with_the_findings(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        def queries() -> int:
            with CaptureQueriesContext(connections["default"]) as captured:
                assert as_member.post(address(repository, "scan-summary")).status_code == 200
            return len(captured)

        queries()
        before = queries()
        pattern = violation_of(repository)
        for number in range(30):
            pattern.pk, pattern.fingerprint = None, f"more-{number}"
            pattern.id = Violation._meta.pk.get_default()
            pattern.save(force_insert=True)

        assert queries() == before


class TestFix:
    def test_it_explains_and_patches_for_three_credits(
        self, as_member: Any, repository: Repository, chat: Chat, shop: GitRepository
    ) -> None:
        chat.says = FIX

        body = as_member.post(address(repository, "ai-fix")).json()

        assert (body["explanation"], body["creditsUsed"]) == ("The call can hang for ever.", 3)
        assert ledger_of(repository) == [("ai_fix_suggestion", -3)]
        subprocess.run(["git", "-C", shop.folder, "apply", "-"], input=body["patch"].encode(), check=True)
        assert "timeout=10" in (shop.folder / "shop/client.py").read_text()

    def test_the_prompt_holds_the_function_and_nothing_else_of_the_file(
        self, as_member: Any, connect: Any, shop: GitRepository, organization: Any, chat: Chat
    ) -> None:
        give(organization, 100)
        code = (shop.folder / "shop/client.py").read_text()
        padding = "\n" * 20
        shop.commit({"shop/client.py": f"OTHER = 1\n{padding}{code}{padding}LAST = 2\n"}, on=TODAY)
        chat.says = FIX

        as_member.post(address(connect(shop), "ai-fix"))

        prompt = chat.prompts[0]
        assert "   26 | def rates(region, seen=[]):" in prompt
        assert "rates.example.org" in prompt
        assert "OTHER" not in prompt
        assert "LAST" not in prompt
        assert "Order" not in prompt

    def test_a_patch_that_cannot_be_trusted_is_null(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        for patch in ("change line 8", FIX["patch"].replace("client", "orders"), FIX["patch"].replace("json", "xml")):
            chat.says = FIX | {"patch": patch}

            response = as_member.post(address(repository, "ai-fix"))

            assert response.status_code == 200
            assert response.json() == {"explanation": "The call can hang for ever.", "patch": None, "creditsUsed": 3}

    def test_a_resolved_violation_needs_no_fix(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        repository.violations.update(status=ViolationStatus.RESOLVED)

        response = as_member.post(address(repository, "ai-fix"))

        assert response.status_code == 409
        assert credits_of(repository) == (100, 0)

    def test_a_violation_of_another_repository_is_unknown(
        self, as_member: Any, repository: Repository, connect: Any, shop: GitRepository, chat: Chat
    ) -> None:
        other = connect(shop, "acme/other")

        response = as_member.post(f"/v1/api/repos/{other.pk}/violations/{violation_of(repository).pk}/ai-fix")

        assert response.status_code == 404
        assert chat.asked == []

    def test_without_the_clone_nothing_is_asked_or_paid(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        repository.folder.rename(repository.folder.with_name("moved.git"))

        response = as_member.post(address(repository, "ai-fix"))

        assert response.status_code == 503
        assert "analyze the repository again" in response.json()["message"]
        assert (credits_of(repository), chat.asked) == ((100, 0), [])


class TestCrossFile:
    def test_findings_are_violations_with_ids(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = {"findings": [REMARK]}

        body = as_member.post(address(repository, "cross-file")).json()

        assert body["creditsUsed"] == 10
        (finding,) = body["findings"]
        assert finding["source"] == "ai"
        assert (finding["file"], finding["line"], finding["debtPoints"]) == ("shop/orders.py", 7, 0)
        assert (finding["message"], finding["gateAction"]) == (REMARK["message"], "none")
        assert repository.violations.get(pk=finding["id"]).source == ViolationSource.AI
        assert ledger_of(repository) == [("ai_cross_file", -10)]

    def test_an_empty_list_of_findings_is_an_answer(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = {"findings": []}

        assert as_member.post(address(repository, "cross-file")).json() == {"findings": [], "creditsUsed": 10}

    def test_only_the_named_files_are_sent(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        chat.says = {"findings": []}

        response = as_member.post(address(repository, "cross-file"), {"files": ["shop/orders.py", "shop/models.py"]})

        assert response.status_code == 200
        assert "File: shop/orders.py" in chat.prompts[0]
        assert "File: shop/models.py" in chat.prompts[0]
        assert "rates.example.org" not in chat.prompts[0]

    def test_more_files_cost_more(
        self, as_member: Any, organization: Any, connect: Any, shop: GitRepository, chat: Chat
    ) -> None:
        give(organization, 100)
        names = [f"shop/part{number}.py" for number in range(41)]
        shop.commit(dict.fromkeys(names, "VALUE = 1\n"), on=TODAY)
        repository = connect(shop)
        chat.says = {"findings": []}

        used = [
            as_member.post(address(repository, "cross-file"), {"files": names[:count]}).json()["creditsUsed"]
            for count in (20, 21, 24, 25, 41)
        ]

        assert used == [10, 11, 11, 12, 15]

    def test_other_files_are_refused_for_nothing(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        for files, complaint in (
            (["shop/none.py"], "files: shop/none.py is no source file of the last scan"),
            (["../../etc/passwd"], "files: ../../etc/passwd is no source file of the last scan"),
            (["shop/orders.py", "README.md"], "files: README.md is no source file of the last scan"),
            ([], "files: this list may not be empty"),
            ("shop/orders.py", 'files: expected a list of items but got type "str"'),
            (["x.py"] * 101, "files: ensure this field has no more than 100 elements"),
        ):
            response = as_member.post(address(repository, "cross-file"), {"files": files})

            assert (response.status_code, response.json()["message"]) == (400, complaint)
            assert (credits_of(repository), chat.asked) == ((100, 0), [])

    def test_findings_about_nothing_are_dropped(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        odd = [{"file": "shop/none.py"}, {"line": 700}, {"line": True}, {"category": "style"}, {"message": 7}]
        chat.says = {"findings": [REMARK, *(REMARK | change for change in odd)]}

        body = as_member.post(address(repository, "cross-file")).json()

        assert [finding["message"] for finding in body["findings"]] == [REMARK["message"]]

    def test_below_pro_it_names_the_plan_that_has_it(
        self, as_member: Any, organization: Any, repository: Repository, chat: Chat
    ) -> None:
        type(organization).objects.filter(pk=organization.pk).update(plan_id="solo")

        response = as_member.post(address(repository, "cross-file"))

        assert response.status_code == 403
        assert response.json()["message"] == "The plan Solo does not include aiCrossFile; the plan Pro has it"
        assert (credits_of(repository), chat.asked) == ((100, 0), [])


class TestFindingsOfTheModel:
    """How they live beside those of scans."""

    def ask(self, client: Any, repository: Repository, chat: Chat, *remarks: dict[str, Any]) -> list[dict[str, Any]]:
        chat.says = {"findings": list(remarks)}
        found: list[dict[str, Any]] = client.post(address(repository, "cross-file")).json()["findings"]
        return found

    def test_they_enter_no_list_and_no_score(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        base = f"/v1/api/repos/{repository.pk}"
        pages = ["overview", "violations", "runtime-risks", "trends", "first-scan", "hotspots"]
        before = [as_member.get(f"{base}/{page}").json() for page in pages]

        assert self.ask(as_member, repository, chat, REMARK, REMARK | {"line": 2, "category": "runtime_risk"})

        assert [as_member.get(f"{base}/{page}").json() for page in pages] == before

    def test_the_next_scan_leaves_them_alone(
        self, as_member: Any, repository: Repository, chat: Chat, shop: GitRepository
    ) -> None:
        (finding,) = self.ask(as_member, repository, chat, REMARK)
        shop.commit({"shop/new.py": "VALUE = 1\n"}, on=TODAY)

        request_run(repository=Repository.objects.get(pk=repository.pk))

        assert Repository.objects.get(pk=repository.pk).current_report_id != repository.current_report_id
        assert repository.violations.get(pk=finding["id"]).status == ViolationStatus.OPEN

    def test_the_same_finding_in_other_words_keeps_its_id(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        (first,) = self.ask(as_member, repository, chat, REMARK)
        (second,) = self.ask(as_member, repository, chat, REMARK | {"message": "None is added up"})

        assert second["id"] == first["id"]
        assert second["message"] == "None is added up"

    def test_one_that_is_no_longer_mentioned_is_resolved_and_may_come_back(
        self, as_member: Any, repository: Repository, chat: Chat
    ) -> None:
        (finding,) = self.ask(as_member, repository, chat, REMARK)
        row = repository.violations.filter(pk=finding["id"])

        assert self.ask(as_member, repository, chat) == []
        assert row.get().status == ViolationStatus.RESOLVED
        assert self.ask(as_member, repository, chat, REMARK)[0]["id"] == finding["id"]
        assert (row.get().status, row.get().resolved_at) == (ViolationStatus.OPEN, None)

    def test_a_fix_can_be_asked_for(self, as_member: Any, repository: Repository, chat: Chat) -> None:
        (finding,) = self.ask(as_member, repository, chat, REMARK)
        chat.says = FIX

        response = as_member.post(f"/v1/api/repos/{repository.pk}/violations/{finding['id']}/ai-fix")

        assert response.status_code == 200
        assert response.json()["patch"] is None  # it is about another file
        assert "sum(client.rates(order.region)" in chat.prompts[-1]


OPERATIONS = ["scan-summary", "cross-file", "ai-fix"]


@pytest.mark.parametrize("operation", OPERATIONS)
class TestAccess:
    def test_without_an_endpoint_they_are_off_and_free(
        self, as_member: Any, repository: Repository, operation: str, settings: Any
    ) -> None:
        settings.AI_BASE_URL = ""

        response = as_member.post(address(repository, operation))

        assert response.status_code == 503
        assert response.json()["error"] == "Service Unavailable"
        assert credits_of(repository) == (100, 0)

    def test_strangers_learn_nothing(
        self, as_stranger: Any, anonymous: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        assert as_stranger.post(address(repository, operation)).status_code == 404
        assert anonymous.post(address(repository, operation)).status_code == 401
        assert chat.asked == []

    def test_members_admins_and_owners_may_ask(
        self, as_member: Any, as_admin: Any, as_owner: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        chat.says = {"summary": "Fair.", "explanation": "It hangs.", "findings": []}

        answers = [client.post(address(repository, operation)) for client in (as_member, as_admin, as_owner)]

        assert [answer.status_code for answer in answers] == [200, 200, 200]

    def test_an_unknown_repository_is_404(self, as_member: Any, repository: Repository, operation: str) -> None:
        path = address(repository, operation).replace(str(repository.pk), "01997f20-5b1e-7d42-8f13-0c4e2a9d6b55")

        assert as_member.post(path).status_code == 404

    def test_too_few_credits_are_403_and_name_what_is_missing(
        self, as_member: Any, organization: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        credits.withdraw(organization=organization)
        price = {"scan-summary": 5, "cross-file": 10, "ai-fix": 3}[operation]

        response = as_member.post(address(repository, operation))

        assert response.status_code == 403
        assert response.json()["message"] == f"This needs {price} AI credits and 0 are left"
        assert chat.asked == []

    def test_a_bad_answer_costs_nothing_and_says_502(
        self, as_member: Any, repository: Repository, operation: str, chat: Chat, settings: Any
    ) -> None:
        for mood in BAD_MOODS:
            chat.mood = mood
            settings.AI_TIMEOUT_SECONDS = 0.3 if mood in ("hangs", "drips") else 5

            response = as_member.post(address(repository, operation))

            assert response.status_code == 502, mood
            assert response.json()["message"].endswith("no credits were used, try again")
            assert credits_of(repository) == (100, 0)
            assert ledger_of(repository) == []

    def test_nonsense_costs_nothing_and_says_502(
        self, as_member: Any, repository: Repository, operation: str, chat: Chat
    ) -> None:
        for said in ("  ", "{}", '{"findings": 7}', "```json\n{\n```", "?!", '{"findings": [7]}', "[" * 5000):
            chat.says = said

            assert as_member.post(address(repository, operation)).status_code == 502, said
            assert credits_of(repository) == (100, 0)

    def test_nobody_listening_costs_nothing(
        self, as_member: Any, repository: Repository, operation: str, settings: Any
    ) -> None:
        settings.AI_BASE_URL = "http://127.0.0.1:1/v1"

        assert as_member.post(address(repository, operation)).status_code == 502
        assert credits_of(repository) == (100, 0)


class TestLedger:
    def test_while_the_model_thinks_the_credits_are_held_but_not_spent(
        self, member: Any, repository: Repository, chat: Chat
    ) -> None:
        chat.mood = "waits"
        call = _Call(member, address(repository, "scan-summary"))
        assert chat.in_call.wait(20)

        seen = credits_of(repository), ledger_of(repository)
        chat.go_on.set()

        assert call.status() == 200
        assert seen == ((100, 5), [])  # committed: this test reads on a connection of its own
        assert credits_of(repository) == (95, 0)

    def test_of_two_calls_for_the_last_credits_one_is_answered(
        self, member: Any, admin: Any, organization: Any, connect: Any, shop: GitRepository, chat: Chat
    ) -> None:
        give(organization, 8)
        repository = connect(shop)
        path = address(repository, "scan-summary")
        chat.mood = "waits"
        calls = [_Call(person, path) for person in (member, admin)]
        refused = next(call for call in _as_they_end(calls))
        chat.go_on.set()

        assert sorted(call.status() for call in calls) == [200, 403]
        assert refused.status() == 403
        assert credits_of(repository) == (3, 0)
        assert len(chat.asked) == 1

    def test_an_unlimited_account_counts_and_does_not_run_dry(
        self, as_member: Any, organization: Any, repository: Repository, chat: Chat
    ) -> None:
        CreditAccount.objects.filter(organization=organization).delete()
        month = credits.Allocation(
            credits=-1,
            window="unlimited:2026-11",
            starts_at=datetime(2026, 11, 1, tzinfo=UTC),
            ends_at=datetime(2036, 12, 1, tzinfo=UTC),
        )
        credits.allocate(organization=organization, allocation=month)

        assert as_member.post(address(repository, "scan-summary")).json()["creditsUsed"] == 5
        assert CreditAccount.objects.get(organization=organization).used == 5

    def test_a_call_beyond_the_number_at_once_is_free(
        self, as_admin: Any, member: Any, repository: Repository, chat: Chat, settings: Any
    ) -> None:
        settings.AI_CALLS_AT_ONCE = 1
        chat.mood = "waits"
        call = _Call(member, address(repository, "scan-summary"))
        assert chat.in_call.wait(20)

        response = as_admin.post(address(repository, "scan-summary"))
        chat.go_on.set()

        assert response.status_code == 503
        assert call.status() == 200
        assert ledger_of(repository) == [("ai_scan_summary", -5)]
        assert sorted(Reservation.objects.values_list("state", flat=True)) == ["released", "settled"]


class _Call(threading.Thread):
    """A POST on a thread with a connection of its own."""

    def __init__(self, user: Any, path: str) -> None:
        super().__init__()
        self.client, self.path, self.response = client_of(user), path, None
        self.start()

    def run(self) -> None:
        try:
            self.response: Any = self.client.post(self.path)
        finally:
            connections.close_all()

    def status(self) -> int:
        self.join(30)
        code: int = self.response.status_code
        return code


def _as_they_end(calls: list[_Call]) -> Iterator[_Call]:
    while True:
        for call in calls:
            call.join(0.01)
            if not call.is_alive():
                yield call


def test_the_limits_of_the_table_apply(as_member: Any, repository: Repository, chat: Chat, rate_limits: None) -> None:
    response = as_member.post(address(repository, "scan-summary"))

    assert response["RateLimit-Limit"] == "100"
    assert factories.client().post(address(repository, "scan-summary"))["RateLimit-Limit"] == "100"
