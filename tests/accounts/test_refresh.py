"""POST /v1/auth/refresh"""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import time_machine
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from accounts import services
from accounts.models import Session, SignInProvider
from tests import factories

URL = "/v1/auth/refresh"


@pytest.fixture
def pair(owner):
    return services.open_session(user=owner, provider=SignInProvider.EMAIL)


def refresh(token):
    return factories.client().post(URL, {"refreshToken": token})


def lives(access):
    return factories.client(access).get("/v1/auth/me").status_code == 200


@pytest.mark.django_db
class TestHalfway:
    """What breaks halfway leaves nothing of itself."""

    def breaks(self):
        raise InterruptedError

    def test_a_sign_in(self, owner, just_before):
        with pytest.raises(InterruptedError), just_before('UPDATE "accounts_user"', self.breaks):
            services.open_session(user=owner, provider=SignInProvider.EMAIL)

        assert not Session.objects.exists()

    def test_closing_an_account(self, owner, pair, just_before):
        with pytest.raises(InterruptedError), just_before('UPDATE "accounts_session"', self.breaks):
            services.disable(user=owner)

        assert lives(pair.access)


@pytest.mark.django_db
class TestRefresh:
    def test_yields_a_new_pair_that_works(self, pair):
        response = refresh(pair.refresh)

        assert response.status_code == 200
        body = response.json()
        assert set(body) == {"accessToken", "refreshToken"}
        assert body["refreshToken"] != pair.refresh
        assert lives(body["accessToken"])
        assert refresh(body["refreshToken"]).status_code == 200
        assert response["Cache-Control"] == "no-store"

    def test_a_session_lasts_seven_days(self, owner):
        with time_machine.travel(timezone.now(), tick=False):
            services.open_session(user=owner, provider=SignInProvider.EMAIL)

            assert Session.objects.get().expires_at == timezone.now() + timedelta(days=7)

    def test_the_session_lasts_seven_days_more(self, pair):
        with time_machine.travel(timezone.now() + timedelta(days=6), tick=False):
            refresh(pair.refresh)

            assert Session.objects.get().expires_at == timezone.now() + timedelta(days=7)

    def test_a_used_token_revokes_the_whole_session(self, pair):
        fresh = refresh(pair.refresh).json()

        assert refresh(pair.refresh).status_code == 401
        assert not lives(fresh["accessToken"])
        assert not lives(pair.access)
        assert refresh(fresh["refreshToken"]).status_code == 401

    def test_other_sessions_of_the_account_live_on(self, pair, as_owner):
        refresh(pair.refresh)
        refresh(pair.refresh)

        assert as_owner.get("/v1/auth/me").status_code == 200

    def test_staff_can_soften_that_for_some_seconds(self, pair, settings):
        settings.REFRESH_REUSE_GRACE = timedelta(seconds=30)
        fresh = refresh(pair.refresh).json()

        assert refresh(pair.refresh).status_code == 401
        assert lives(fresh["accessToken"])
        Session.objects.update(rotated_at=timezone.now() - timedelta(seconds=31))
        assert refresh(pair.refresh).status_code == 401
        assert not lives(fresh["accessToken"])

    def test_an_older_token_revokes_even_within_the_grace(self, pair, settings):
        settings.REFRESH_REUSE_GRACE = timedelta(seconds=30)
        second = refresh(pair.refresh).json()
        third = refresh(second["refreshToken"]).json()

        refresh(pair.refresh)

        assert not lives(third["accessToken"])

    def test_an_access_token_buys_nothing_and_harms_nothing(self, pair):
        assert refresh(pair.access).status_code == 401
        assert lives(pair.access)

    def test_revoked_stays_revoked_when_every_cache_is_empty(self, pair):
        refresh(pair.refresh)
        refresh(pair.refresh)
        cache.clear()

        assert not lives(pair.access)

    @pytest.mark.parametrize("token", ["", "x", "a.b.c", None, 7, ["x"], {"a": 1}])
    def test_what_is_no_token(self, db, token):
        response = refresh(token)

        assert response.status_code in (400, 401)
        assert response.json()["statusCode"] == response.status_code

    def test_an_expired_token(self, pair, settings, monkeypatch):
        later = timezone.now() + timedelta(days=7, seconds=1)
        monkeypatch.setattr("rest_framework_simplejwt.tokens.aware_utcnow", lambda: later)

        assert refresh(pair.refresh).status_code == 401


@pytest.mark.crowd
@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_of_32_one_wins_and_the_session_is_revoked(self, owner, figure):
        for _ in range(figure(c=20, s=200, of="rounds of 32")):
            pair = services.open_session(user=owner, provider=SignInProvider.EMAIL)

            answers = self._at_once(pair.refresh, 32)

            assert Counter(status for status, _ in answers) == {200: 1, 401: 31}
            assert Session.objects.latest("created_at").revoked_at is not None
            (winner,) = [body for status, body in answers if status == 200]
            cache.clear()
            assert not lives(winner["accessToken"])
            assert refresh(winner["refreshToken"]).status_code == 401

    def test_of_64_too(self, pair):
        assert Counter(status for status, _ in self._at_once(pair.refresh, 64)) == {200: 1, 401: 63}

    @pytest.mark.parametrize("ended_by", ["logout", "reset"])
    def test_what_was_ended_before_stays_so(self, owner, ended_by):
        pair = services.open_session(user=owner, provider=SignInProvider.EMAIL)
        if ended_by == "logout":
            assert factories.client(pair.access).post("/v1/auth/logout").status_code == 200
        else:
            services.revoke_sessions(user=owner)
        cache.clear()

        assert {status for status, _ in self._at_once(pair.refresh, 8)} == {401}

    def _at_once(self, token, number):
        barrier = threading.Barrier(number)

        def call(_):
            barrier.wait()
            try:
                response = refresh(token)
                return response.status_code, response.json()
            finally:
                connection.close()

        with ThreadPoolExecutor(number) as threads:
            return list(threads.map(call, range(number)))
