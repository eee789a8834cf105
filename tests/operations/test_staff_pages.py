"""The admin as a whole: every page opens at a constant cost, shows nothing secret, asks before it acts."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Letter, PasswordReset, RateCounter, Session, User
from analysis.models import Platform, Publication, PullRequest, Repository, Run, RunKind, RunStatus
from billing.models import CancellationOrder, DepartedOrganization, Payment, Price, Repair, Subscription
from config.operations.start_page import duration
from credits.models import CreditAccount, CreditEntry, Reservation
from organizations.models import AuditEntry, Farewell, Invitation
from tests import factories
from tests.webhooks.conftest import stored
from webhooks.models import State, WebhookEvent

pytestmark = pytest.mark.django_db

SECRET = "very-secret-value"
PAGES = sorted(model._meta.label_lower.replace(".", "/") for model in admin.site._registry)


@pytest.fixture
def as_staff(db: None) -> Client:
    client = Client()
    client.force_login(factories.user("stella@example.org", name="Stella Staff", is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (Price(plan_id="pro", cycle="annual", provider="cardpay"), "pro annual at cardpay"),
        (DepartedOrganization(pk=UUID(int=1)), str(UUID(int=1))),
        (CancellationOrder(external_id="sub_1", provider="cardpay"), "end sub_1 at cardpay"),
        (CreditAccount(organization_id=UUID(int=1)), f"credits of {UUID(int=1)}"),
        (CreditEntry(operation="staff_grant", amount=5), "staff_grant +5"),
        (Reservation(credits=5, operation="ai_pr_comment", state="held"), "5 for ai_pr_comment, held"),
        (RateCounter(key="1:login"), "1:login"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_row_is_named_by_what_tells_it_apart(row: Any, words: str) -> None:
    assert str(row) == words


def test_rows_of_a_page_are_called_by_a_word_that_exists() -> None:
    assert [
        word for model in admin.site._registry if (word := str(model._meta.verbose_name_plural))[-3:] == "rys"
    ] == []


def populate(number: int) -> Run:
    """A row of everything that staff look at, with a secret wherever a table has one."""
    now, name = timezone.now(), f"{SECRET}-{number}"
    person = factories.user(password=name)
    organization = factories.organization(owner=person)
    Session.objects.create(user=person, provider="email", current_jti=name, rotated_at=now, expires_at=now)
    PasswordReset.objects.create(user=person, token_hash=name, expires_at=now)
    Letter.objects.create(kind="invitation", key=f"{number}", recipient=person.email)
    Invitation.objects.create(
        organization=organization, email="guest@example.org", role="member", expires_at=now, token_hash=name
    )
    AuditEntry.objects.create(organization=organization, actor=person, action="member.removed")
    Farewell.objects.create(kind="clones", organization_id=organization.pk, notes={})
    subscription = Subscription.objects.create(
        organization=organization,
        provider="cardpay",
        external_id=f"sub_{number}",
        plan_id="pro",
        cycle="monthly",
        status="active",
        started_at=now,
        fact_at=now,
    )
    Payment.objects.create(
        organization=organization,
        subscription=subscription,
        provider="cardpay",
        invoice_id=f"in_{number}",
        amount=29,
        currency="usd",
        plan_name="Pro",
        paid_at=now,
    )
    Repair.objects.create(subscription=subscription, field="status", before="active", after="past_due")
    CancellationOrder.objects.create(provider="cardpay", external_id=f"s{number}", reason="superseded", next_at=now)
    stored(f"evt_{number}", state=State.DEAD, finished_at=now, error="Trouble: no luck")
    WebhookEvent.objects.update(body=b'{"client_secret": "%s", "object": [{"token": "%s"}]}' % ((SECRET.encode(),) * 2))
    return run_of(organization, number)


def run_of(organization: Any, number: int) -> Run:
    """A failed run of a pull request of a new repository."""
    repository = Repository.objects.create(
        organization=organization,
        full_name=f"acme/shop-{number}",
        platform=Platform.CODEHOST1,
        clone_url="https://example.org/shop.git",
        external_id=f"9000{number}",
    )
    pull_request = PullRequest.objects.create(repository=repository, number=7, title="Sell more", base_branch="main")
    Publication.objects.create(repository=repository, pull_request=pull_request, kind="status", key=f"{number}")
    return Run.objects.create(
        organization=organization,
        repository=repository,
        pull_request=pull_request,
        kind=RunKind.PULL_REQUEST,
        status=RunStatus.FAILED,
        error="The clone is damaged",
        queued_at=timezone.now(),
    )


def cost_of(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


@pytest.mark.parametrize("page", PAGES)
def test_a_list_costs_the_same_for_more_rows(as_staff: Client, page: str) -> None:
    populate(1)
    cost_of(as_staff, f"/admin/{page}/")
    before = cost_of(as_staff, f"/admin/{page}/")
    for number in range(2, 6):
        populate(number)

    assert cost_of(as_staff, f"/admin/{page}/") == before <= 12


@pytest.mark.parametrize("page", PAGES)
def test_neither_a_list_nor_a_row_shows_a_secret(as_staff: Client, page: str) -> None:
    populate(1)
    model = next(model for model in admin.site._registry if model._meta.label_lower.replace(".", "/") == page)
    rows = [f"{row.pk}/change/" for row in model._default_manager.all()[:2]]

    for end in ("", *rows):
        response = as_staff.get(f"/admin/{page}/{end}")
        assert response.status_code == 200
        assert SECRET not in response.content.decode()


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("accounts/user", "{email}"),
        ("organizations/organization", "sub_1"),
        ("organizations/organization", "{email}"),
        ("analysis/repository", "90001"),
        ("analysis/run", "{slug}"),
        ("analysis/run", "acme/shop-1"),
        ("analysis/pullrequest", "Sell more"),
        ("analysis/publication", "acme/shop-1"),
        ("webhooks/webhookevent", "evt_1"),
    ],
)
def test_rows_are_found_by_what_staff_know(as_staff: Client, page: str, words: str) -> None:
    run = populate(1)
    wanted = words.format(email=run.organization.owner.user.email, slug=run.organization.slug)

    assert as_staff.get(f"/admin/{page}/", {"q": wanted}).context["cl"].result_count == 1
    assert as_staff.get(f"/admin/{page}/", {"q": "of-nobody"}).context["cl"].result_count == 0


def test_an_organization_leads_to_everything_that_is_its_own(as_staff: Client) -> None:
    organization = populate(1).organization
    populate(2)
    page = as_staff.get(f"/admin/organizations/organization/{organization.pk}/change/").content.decode()

    for rows in ("analysis/run", "analysis/repository", "billing/subscription", "organizations/membership"):
        link = f"/admin/{rows}/?organization__id__exact={organization.pk}"
        assert link in page
        assert as_staff.get(link).context["cl"].result_count == 1


class TestActions:
    def act(self, client: Client, page: str, action: str, *rows: Any, **form: str) -> Any:
        keys = [str(row.pk) for row in rows]
        return client.post(f"/admin/{page}/", {"action": action, "_selected_action": keys, **form}, follow=True)

    def test_staff_are_asked_first_and_nothing_happens_meanwhile(self, as_staff: Client) -> None:
        run = populate(1)

        page = self.act(as_staff, "analysis/run", "rescan", run).content.decode()

        assert "Queue a new scan of the repositories of these runs?" in page
        assert Run.objects.count() == 1
        assert not LogEntry.objects.exists()

    def test_a_confirmed_scan_is_queued_and_stands_in_both_histories(self, as_staff: Client) -> None:
        run = populate(1)

        self.act(as_staff, "analysis/run", "rescan", run, confirmed="yes")

        assert Run.objects.filter(repository=run.repository, status=RunStatus.QUEUED).count() == 1
        audit = AuditEntry.objects.get(action="repository.scanned_by_staff")
        assert (audit.actor.email, audit.subject) == ("stella@example.org", run.repository.full_name)
        assert LogEntry.objects.get().get_change_message() == "Scan the repositories again"

    def test_two_runs_of_one_repository_are_one_scan(self, as_staff: Client) -> None:
        run = populate(1)
        again = run_of(run.organization, 2)
        Run.objects.update(repository=run.repository)

        self.act(as_staff, "analysis/run", "rescan", run, again, confirmed="yes")

        assert Run.objects.filter(status=RunStatus.QUEUED).count() == 1

    @pytest.mark.parametrize(
        ("page", "action"),
        [("accounts/session", "revoke"), ("accounts/letter", "send_again"), ("analysis/repository", "rescan")],
    )
    def test_who_may_only_look_cannot_act(self, page: str, action: str) -> None:
        populate(1)
        viewer, client = factories.user(is_staff=True), Client()
        app, model = page.split("/")
        viewer.user_permissions.set(Permission.objects.filter(content_type__app_label=app, codename=f"view_{model}"))
        client.force_login(viewer)
        row = next(m for m in admin.site._registry if m._meta.label_lower == f"{app}.{model}").objects.first()

        self.act(client, page, action, row, confirmed="yes")

        assert not LogEntry.objects.exists()
        assert Session.objects.filter(revoked_at=None).exists()

    def test_the_history_of_staff_is_a_page_of_its_own(self, as_staff: Client) -> None:
        populate(1)
        self.act(as_staff, "accounts/session", "revoke", Session.objects.get(), confirmed="yes")

        page = as_staff.get("/admin/admin/logentry/").content.decode()

        assert "Revoke" in page
        assert "stella@example.org" in page


class TestStartPage:
    def test_it_tells_what_waits_and_what_failed(self, as_staff: Client) -> None:
        populate(1)
        stored("late", next_at=timezone.now() - timedelta(minutes=61))

        page = as_staff.get("/admin/").content.decode()

        for words in ("1 h 1 min", "Trouble: no luck", "The clone is damaged", "1 dead", "1 failed"):
            assert words in page

    def test_it_costs_the_same_for_more_rows(self, as_staff: Client) -> None:
        cost_of(as_staff, "/admin/")
        before = cost_of(as_staff, "/admin/")
        for number in range(4):
            populate(number)

        assert cost_of(as_staff, "/admin/") == before <= 25

    def test_staff_without_leave_see_figures_and_no_rows(self) -> None:
        populate(1)
        client = Client()
        client.force_login(factories.user(is_staff=True))

        page = client.get("/admin/").content.decode()

        assert "The clone is damaged" not in page
        assert "Trouble: no luck" not in page

    @pytest.mark.parametrize(
        ("seconds", "words"), [(0, "0 s"), (59.6, "1 min"), (125, "2 min 5 s"), (90_000, "1 d 1 h")]
    )
    def test_durations_are_read_at_a_glance(self, seconds: float, words: str) -> None:
        assert duration(seconds) == words


class TestSignIn:
    def test_who_opens_the_form_itself_comes_to_the_start_page(self) -> None:
        User.objects.create_superuser("root@example.org", factories.PASSWORD, name="Root")

        response = Client().post("/admin/login/", {"username": "root@example.org", "password": factories.PASSWORD})

        assert response["Location"] == "/admin/"

    def test_tries_are_limited_and_the_right_password_does_not_help_then(self, rate_limits: None) -> None:
        User.objects.create_superuser("root@example.org", factories.PASSWORD, name="Root")
        form, client = {"username": "root@example.org", "password": "wrong"}, Client()

        answers = [client.post("/admin/login/", form).status_code for _ in range(5)]
        refused = client.post("/admin/login/", {**form, "password": factories.PASSWORD})

        assert answers == [200] * 5
        assert refused.status_code == 429
        assert 1 <= int(refused["Retry-After"]) <= 60
        assert client.get("/admin/login/").status_code == 200
