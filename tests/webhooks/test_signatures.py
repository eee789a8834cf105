"""Only what the provider really signed gets in."""

import random
import time
from collections.abc import Callable

import pytest
import stripe
from django.test import Client

from tests.webhooks import deliveries
from tests.webhooks.deliveries import CARDPAY_SECRET, Signed
from webhooks.models import WebhookEvent

pytestmark = pytest.mark.django_db

BODY = b'{"id":"evt_1","type":"customer.created","data":{"object":{"id":"cus_1"}}}'


def official(body: bytes = BODY, *, secret: str = CARDPAY_SECRET, at: float | None = None) -> Signed:
    """A delivery signed by the provider's own library."""
    header = stripe.WebhookSignature.generate_signature_header(body.decode(), secret, int(at or time.time()))
    return Signed("cardpay", {"cardpay-signature": header}, body)


class TestCardpay:
    @pytest.mark.parametrize("body", [BODY, '{"id":"evt_2","type":"a","name":"Zoë 東京"}'.encode(), BODY + b"\r\n "])
    def test_what_the_official_library_signs_is_taken(self, body):
        signed = official(body)

        assert signed.send().status_code == 200
        stripe.Webhook.construct_event(signed.body, signed.headers["cardpay-signature"], CARDPAY_SECRET)

    @pytest.mark.parametrize("secret", [CARDPAY_SECRET, "whsec_second"])
    def test_each_of_several_secrets_is_good(self, secret):
        assert official(secret=secret).send().status_code == 200

    def test_one_good_signature_among_several_is_enough(self):
        moment, signature = official().headers["cardpay-signature"].split(",")
        header = f"{moment},v1={'0' * 64},v0=abc,{signature},v1=short"

        assert Signed("cardpay", {"cardpay-signature": header}, BODY).send().status_code == 200

    @pytest.mark.parametrize(("age", "status"), [(295, 200), (305, 401), (-295, 200), (-305, 401), (10**6, 401)])
    def test_the_tolerance_holds_in_both_directions(self, age, status):
        assert official(at=time.time() - age).send().status_code == status

    def test_the_tolerance_can_be_set(self, settings):
        settings.CARDPAY_WEBHOOK_TOLERANCE_SECONDS = 1000

        assert official(at=time.time() - 900).send().status_code == 200

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda t, v1: f"{v1}",
            lambda t, v1: f"{t}",
            lambda t, v1: f"{t},{t},{v1}",
            lambda t, v1: f"{t},{v1.replace('v1', 'v0')}",
            lambda t, v1: f"{t},{v1.upper().replace('V1', 'v1')}",
            lambda t, v1: f"{t}, {v1}",
            lambda t, v1: f"{t.replace('=', '=+')},{v1}",
            lambda t, v1: f"{t.replace('=', '=0')},{v1}",
            lambda t, v1: f"t=,{v1}",
            lambda t, v1: f"t={'9' * 400},{v1}",
            lambda t, v1: f"t=\u0661\u0662,{v1}",
            lambda t, v1: f"{t},v1=",
            lambda t, v1: f"{t},{v1[:-1]}",
            lambda t, v1: f"{t},{v1}\u00e9",
            lambda t, v1: f"{t};{v1}",
            lambda t, v1: "garbage",
        ],
    )
    def test_a_spoilt_header_is_refused(self, spoil: Callable[[str, str], str]):
        header = spoil(*official().headers["cardpay-signature"].split(","))

        assert Signed("cardpay", {"cardpay-signature": header}, BODY).send().status_code == 401

    def test_a_foreign_secret_is_refused(self):
        assert official(secret="whsec_foreign").send().status_code == 401


class TestFuzz:
    def test_no_mutation_of_a_delivery_gets_in(self, dice, figure):
        client = Client(raise_request_exception=False)
        for number in range(figure(c=2_000, s=100_000, of="deliveries")):
            good = dice.choice(GOOD)(BODY)
            bad = mutated(good, dice)
            answer = bad.send(client)
            assert answer.status_code == 401, f"delivery {number} was answered {answer.status_code}: {bad}"
        assert not WebhookEvent.objects.exists()

    def test_the_unmutated_deliveries_do_get_in(self):
        assert [make(BODY).send().status_code for make in GOOD] == [200, 200, 200]


GOOD: list[Callable[[bytes], Signed]] = [
    official,
    lambda body: deliveries.codehost1("pull_request", body),
    lambda body: deliveries.codehost2("Push Hook", body),
]
PROOF = {"cardpay": "cardpay-signature", "codehost1": "codehost1-signature-256", "codehost2": "codehost2-token"}


def mutated(good: Signed, dice: random.Random) -> Signed:
    """The delivery with one thing changed that matters (a token does not cover the body, so there only the token)."""
    name = PROOF[good.source]
    if good.source != "codehost2" and dice.random() < 0.4:
        return Signed(good.source, good.headers, _mutated_bytes(good.body, dice))
    if good.source == "cardpay" and dice.random() < 0.3:
        return _moved_in_time(good, dice)
    proof = good.headers[name]
    while proof == good.headers[name]:
        proof = _mutated_header(good.headers[name], dice)
    return Signed(good.source, {**good.headers, name: proof}, good.body)


def _mutated_bytes(body: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(body))
    return dice.choice(
        [
            body[:place] + bytes([body[place] ^ (1 << dice.randrange(8))]) + body[place + 1 :],
            body[:place] + dice.randbytes(dice.randint(1, 9)) + body[place:],
            body[:place] + body[place + 1 :],
            body[:place],
            b"\xef\xbb\xbf" + body,
            body.decode().encode("utf-16"),
            body + b" ",
            body.replace(b":", b": "),
        ]
    )


def _moved_in_time(good: Signed, dice: random.Random) -> Signed:
    moment, signature = good.headers["cardpay-signature"].split(",")
    seconds = int(moment.removeprefix("t=")) + dice.choice([-1, 1]) * dice.randint(1, 10**6)
    if dice.random() < 0.5:
        return Signed(good.source, {"cardpay-signature": f"t={seconds},{signature}"}, good.body)
    return official(good.body, at=time.time() + dice.choice([-1, 1]) * dice.randint(310, 10**6))


def _mutated_header(proof: str, dice: random.Random) -> str:
    # No commas: a further `,v1=...` or `,v0=...` is what the provider may send itself.
    place = dice.randrange(len(proof))
    letter = chr(dice.choice([*range(33, 43), *range(45, 127), *range(161, 255)]))
    return dice.choice(
        [
            proof[:place] + letter + proof[place + 1 :],
            proof[:place] + proof[place + 1 :],
            proof[:place] + letter + proof[place:],
            proof[:place],
            proof[::-1],
            proof.upper(),
            "",
        ]
    )
