"""Exceptions of a policy from notice to end, suppressions in comments, and findings that stay themselves."""

from datetime import timedelta

import pytest

from analysis.models import Repository
from analysis.services.expiry import judge_again, review_exceptions
from tests.analysis.conftest import TODAY

pytestmark = pytest.mark.django_db

RULE = "risk-http-no-timeout"
CLIENT = "import requests\n\n\ndef {name}(region):\n    return requests.get(region).json()\n"


@pytest.fixture
def scanned(connect, scan_here, shop, organization):
    type(organization).objects.filter(pk=organization.pk).update(plan="pro")
    repository = connect(shop)
    scan_here(repository)
    return Repository.objects.get(pk=repository.pk)


def accept(client, repository, *, days):
    exception = {
        "rule": RULE,
        "file": "shop/**",
        "expires": (TODAY + timedelta(days=days)).isoformat(),
        "reason": "The gateway goes away",
    }
    return client.put(f"/v1/api/repos/{repository.pk}/policy", {"exceptions": [exception]}).json()


def found(client, repository):
    rows = client.get(f"/v1/api/repos/{repository.pk}/violations?perPage=100").json()["data"]
    return {row["id"]: row for row in rows if row["ruleId"] == RULE}


class TestNotice:
    def test_stands_in_policy_and_overview_a_week_before_the_end(self, as_owner, scanned):
        policy = accept(as_owner, scanned, days=7)
        (notice,) = policy["notices"]
        assert (notice["kind"], notice["rule"], notice["daysLeft"]) == ("exception_expires", RULE, 7)
        assert notice["message"].endswith("(The gateway goes away)")
        assert as_owner.get(f"/v1/api/repos/{scanned.pk}/overview").json()["notices"] == [notice]

    def test_is_not_given_earlier_and_changes_its_kind_after_the_end(self, as_owner, scanned):
        assert accept(as_owner, scanned, days=8)["notices"] == []
        (notice,) = accept(as_owner, scanned, days=-1)["notices"]
        assert (notice["kind"], notice["daysLeft"]) == ("exception_expired", 0)

    def test_may_be_sent_back_with_the_policy(self, as_owner, scanned):
        policy = accept(as_owner, scanned, days=3)
        assert as_owner.put(f"/v1/api/repos/{scanned.pk}/policy", policy).status_code == 200

    def test_goes_once_to_owner_and_admins(self, as_owner, scanned, owner, admin, member, postbox):
        accept(as_owner, scanned, days=5)
        for days in (0, 1, 2):
            review_exceptions(today=TODAY + timedelta(days=days))
        letters = [mail for mail in postbox() if "exception" in mail.subject]
        assert sorted(to for mail in letters for to in mail.to) == sorted([owner.email, admin.email])
        assert RULE in letters[0].body and "The gateway goes away" in letters[0].body

    def test_is_not_sent_for_an_exception_that_still_has_time(self, as_owner, scanned, postbox):
        accept(as_owner, scanned, days=30)
        review_exceptions(today=TODAY)
        assert not [mail for mail in postbox() if "exception" in mail.subject]


class TestTheEnd:
    def test_opens_the_finding_again_without_a_scan(self, as_owner, scanned):
        (before,) = found(as_owner, scanned)
        accept(as_owner, scanned, days=0)
        assert not found(as_owner, scanned)
        scanned.reports.update(updated_at=scanned.last_scan_at - timedelta(days=1))
        yesterdays = accept_until_yesterday(scanned)

        judge_again(scanned.pk, today=TODAY)

        assert list(found(as_owner, scanned)) == [before]
        run = as_owner.get(f"/v1/api/repos/{scanned.pk}/runs").json()["data"][0]
        assert run["filesFromCache"] == run["filesAnalyzed"] > 0
        assert yesterdays["exceptions"][0]["expires"] < TODAY.isoformat()

    def test_is_judged_once(self, as_owner, scanned):
        accept(as_owner, scanned, days=-1)
        runs = scanned.runs.count()
        judge_again(scanned.pk, today=TODAY)
        assert scanned.runs.count() == runs


def accept_until_yesterday(repository):
    """What the policy looks like a day after an exception ended: nobody changed it, the day went by."""
    body = repository.stored_policy.body
    body["exceptions"][0]["expires"] = (TODAY - timedelta(days=1)).isoformat()
    type(repository.stored_policy).objects.filter(repository=repository).update(body=body)
    return body


class TestSuppressionInAComment:
    @pytest.mark.parametrize(
        ("comment", "is_open"),
        [
            (f"  # debt: ignore[{RULE}] answers at once", False),
            (f"  # debt: ignore[{RULE}]", True),
            ("  # debt: ignore[rel-broad-except] another rule", True),
            ("  # noqa", True),
        ],
    )
    def test_needs_the_rule_and_a_reason(self, as_owner, scanned, shop, scan_here, comment, is_open):
        source = CLIENT.format(name="rates").replace(".json()\n", f".json(){comment}\n")
        shop.commit({"shop/client.py": source}, on=TODAY)
        as_owner.post(f"/v1/api/repos/{scanned.pk}/analyze")
        run = scan_here(scanned)

        assert bool(found(as_owner, scanned)) is is_open
        run.refresh_from_db()
        told = any("gives no reason" in note for note in run.notes)
        assert told is comment.endswith("]")


class TestIdentity:
    @pytest.fixture
    def again(self, as_owner, scanned, shop, scan_here):
        """Commit, scan, and give the findings before and after by id."""

        def scan_again(change):
            shop.commit({"shop/client.py": CLIENT.format(name="rates")}, on=TODAY)
            self.scan(as_owner, scanned, scan_here)
            before = found(as_owner, scanned)
            change()
            self.scan(as_owner, scanned, scan_here)
            return before, found(as_owner, scanned)

        return scan_again

    def scan(self, as_owner, scanned, scan_here):
        as_owner.post(f"/v1/api/repos/{scanned.pk}/analyze")
        scan_here(scanned)

    def test_survives_a_renamed_file(self, again, shop):
        def rename():
            shop.move("shop/client.py", "shop/rates.py")
            shop.commit({}, on=TODAY)

        before, after = again(rename)
        assert before.keys() == after.keys()
        assert [row["file"] for row in after.values()] == ["shop/rates.py"]

    def test_survives_a_renamed_function(self, again, shop):
        before, after = again(lambda: shop.commit({"shop/client.py": CLIENT.format(name="exchange")}, on=TODAY))
        assert before.keys() == after.keys()
        assert [row["function"] for row in after.values()] == ["exchange"]

    def test_survives_lines_that_move(self, again, shop):
        source = "# Rates come from abroad.\n\n" + CLIENT.format(name="rates")
        before, after = again(lambda: shop.commit({"shop/client.py": source}, on=TODAY))
        assert before.keys() == after.keys()
