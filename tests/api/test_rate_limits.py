"""The table of rate limits, row by row."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import caches
from django.db import connection

from config.api import rates
from config.api.errors import too_many_requests
from tests import factories

pytestmark = pytest.mark.usefixtures("rate_limits")

ROWS = [
    ("post", "/v1/auth/signup", 3),
    ("post", "/v1/auth/login", 5),
    ("post", "/v1/auth/refresh", 10),
    ("post", "/v1/auth/logout", 20),
    ("post", "/v1/auth/forgot-password", 3),
    ("post", "/v1/auth/reset-password", 5),
    ("get", "/v1/auth/me", 60),
]


@pytest.fixture(autouse=True)
def _one_window(frozen_window):
    """No test straddles the end of a minute."""


@pytest.mark.django_db
class TestTable:
    @pytest.mark.parametrize(("method", "path", "limit"), ROWS)
    def test_each_operation_has_its_own_limit_for_an_anonymous_caller(self, anonymous, method, path, limit):
        answers = [getattr(anonymous, method)(path) for _ in range(limit + 1)]

        assert [answer.status_code for answer in answers].count(429) == 1
        assert answers[-1].status_code == 429
        assert answers[0]["RateLimit-Limit"] == str(limit)
        assert answers[0]["RateLimit-Remaining"] == str(limit - 1)
        assert answers[-1]["RateLimit-Remaining"] == "0"

    def test_a_refusal_says_when_to_come_back(self, anonymous):
        for _ in range(3):
            anonymous.post("/v1/auth/signup", {})

        response = anonymous.post("/v1/auth/signup", {})

        assert response.json()["statusCode"] == 429
        assert response.json()["error"] == "Too Many Requests"
        assert 1 <= int(response["Retry-After"]) <= 60
        assert response["Retry-After"] == response["RateLimit-Reset"]
        assert response.json()["message"] == too_many_requests(int(response["Retry-After"]))

    def test_all_other_operations_share_a_hundred(self, anonymous):
        answers = [anonymous.get(f"/v1/auth/{('idp2', 'codehost1')[number % 2]}") for number in range(101)]

        assert answers[0]["RateLimit-Limit"] == "100"
        assert [answer.status_code for answer in answers[-2:]] == [503, 429]

    def test_limits_can_be_turned_off(self, anonymous, settings):
        settings.RATELIMIT_ENABLE = False

        answers = {anonymous.post("/v1/auth/signup", {}).status_code for _ in range(5)}

        assert answers == {400}

    @pytest.mark.parametrize("path", ["badge/acme/shop", "webhooks/codehost1", "billing/webhook/cardpay"])
    def test_badge_and_webhooks_are_not_limited(self, path):
        assert not rates.is_limited(path)


@pytest.mark.django_db
class TestKeys:
    def test_a_made_up_credential_buys_no_new_window(self, anonymous):
        answers = [
            anonymous.get("/v1/auth/me", HTTP_AUTHORIZATION=f"Bearer made-up-{number}").status_code
            for number in range(61)
        ]

        assert Counter(answers) == {401: 60, 429: 1}

    def test_two_sessions_behind_one_address_do_not_disturb_each_other(self, as_owner, as_member):
        for _ in range(60):
            as_owner.get("/v1/auth/me")

        assert as_owner.get("/v1/auth/me").status_code == 429
        assert as_member.get("/v1/auth/me").status_code == 200

    def test_forwarding_headers_of_strangers_count_for_nothing(self, anonymous):
        answers = [
            anonymous.post("/v1/auth/signup", {}, HTTP_X_FORWARDED_FOR=f"203.0.113.{number}").status_code
            for number in range(4)
        ]

        assert answers[-1] == 429

    def test_behind_a_proxy_each_client_has_its_own_window(self, anonymous, settings):
        settings.TRUSTED_PROXY_COUNT = 1

        answers = [
            anonymous.post("/v1/auth/signup", {}, HTTP_X_FORWARDED_FOR=f"198.51.100.7, 203.0.113.{number}").status_code
            for number in range(4)
        ]

        assert answers == [400] * 4

    def test_what_a_client_writes_left_of_the_proxys_entry_counts_for_nothing(self, anonymous, settings):
        settings.TRUSTED_PROXY_COUNT = 1

        answers = [
            anonymous.post("/v1/auth/signup", {}, HTTP_X_FORWARDED_FOR=f"198.51.100.{number}, 203.0.113.9").status_code
            for number in range(4)
        ]

        assert answers[-1] == 429


class TestClientAddress:
    @pytest.mark.parametrize(
        ("proxies", "forwarded", "expected"),
        [
            (0, "203.0.113.9", "192.0.2.1"),
            (1, "", "192.0.2.1"),
            (1, "203.0.113.9", "203.0.113.9"),
            (1, "1.1.1.1, 203.0.113.9", "203.0.113.9"),
            (2, "1.1.1.1, 203.0.113.9, 10.0.0.1", "203.0.113.9"),
            (2, "203.0.113.9", "192.0.2.1"),
            (1, "203.0.113.9:5123", "203.0.113.9"),
            (1, "[2001:db8::1]:443", "2001:db8::1"),
            (1, "[2001:db8::1]", "2001:db8::1"),
            (1, "2001:db8::1", "2001:db8::1"),
            (1, "::ffff:203.0.113.9", "203.0.113.9"),
            (1, "'; DROP TABLE", "192.0.2.1"),
        ],
    )
    def test_the_address_comes_from_the_last_proxy_we_trust(self, rf, settings, proxies, forwarded, expected):
        settings.TRUSTED_PROXY_COUNT = proxies

        request = rf.get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)

        assert rates.client_address(request) == expected

    def test_a_unix_socket_has_no_address(self, rf):
        assert rates.client_address(rf.get("/", REMOTE_ADDR="")) == ""

    def test_one_network_of_ipv6_is_one_caller(self, rf, settings):
        first, second = (
            rates.caller_of(_request(rf, REMOTE_ADDR=address)) for address in ("2001:db8::1", "2001:db8::ffff")
        )

        assert first == second == "2001:db8::/64"


@pytest.mark.crowd
@pytest.mark.django_db(transaction=True)
class TestConcurrency:
    def test_exactly_the_limit_passes_when_64_call_at_once(self, figure):
        for round_ in range(figure(c=4, s=20, of="rounds of 64")):
            assert _logins_at_once(f"192.0.2.{round_}") == {400: 5, 429: 59}

    def test_exactly_the_limit_passes_with_redis_gone(self, redis_gone, figure):
        for round_ in range(figure(c=4, s=20, of="rounds of 64")):
            assert _logins_at_once(f"192.0.2.{round_}") == {400: 5, 429: 59}

    def test_counters_of_ended_windows_are_cleared(self, redis_gone):
        counters = caches["counters"]
        counters.incr("old")
        counters.sql.execute("UPDATE accounts_ratecounter SET expires_at = %s", ["2020-01-01 00:00:00+00:00"])
        counters.incr("new")

        counters.clear_expired()

        assert (counters.incr("old"), counters.incr("new")) == (1, 2)


def _request(rf, **meta):
    from rest_framework.request import Request

    return Request(rf.get("/", **meta))


def _logins_at_once(address):
    """64 from one client, each with a forwarding header that it made up."""
    barrier = threading.Barrier(64)

    def call(number):
        barrier.wait()
        try:
            made_up = {"HTTP_X_FORWARDED_FOR": f"198.51.100.{number}", "REMOTE_ADDR": address}
            return factories.client().post("/v1/auth/login", {}, **made_up).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(64) as threads:
        return Counter(threads.map(call, range(64)))
