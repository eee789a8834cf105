"""What the four receivers answer, and what they store."""

import re

import pytest
from django.test import Client
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from tests.webhooks import deliveries
from tests.webhooks.deliveries import URLS, Signed
from webhooks import inbox
from webhooks.models import State, WebhookEvent

pytestmark = pytest.mark.django_db

ERROR_KEYS = {"statusCode", "message", "error"}


@pytest.fixture(params=["cardpay", "walletpay", "codehost1", "codehost2"])
def source(request, wallet) -> str:
    return request.param


def delivery(source: str, body: bytes) -> Signed:
    return {
        "cardpay": deliveries.cardpay_bytes,
        "walletpay": deliveries.walletpay,
        "codehost1": lambda body: deliveries.codehost1("watch", body, delivery="d-1"),
        "codehost2": lambda body: deliveries.codehost2("Wiki Page Hook", body, uuid="u-1"),
    }[source](body)


EVENT = b'{"id":"evt-1","type":"unknown.kind","event_type":"UNKNOWN.KIND","genuine":true}'


class TestEveryReceiver:
    def test_an_event_of_an_unknown_type_is_stored_and_done(self, source):
        response = delivery(source, EVENT).send()

        assert (response.status_code, response.json()) == (200, {"received": True, "duplicate": False})
        inbox.drain()
        event = WebhookEvent.objects.get()
        assert (event.source, event.state, event.handled, bytes(event.body)) == (source, State.DONE, False, EVENT)

    def test_a_second_delivery_is_a_duplicate_and_stored_once(self, source):
        delivery(source, EVENT).send()

        response = delivery(source, EVENT).send()

        assert (response.status_code, response.json()) == (200, {"received": True, "duplicate": True})
        assert WebhookEvent.objects.count() == 1

    def test_without_a_signature_nothing_is_stored(self, source):
        response = Signed(source, {}, EVENT).send()

        assert response.status_code == 401
        assert response.json() == {"statusCode": 401, "message": "Unauthorized", "error": "Unauthorized"}
        assert not WebhookEvent.objects.exists()

    @pytest.mark.parametrize(
        "body", [b"", b"{", b"\xff\xfe", b'"text"', b"[]", b"NaN", b'{"a": "\\ud800"}', b"[" * 5000]
    )
    def test_a_body_that_is_no_json_object_is_refused(self, source, wallet, body):
        response = delivery(source, body).send()

        # The wallet provider's word is needed for a text or a list, and it does not call these genuine.
        assert response.status_code in ({400, 401} if source == "walletpay" else {400})
        assert set(response.json()) == ERROR_KEYS
        assert not WebhookEvent.objects.exists()

    def test_a_body_over_the_limit_is_refused(self, source):
        mebibytes = {"cardpay": 1, "walletpay": 1, "codehost1": 25, "codehost2": 25}[source]

        response = delivery(source, b" " * (mebibytes * 2**20 + 1)).send()

        assert (response.status_code, set(response.json())) == (413, ERROR_KEYS)
        assert response.json()["message"] == f"The body is larger than {mebibytes} MiB"

    def test_a_body_at_the_limit_is_taken(self, source):
        mebibytes = {"cardpay": 1, "walletpay": 1, "codehost1": 25, "codehost2": 25}[source]

        response = delivery(source, EVENT.ljust(mebibytes * 2**20)).send()

        assert response.status_code == 200

    def test_only_post_is_taken(self, source):
        assert Client().get(URLS[source]).status_code == 405

    def test_the_accept_header_of_a_provider_does_not_matter(self, source):
        signed = delivery(source, EVENT)
        odd = Signed(source, {**signed.headers, "Accept": "text/html; q=0.5, application/xml"}, EVENT)

        assert odd.send().status_code == 200

    def test_the_providers_own_header_names_are_taken_too(self, source, settings):
        signed = delivery(source, EVENT)
        theirs = {settings.WEBHOOK_HEADERS[name][0]: value for name, value in signed.headers.items()}

        assert not set(theirs) & set(signed.headers)
        assert Signed(source, theirs, EVENT).send().status_code == 200

    def test_a_source_that_is_not_set_up_refuses_everything(self, source, settings):
        settings.CARDPAY_WEBHOOK_SECRETS = []
        settings.CODEHOST1_WEBHOOK_SECRET = settings.CODEHOST2_WEBHOOK_TOKEN = settings.WALLETPAY_WEBHOOK_ID = ""
        empty = {name: re.sub(r"(?<=sha256=).*", "", value) for name, value in delivery(source, EVENT).headers.items()}

        assert delivery(source, EVENT).send().status_code == 401
        assert Signed(source, {**empty, "codehost2-token": ""}, EVENT).send().status_code == 401

    def test_names_that_no_column_can_hold_are_cut_to_fit(self, source):
        long = b'"' + b"x" * 5000 + b'\\u0000"'
        body = b'{"id":%s,"type":%s,"event_type":%s,"genuine":true}' % (long, long, long)

        assert delivery(source, body).send().status_code == 200
        inbox.drain()
        assert WebhookEvent.objects.get().state == State.DONE


class TestFiling:
    def test_an_event_without_an_id_goes_by_the_digest_of_its_body(self, wallet):
        first = deliveries.cardpay_bytes(b'{"type":"checkout.session.completed"}')

        answers = [first.send().json()["duplicate"], first.send().json()["duplicate"]]

        assert answers == [False, True]
        assert WebhookEvent.objects.get().event_id.startswith("sha256:")

    @pytest.mark.parametrize("body", [b'{"id":"evt_1"}', b'{"id":"evt_1","type":7.5}', b'{"id":"evt_1","type":""}'])
    def test_an_event_without_a_type_is_no_event(self, body):
        response = deliveries.cardpay_bytes(body).send()

        assert (response.status_code, response.json()["message"]) == (400, "The body is not an event of this provider")

    @pytest.mark.parametrize(
        ("kind", "thing", "subject"),
        [
            ("customer.subscription.updated", {"id": "sub_1"}, "sub_1"),
            ("checkout.session.completed", {"id": "cs_1", "subscription": "sub_1"}, "sub_1"),
            ("invoice.payment_failed", {"id": "in_1", "subscription": "sub_1", "customer": "cus_1"}, "sub_1"),
            ("invoice.payment_failed", {"subscription": {"id": "sub_1"}}, "sub_1"),
            ("invoice.payment_failed", {"parent": {"subscription_details": {"subscription": "sub_1"}}}, "sub_1"),
            ("invoice.payment_failed", {"id": "in_1", "customer": "cus_1"}, "cus_1"),
            ("price.created", {"id": "price_1"}, "evt_1"),
            ("price.created", {"id": "price_1", "parent": []}, "evt_1"),
        ],
    )
    def test_cardpay_events_are_filed_under_their_subscription(self, kind, thing, subject):
        deliveries.cardpay(kind, event_id="evt_1", thing=thing, created=1_790_000_000).send()

        event = WebhookEvent.objects.get()
        assert (event.type, event.subject, int(event.occurred_at.timestamp())) == (kind, subject, 1_790_000_000)
        assert event.account == subject

    @pytest.mark.parametrize("created", ["soon", "2026-13-45", 1e300, -1e300, True, [1_790_000_000]])
    def test_an_event_of_no_time_that_is_any_happened_as_it_came(self, created):
        before = timezone.now()

        response = deliveries.cardpay("price.created", event_id="evt_1", created=created).send()

        assert response.status_code == 200
        assert before <= WebhookEvent.objects.get().occurred_at <= timezone.now()

    @pytest.mark.parametrize(
        ("resource", "subject"),
        [({"id": "I-1"}, "I-1"), ({"id": "SALE-1", "billing_agreement_id": "I-1"}, "I-1"), ([], "WH-1")],
    )
    def test_walletpay_events_are_filed_under_their_subscription(self, wallet, resource, subject):
        payload = {
            "id": "WH-1",
            "event_type": "PAYMENT.SALE.COMPLETED",
            "create_time": "2026-11-20T10:00:00.5Z",
            "resource": resource,
            "genuine": True,
        }
        deliveries.walletpay(payload).send()

        event = WebhookEvent.objects.get()
        assert (event.subject, event.occurred_at.isoformat()) == (subject, "2026-11-20T10:00:00.500000+00:00")

    @pytest.mark.parametrize(
        ("event", "payload", "kind", "subject"),
        [
            (
                "pull_request",
                {"action": "opened", "pull_request": {"number": 7}, "repository": {"id": 4}},
                "pull_request.opened",
                "repository 4 pull request 7",
            ),
            ("push", {"ref": "refs/heads/main", "repository": {"id": 4}}, "push", "repository 4 ref refs/heads/main"),
            (
                "installation",
                {"action": "created", "installation": {"id": 5}},
                "installation.created",
                "installation 5",
            ),
            ("ping", {"zen": "Keep it simple"}, "ping", "d-1"),
        ],
    )
    def test_codehost1_events_are_filed_under_what_they_are_about(self, event, payload, kind, subject):
        deliveries.codehost1(event, payload, delivery="d-1").send()

        row = WebhookEvent.objects.get()
        assert (row.type, row.subject, row.event_id) == (kind, subject, "d-1")

    @pytest.mark.parametrize(
        ("event", "payload", "kind", "subject"),
        [
            (
                "Merge Request Hook",
                {
                    "object_kind": "merge_request",
                    "project": {"id": 4},
                    "object_attributes": {"iid": 7, "action": "open"},
                },
                "Merge Request Hook.open",
                "project 4 merge request 7",
            ),
            ("Push Hook", {"project_id": 4, "ref": "refs/heads/main"}, "Push Hook", "project 4 ref refs/heads/main"),
            ("Job Hook", {"object_kind": "build"}, "Job Hook", "u-1"),
        ],
    )
    def test_codehost2_events_are_filed_under_what_they_are_about(self, event, payload, kind, subject):
        deliveries.codehost2(event, payload, uuid="u-1").send()

        row = WebhookEvent.objects.get()
        assert (row.type, row.subject, row.event_id) == (kind, subject, "u-1")

    @pytest.mark.parametrize(
        ("signed", "account"),
        [
            (deliveries.codehost1("push", {"repository": {"full_name": "Acme/shop"}}), "acme"),
            (deliveries.codehost1("installation", {"installation": {"account": {"login": "Acme"}}}), "acme"),
            (deliveries.codehost1("ping", {}), ""),
            (deliveries.codehost2("Push Hook", {"project": {"path_with_namespace": "Acme/group/shop"}}), "acme"),
            (deliveries.codehost2("Job Hook", {"project": "shop"}), ""),
        ],
        ids=["repository", "installation", "neither", "project", "a strange project"],
    )
    def test_events_of_code_hosts_belong_to_the_owner_of_the_repository(self, signed, account):
        signed.send()

        assert WebhookEvent.objects.get().account == account


class TestDescription:
    def test_the_receivers_are_described_with_their_answers_and_without_a_token(self):
        document = SchemaGenerator().get_schema(request=None, public=True)

        for source, url in URLS.items():
            operation = document["paths"][url.removeprefix("/v1")]["post"]
            expected = {"200", "400", "401", "413"} | ({"503"} if source == "walletpay" else set())
            assert expected <= set(operation["responses"]), source
            assert not any(operation.get("security", []))
            assert operation["requestBody"]
