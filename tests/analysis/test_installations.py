"""Installing the App connects repositories, taking it away disconnects them."""

from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.core.management import call_command

from analysis.models import Installation, Platform, Repository, Run, RunStatus
from analysis.services.clones import credentials
from analysis.services.runs import claim_next_run, end_run
from tests import factories
from tests.analysis.hosting import INSTALLATION_ID, deliver
from tests.webhooks import deliveries

OLIVIA_AT_THE_HOST = 5510
pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def host(settings: Any) -> None:
    settings.CODEHOST1_WEBHOOK_SECRET = deliveries.CODEHOST1_SECRET
    settings.CODEHOST1_URL = "https://codehost.example"


@pytest.fixture
def olivia(owner: Any, organization: Any) -> Any:
    """The owner, known by her account at the host since she signed in with it."""
    SocialAccount.objects.create(user=owner, provider="codehost1", uid=str(OLIVIA_AT_THE_HOST))
    return owner


def named(*names: str) -> list[dict[str, Any]]:
    return [{"id": 100 + len(name), "full_name": name, "private": True} for name in names]


def tell(event: str, action: str, *, by: int = OLIVIA_AT_THE_HOST, account: str = "acme", **changes: Any) -> None:
    payload = {
        "action": action,
        "installation": {"id": INSTALLATION_ID, "account": {"login": account}},
        "sender": {"id": by},
        **changes,
    }
    deliver(event, payload)


def install(*names: str, **how: Any) -> None:
    tell("installation", "created", repositories=named(*names), **how)


def connected() -> list[str]:
    return sorted(Repository.objects.values_list("full_name", flat=True))


class TestConnecting:
    def test_the_installers_organization_gets_the_repositories_and_their_first_scans(
        self, olivia: Any, organization: Any
    ) -> None:
        install("acme/shop", "acme/website")

        assert connected() == ["acme/shop", "acme/website"]
        repository = Repository.objects.get(full_name="acme/shop")
        assert (repository.organization, repository.clone_url) == (
            organization,
            "https://codehost.example/acme/shop.git",
        )
        assert Run.objects.filter(status=RunStatus.QUEUED).count() == 2

    def test_the_plan_limits_how_many(self, olivia: Any, organization: Any) -> None:
        organization.plan_id = "free"
        organization.save()

        install("acme/a", "acme/bb", "acme/ccc")

        assert connected() == ["acme/a", "acme/bb"]

    def test_what_is_there_already_goes_by_the_installation(self, olivia: Any, organization: Any) -> None:
        by_hand = Repository.objects.create(
            organization=organization, platform=Platform.CODEHOST1, full_name="Acme/Shop", clone_url="https://x/y.git"
        )

        install("acme/shop")

        by_hand.refresh_from_db()
        assert connected() == ["Acme/Shop"]
        assert (by_hand.installation_id, by_hand.came_by_installation) == (str(INSTALLATION_ID), False)

    def test_nothing_is_connected_for_an_installer_whom_nobody_knows(self, organization: Any) -> None:
        install("acme/shop", by=1)

        assert connected() == []
        assert Installation.objects.get().organization is None

    def test_staff_can_say_whose_such_an_installation_is(self, organization: Any) -> None:
        install("acme/shop", "acme/website", by=1)
        tell("installation_repositories", "removed", by=1, repositories_removed=named("acme/shop"))

        call_command("link_installation", str(INSTALLATION_ID), organization.slug, stdout=StringIO())

        assert connected() == ["acme/website"]
        assert Repository.objects.get().organization == organization

    def test_a_member_speaks_for_no_organization(self, member: Any, organization: Any) -> None:
        SocialAccount.objects.create(user=member, provider="codehost1", uid="77")

        install("acme/shop", by=77)

        assert connected() == []

    def test_among_several_organizations_the_one_named_like_the_account_is_meant(
        self, olivia: Any, organization: Any
    ) -> None:
        acme = factories.organization(owner=olivia, name="Acme")

        install("acme/shop", account="ACME")

        assert Repository.objects.get().organization == acme

    def test_repositories_are_added_and_removed_later(self, olivia: Any) -> None:
        install("acme/shop")

        tell("installation_repositories", "added", repositories_added=named("acme/website"), repositories_removed=[])
        assert connected() == ["acme/shop", "acme/website"]

        tell("installation_repositories", "removed", repositories_added=[], repositories_removed=named("acme/shop"))
        assert connected() == ["acme/website"]


class TestTakingAway:
    def test_a_deleted_installation_takes_what_it_brought_and_leaves_what_was_there(
        self, olivia: Any, organization: Any
    ) -> None:
        by_hand = Repository.objects.create(
            organization=organization, platform=Platform.CODEHOST1, full_name="acme/shop", clone_url="https://x/y.git"
        )
        install("acme/shop", "acme/website")

        tell("installation", "deleted", repositories=named("acme/shop", "acme/website"))

        by_hand.refresh_from_db()
        assert (connected(), by_hand.installation_id) == (["acme/shop"], "")

    def test_deleted_is_final(self, olivia: Any) -> None:
        tell("installation", "deleted", repositories=[])

        install("acme/shop")

        assert connected() == []

    def test_a_suspended_installation_keeps_the_results_and_scans_when_it_is_resumed(self, olivia: Any) -> None:
        install("acme/shop")
        end_run(claim_next_run(now=datetime.now(UTC)), RunStatus.SUCCEEDED)

        tell("installation", "suspend")
        assert connected() == ["acme/shop"]
        assert not Run.objects.filter(status=RunStatus.QUEUED).exists()

        tell("installation", "unsuspend")
        assert Run.objects.filter(status=RunStatus.QUEUED).count() == 1

    def test_a_repository_that_is_deleted_at_the_host_goes(self, olivia: Any) -> None:
        install("acme/shop")
        (shop,) = named("acme/shop")

        deliver("repository", {"action": "deleted", "repository": shop, "installation": {"id": INSTALLATION_ID}})

        assert connected() == []


class TestCredentials:
    def test_those_of_an_installation_are_lent_to_its_own_organization_only(
        self, olivia: Any, stranger: Any, settings: Any
    ) -> None:
        settings.CODEHOST1_API_URL = "http://127.0.0.1:1"
        settings.CODEHOST1_APP_ID, settings.CODEHOST1_PRIVATE_KEY = "1", "a key that must not be asked for"
        install("acme/shop")
        thief = Repository.objects.create(
            organization=factories.organization(owner=stranger),
            platform=Platform.CODEHOST1,
            full_name="acme/public",
            clone_url="https://codehost.example/acme/shop.git",
            installation_id=str(INSTALLATION_ID),
        )

        assert credentials(thief) is None
