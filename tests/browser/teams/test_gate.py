"""The gate at the browser: a changed policy and its effect, rule packs, and why a pull request was blocked."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils import timezone

from analysis.models import Platform, PullRequest, Repository
from analysis.services.repositories import connect_repository
from tests import factories
from tests.analysis.conftest import TODAY
from tests.analysis.repositories import SHOP, GitRepository

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def team(owner: Any, member: Any) -> Any:
    return factories.organization(owner=owner, members=[member], plan="pro", name="Acme")


@pytest.fixture
def shop(team: Any, service: str, tmp_path: Path) -> Repository:
    """A small shop, connected and scanned."""
    source = GitRepository.create(tmp_path / "shop")
    source.commit(SHOP, on=TODAY - timedelta(days=3))
    made = connect_repository(organization=team, full_name="acme/shop", platform=Platform.GIT, clone_url=source.url)
    made.refresh_from_db()
    assert made.last_scan_at
    return made


def test_a_changed_policy_shows_its_effect_is_saved_and_undone(visitor: Any, shop: Repository, owner: Any) -> None:
    olivia = visitor(owner)
    olivia.goes_to(f"/repos/{shop.pk}/policy")
    olivia.sees("Defaults of the stack")
    olivia.finds_no_barrier()
    before = shop.total_violations

    olivia.is_refused(400)
    olivia.clicks("Add an exception")
    olivia.page.get_by_label("Rule").fill("risk-no-such-thing")
    olivia.page.get_by_label("Files").last.fill("shop/**")
    olivia.page.get_by_label("Reason").fill("Goes away with the old shop")
    olivia.sees("there is no rule 'risk-no-such-thing'")
    olivia.page.get_by_label("Rule").fill("risk-http-no-timeout")
    olivia.sees("Would no longer count (1)")
    olivia.clicks("Save the policy")
    olivia.sees("Set here")

    shop.refresh_from_db()
    assert shop.total_violations == before - 1
    olivia.clicks("Undo the last change")
    olivia.clicks("Undo")
    olivia.sees("Defaults of the stack")
    shop.refresh_from_db()
    assert shop.total_violations == before


def test_a_member_tries_a_change_and_cannot_save_it(visitor: Any, shop: Repository, member: Any) -> None:
    mia = visitor(member)
    mia.goes_to(f"/repos/{shop.pk}/policy")
    mia.sees("Only admins and the owner can save a policy")

    mia.page.get_by_label("Value").first.fill("3")

    mia.sees("Unsaved changes")
    assert mia.page.get_by_role("button", name="Save the policy").count() == 0


@pytest.mark.parametrize(
    ("file", "other"), [("shop/[id]/client.py", "shop/i/client.py"), ("client.py", "shop/client.py")]
)
def test_an_exception_for_one_file_is_for_that_file_alone(
    visitor: Any, team: Any, service: str, owner: Any, tmp_path: Path, file: str, other: str
) -> None:
    source = GitRepository.create(tmp_path / "shop")
    source.commit(dict.fromkeys((file, other), SHOP["shop/client.py"]), on=TODAY - timedelta(days=3))
    made = connect_repository(organization=team, full_name="acme/shop", platform=Platform.GIT, clone_url=source.url)
    rule = "risk-http-no-timeout"
    olivia = visitor(owner)
    olivia.goes_to(f"/repos/{made.pk}/violations?{urlencode({'file': file, 'ruleId': rule})}")

    olivia.page.locator("summary", has_text="no time limit").click()
    olivia.clicks("Make an exception")
    olivia.sees("Accepts 1 finding;")
    olivia.page.get_by_label("Reason").fill("Goes away with the old gateway")
    olivia.clicks("Make the exception")
    olivia.sees("Nothing with these filters")

    olivia.goes_to(f"/repos/{made.pk}/violations?ruleId={rule}")
    olivia.sees(f"{other}:")


def test_a_pack_is_found_and_applied(visitor: Any, shop: Repository, owner: Any) -> None:
    olivia = visitor(owner)
    olivia.goes_to("/packs")
    olivia.page.get_by_label("Search").fill("rest fra")
    olivia.page.get_by_role("link", name="Django with REST framework").click()
    olivia.sees("serializers*")
    olivia.finds_no_barrier()

    olivia.clicks("Apply to a repository")
    olivia.page.get_by_role("dialog").get_by_text("Health").wait_for()
    olivia.clicks("Apply the pack")

    olivia.sees("Pack django-drf")
    assert olivia.page.get_by_label("Name").first.input_value() == "urls"


def test_a_blocked_pull_request_says_why(visitor: Any, shop: Repository, owner: Any) -> None:
    found = {
        "ruleId": "risk-http-no-timeout", "category": "runtime_risk", "severity": "critical", "confidence": "high",
        "file": "shop/price.py", "line": 5, "function": "price", "message": "`requests.get` has no time limit",
        "suggestion": "Pass a timeout.", "debtPoints": 0.5, "gateAction": "block",
    }  # fmt: skip
    verdict = {
        "hash": "aa", "mergeBase": "b" * 40, "evaluated": True, "notes": [], "exceptions": [],
        "metrics": {"debt_delta_score": 1, "new_critical": 1},
        "gates": [{"metric": "new_critical", "operator": ">", "value": 0, "actual": 1, "action": "block"}],
        "introduced": [found], "introducedTotal": 1, "resolved": [], "resolvedTotal": 0,
    }  # fmt: skip
    PullRequest.objects.create(
        repository=shop, number=7, title="Ask for prices", author="dana", head_sha="d" * 40, base_branch="main",
        judged_sha="d" * 40, judged_at=timezone.now(), score=1, gate_result="fail", blocking_count=2, verdict=verdict,
    )  # fmt: skip
    olivia = visitor(owner)
    olivia.goes_to(f"/repos/{shop.pk}/prs")
    olivia.finds_no_barrier()

    olivia.page.get_by_role("link", name="Ask for prices").click()

    olivia.sees("blocks when above 0")
    olivia.sees("shop/price.py:5")
    olivia.finds_no_barrier()


UNJUDGED = {
    "hash": "", "mergeBase": "", "evaluated": False, "metrics": {}, "gates": [], "exceptions": [],
    "introduced": [], "introducedTotal": 0, "resolved": [], "resolvedTotal": 0,
    "notes": ["The analysis did not finish in time."],
}  # fmt: skip


def test_a_pull_request_without_a_verdict_is_not_said_to_have_passed(
    visitor: Any, shop: Repository, owner: Any
) -> None:
    PullRequest.objects.create(
        repository=shop, number=8, title="Move the shop", author="dana", head_sha="e" * 40, base_branch="main",
        judged_sha="e" * 40, judged_at=timezone.now(), score=None, gate_result="pass", verdict=UNJUDGED,
    )  # fmt: skip
    olivia = visitor(owner)
    olivia.goes_to(f"/repos/{shop.pk}")
    olivia.sees("Not evaluated")

    olivia.goes_to(f"/repos/{shop.pk}/prs")
    olivia.sees("Not evaluated")
    olivia.page.get_by_role("link", name="Move the shop").click()

    olivia.sees("The analysis did not finish in time.")
    assert olivia.page.get_by_text("Passed").count() == 0
    assert olivia.page.get_by_text("adds nothing").count() == 0


def test_a_draft_is_not_said_to_be_analysed(visitor: Any, shop: Repository, owner: Any) -> None:
    PullRequest.objects.create(
        repository=shop, number=9, title="Think", author="dana", head_sha="e" * 40, base_branch="main", is_draft=True
    )  # fmt: skip
    olivia = visitor(owner)

    olivia.goes_to(f"/repos/{shop.pk}/prs/9")

    olivia.sees("It is judged when it is ready for review.")


def test_the_verdict_on_an_earlier_commit_is_replaced_when_the_newest_is_judged(
    visitor: Any, shop: Repository, owner: Any
) -> None:
    request = PullRequest.objects.create(
        repository=shop, number=10, title="Add rates", author="dana", head_sha="f" * 40, base_branch="main",
        judged_sha="e" * 40, judged_at=timezone.now(), score=None, gate_result="pass", verdict=UNJUDGED,
    )  # fmt: skip
    olivia = visitor(owner)
    olivia.goes_to(f"/repos/{shop.pk}/prs/10")
    olivia.sees("This is the verdict on an earlier commit, eeeeeeeeee.")

    judged = {**UNJUDGED, "evaluated": True, "notes": []}
    PullRequest.objects.filter(pk=request.pk).update(judged_sha="f" * 40, score=0, verdict=judged)

    olivia.sees("No gate of the policy fired.")
    assert olivia.page.get_by_text("earlier commit").count() == 0
