"""POST /v1/auth/forgot-password and /v1/auth/reset-password"""

import hashlib
import re
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import BoundedSemaphore

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import identify_hasher
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import passwords, services
from accounts.models import Letter, PasswordReset
from tests import factories

FORGOT, RESET, LOGIN = "/v1/auth/forgot-password", "/v1/auth/reset-password", "/v1/auth/login"
NEW = "Battery-staple-7"
INVALID = {"statusCode": 400, "message": "token: is invalid or has expired", "error": "Bad Request"}


def token_in(mail):
    return re.search(r"http://127\.0\.0\.1:8000/reset-password\?token=([\w-]+)\n", mail.body)[1]


@pytest.fixture
def token(anonymous, owner, postbox):
    anonymous.post(FORGOT, {"email": owner.email})
    return token_in(postbox()[-1])


@pytest.mark.django_db
class TestForgotPassword:
    def test_a_letter_with_a_link_leaves(self, anonymous, owner, postbox):
        response = anonymous.post(FORGOT, {"email": "OLIVIA@example.org"})

        assert response.status_code == 200
        assert set(response.json()) == {"message"}
        (mail,) = postbox()
        assert mail.to == [owner.email]
        assert mail.subject == "Set a new password"
        html = mail.alternatives[0].content
        assert token_in(mail) in html

    def test_it_is_sent_at_the_commit_without_waiting_for_the_sweeper(
        self, anonymous, owner, mailoutbox, django_capture_on_commit_callbacks
    ):
        with django_capture_on_commit_callbacks(execute=True):
            anonymous.post(FORGOT, {"email": owner.email})

        assert len(mailoutbox) == 1

    @pytest.mark.parametrize("who", ["unknown", "disabled"])
    def test_nobody_else_is_written_to_and_the_answer_is_the_same(self, anonymous, owner, postbox, who):
        known = anonymous.post(FORGOT, {"email": owner.email})
        postbox().clear()
        owner.is_active = who != "disabled"
        owner.save()

        response = anonymous.post(FORGOT, {"email": owner.email if who == "disabled" else "nobody@example.org"})

        assert (response.status_code, response.content) == (known.status_code, known.content)
        assert postbox() == []
        assert Letter.objects.filter(sent_at=None).count() == 0

    def test_the_work_is_the_same_for_every_address(self, anonymous, owner):
        statements = []
        for email in (owner.email, "nobody@example.org"):
            with CaptureQueriesContext(connection) as queries:
                anonymous.post(FORGOT, {"email": email})
            statements.append([re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in queries])

        assert statements[0] == statements[1]

    def test_only_a_hash_of_the_token_is_stored(self, token):
        reset = PasswordReset.objects.get()

        assert reset.token_hash == hashlib.sha256(token.encode()).hexdigest()
        assert timedelta(minutes=59) < reset.expires_at - timezone.now() <= timedelta(hours=1)
        assert token not in str(list(Letter.objects.values()))
        assert len(token) == 43  # 32 random bytes

    def test_an_account_without_a_password_may_set_one(self, anonymous, owner, postbox):
        owner.set_unusable_password()
        owner.save()
        anonymous.post(FORGOT, {"email": owner.email})

        anonymous.post(RESET, {"token": token_in(postbox()[-1]), "newPassword": NEW})

        assert anonymous.post(LOGIN, {"email": owner.email, "password": NEW}).status_code == 200

    @pytest.mark.parametrize("body", [{}, {"email": ""}, {"email": "x"}, {"email": None}, {"email": 7}])
    def test_what_is_no_address_is_400(self, anonymous, body):
        assert anonymous.post(FORGOT, body).status_code == 400


@pytest.mark.django_db
class TestResetPassword:
    def test_sets_the_password_and_ends_every_session(self, anonymous, as_owner, owner, token):
        response = anonymous.post(RESET, {"token": token, "newPassword": NEW})

        assert response.status_code == 200
        assert set(response.json()) == {"message"}
        assert as_owner.get("/v1/auth/me").status_code == 401
        assert anonymous.post(LOGIN, {"email": owner.email, "password": factories.PASSWORD}).status_code == 401
        assert anonymous.post(LOGIN, {"email": owner.email, "password": NEW}).status_code == 200

    def test_proves_the_address(self, anonymous, owner, token):
        anonymous.post(RESET, {"token": token, "newPassword": NEW})

        assert EmailAddress.objects.values_list("user", "verified", "primary").get() == (owner.pk, True, True)

    def test_leaves_other_accounts_alone(self, anonymous, as_member, token):
        anonymous.post(RESET, {"token": token, "newPassword": NEW})

        assert as_member.get("/v1/auth/me").status_code == 200

    def test_a_token_works_once(self, anonymous, token):
        anonymous.post(RESET, {"token": token, "newPassword": NEW})

        response = anonymous.post(RESET, {"token": token, "newPassword": "Another-one-8"})

        assert response.status_code == 400
        assert response.json() == INVALID

    def test_using_one_link_uses_up_the_others(self, anonymous, owner, token, postbox):
        anonymous.post(FORGOT, {"email": owner.email})
        second = token_in(postbox()[-1])
        anonymous.post(RESET, {"token": token, "newPassword": NEW})

        assert anonymous.post(RESET, {"token": second, "newPassword": NEW}).json() == INVALID

    def test_an_hour_later_it_is_too_late(self, anonymous, token):
        PasswordReset.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

        assert anonymous.post(RESET, {"token": token, "newPassword": NEW}).json() == INVALID

    @pytest.mark.parametrize("token", ["x", "a" * 200, "ä"])
    def test_an_unknown_token(self, anonymous, token):
        assert anonymous.post(RESET, {"token": token, "newPassword": NEW}).json() == INVALID

    def test_the_hash_is_no_token(self, anonymous, token):
        stored = PasswordReset.objects.get().token_hash

        assert anonymous.post(RESET, {"token": stored, "newPassword": NEW}).json() == INVALID

    def test_a_disabled_account(self, anonymous, owner, token):
        owner.is_active = False
        owner.save()

        assert anonymous.post(RESET, {"token": token, "newPassword": NEW}).json() == INVALID

    def test_a_weak_password_is_refused_by_name_and_uses_up_nothing(self, anonymous, token):
        response = anonymous.post(RESET, {"token": token, "newPassword": "weak"})

        assert response.status_code == 400
        assert response.json()["message"] == "newPassword: must be 8 to 128 characters long"
        assert anonymous.post(RESET, {"token": token, "newPassword": NEW}).status_code == 200


@pytest.mark.crowd
@pytest.mark.django_db(transaction=True)
def test_one_of_32_uses_of_a_link_wins(owner, figure):
    def call(token):
        barrier.wait()
        try:
            return factories.client().post(RESET, {"token": token, "newPassword": NEW}).status_code
        finally:
            connection.close()

    for _ in range(figure(c=10, s=100, of="rounds of 32")):
        barrier, link = threading.Barrier(32), services.mint_reset(email=owner.email)
        with ThreadPoolExecutor(32) as threads:
            answers = Counter(threads.map(call, [link.partition("=")[2]] * 32))

        assert answers == {200: 1, 400: 31}


class TestHasher:
    def test_uses_19_mib_and_two_passes(self):
        parts = identify_hasher(factories.password_hash()).decode(factories.password_hash())

        assert (parts["memory_cost"], parts["time_cost"], parts["parallelism"]) == (19456, 2, 1)

    @pytest.mark.parametrize(("cores", "room"), [(None, 2), (1, 2), (2, 2), (3, 3), (64, 64)])
    def test_there_is_room_for_as_many_as_there_are_cores(self, cores, room):
        assert passwords.at_once(cores) == room

    def test_the_hash_that_nobody_has_is_made_once(self):
        assert passwords.dummy_hash() == passwords.dummy_hash()

    def test_no_more_run_at_once_than_there_is_room_for(self, monkeypatch):
        running, most = [], []
        monkeypatch.setattr(passwords, "AT_ONCE", BoundedSemaphore(2))
        original = passwords.Argon2PasswordHasher.verify

        def watched(self, password, encoded):
            running.append(1)
            most.append(len(running))
            try:
                return original(self, password, encoded)
            finally:
                running.pop()

        monkeypatch.setattr(passwords.Argon2PasswordHasher, "verify", watched)
        hasher, encoded = passwords.Hasher(), factories.password_hash()

        with ThreadPoolExecutor(8) as threads:
            assert all(threads.map(lambda _: hasher.verify(factories.PASSWORD, encoded), range(8)))

        assert max(most) == 2
