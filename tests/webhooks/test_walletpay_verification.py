"""The wallet provider is asked with the very bytes, within three seconds, and a silent one harms nobody."""

import time
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest

from tests.webhooks import deliveries
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db

# Spaces, an escaped letter and a number that a parser would write differently.
BYTES = b'{ "id" : "WH-1",\n "event_type":"X.Y", "n": 1.10e2, "s": "\\u0041\\/", "genuine":true }'


def test_the_question_carries_the_events_bytes_unchanged(wallet):
    assert deliveries.walletpay(BYTES).send().status_code == 200

    (question,) = wallet.questions
    assert BYTES in question
    asked = orjson.loads(question)
    assert asked.pop("webhook_event") == orjson.loads(BYTES)
    assert asked == {
        "auth_algo": "SHA256withRSA",
        "cert_url": "https://wallet.example/cert.pem",
        "transmission_id": "69cd13f0-d67a-11e5-baa3-778b53f4ae55",
        "transmission_sig": "c2lnbmF0dXJl",
        "transmission_time": "2026-11-20T20:01:35Z",
        "webhook_id": "1JE4291016473214C",
    }


def test_what_the_provider_does_not_know_is_refused(wallet):
    response = deliveries.walletpay(BYTES.replace(b'"genuine":true', b'"genuine": 1')).send()

    assert response.status_code == 401
    assert not WebhookEvent.objects.exists()


@pytest.mark.parametrize(
    "missing", ["transmission-id", "transmission-time", "transmission-sig", "cert-url", "auth-algo"]
)
def test_without_all_headers_the_provider_is_not_asked(wallet, missing):
    signed = deliveries.walletpay(BYTES)
    del signed.headers[f"walletpay-{missing}"]

    assert signed.send().status_code == 401
    assert not wallet.questions


@pytest.mark.parametrize("mood", ["hangs", "trickles", "resets", "garbles", "floods", "fails", "redirects", "shrugs"])
def test_a_provider_that_gives_no_answer_means_try_again(wallet, mood):
    wallet.mood = mood
    started = time.monotonic()

    response = deliveries.walletpay(BYTES).send()

    assert response.status_code == 503
    assert response.json()["message"] == "The event could not be verified now; send it again later"
    assert time.monotonic() - started < 4
    assert not WebhookEvent.objects.exists()
    wallet.mood = "well"
    assert deliveries.walletpay(BYTES).send().json() == {"received": True, "duplicate": False}


def test_while_a_provider_hangs_one_delivery_waits_for_it_and_the_others_are_refused_at_once(wallet):
    wallet.mood = "hangs"
    deliveries.walletpay(BYTES).send()

    def seconds_until_refused(_: int) -> float:
        started = time.monotonic()
        assert deliveries.walletpay(BYTES).send().status_code == 503
        return time.monotonic() - started

    with ThreadPoolExecutor(6) as senders:
        *quick, slow = sorted(senders.map(seconds_until_refused, range(6)))

    assert max(quick) < 2 < slow
    wallet.mood = "well"
    assert deliveries.walletpay(BYTES).send().status_code == 200


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "http://[", "nonsense"])
def test_a_provider_that_is_not_there_means_try_again(wallet, settings, url):
    settings.WALLETPAY_API_URL = url

    assert deliveries.walletpay(BYTES).send().status_code == 503


def test_an_answer_without_a_token_means_try_again(wallet):
    wallet.mood = "keeps tokens"

    assert deliveries.walletpay(BYTES).send().status_code == 503
    assert not wallet.questions


def test_a_token_is_used_until_it_is_refused(wallet):
    for number in range(3):
        deliveries.walletpay(BYTES.replace(b"WH-1", b"WH-%d" % number)).send()
    assert wallet.tokens_given == 1

    wallet.forget_tokens()

    assert deliveries.walletpay(BYTES).send().status_code == 200
    assert wallet.tokens_given == 2
