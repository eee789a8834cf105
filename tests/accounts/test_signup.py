"""POST /v1/auth/signup"""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.models import User
from tests import factories

URL = "/v1/auth/signup"
BODY = {"email": "Dana@Example.org", "password": "Correct-horse-9", "name": "Dana Doe"}


@pytest.mark.django_db
class TestSignUp:
    def test_answers_with_a_pair_and_the_account(self, anonymous):
        response = anonymous.post(URL, BODY)

        assert response.status_code == 201
        body = response.json()
        assert set(body) == {"accessToken", "refreshToken", "user"}
        assert set(body["user"]) == {"id", "email", "name", "createdAt"}
        assert body["user"]["email"] == "dana@example.org"
        assert response["Cache-Control"] == "no-store"
        assert factories.client(body["accessToken"]).get("/v1/auth/me").status_code == 200

    def test_the_address_is_taken_in_any_case(self, anonymous):
        anonymous.post(URL, BODY)

        response = anonymous.post(URL, {**BODY, "email": "DANA@example.ORG"})

        assert response.status_code == 409
        assert response.json() == {"statusCode": 409, "message": "email: is already registered", "error": "Conflict"}

    def test_somebody_who_was_faster_has_the_address(self, anonymous, just_before):
        with just_before('INTO "accounts_user"', lambda: factories.user(BODY["email"].lower())):
            assert anonymous.post(URL, BODY).status_code == 409

    @pytest.mark.parametrize(
        ("password", "complaint"),
        [
            ("Short-1", "must be 8 to 128 characters long"),
            ("A1" + "a" * 127, "must be 8 to 128 characters long"),
            ("no-upper-case-1", "must contain an uppercase letter"),
            ("NO-LOWER-CASE-1", "must contain a lowercase letter"),
            ("No-number-here", "must contain a number"),
            ("", "this field may not be blank"),
            (None, "this field may not be null"),
            (12345678, "not a valid string"),
        ],
    )
    def test_a_weak_password_is_refused_by_name(self, anonymous, password, complaint):
        response = anonymous.post(URL, {**BODY, "password": password})

        assert response.status_code == 400
        assert response.json() == {"statusCode": 400, "message": f"password: {complaint}", "error": "Bad Request"}

    @pytest.mark.parametrize("password", ["Abcdefg1", "A1" + "a" * 126, " Blank-9 ", "Grüße-Ünd-9", "Tab\tTab-99"])
    def test_a_password_within_the_rules_is_kept_as_typed(self, anonymous, password):
        assert anonymous.post(URL, {**BODY, "password": password}).status_code == 201

        assert anonymous.post("/v1/auth/login", {"email": BODY["email"], "password": password}).status_code == 200
        trimmed = {"email": BODY["email"], "password": password.strip()[:-1] + "!"}
        assert anonymous.post("/v1/auth/login", trimmed).status_code == 401

    @pytest.mark.parametrize(
        "email", ["", "dana", "dana@", "@example.org", "a b@example.org", None, 7, ["x"], "a" * 250 + "@e.org"]
    )
    def test_an_address_that_is_none_is_refused_by_name(self, anonymous, email):
        response = anonymous.post(URL, {**BODY, "email": email})

        assert response.status_code == 400
        assert response.json()["message"].startswith("email: ")

    @pytest.mark.parametrize("name", ["", "   ", "x" * 101, None, 0, "nul\x00", "line\nbreak", "\u202eDana", "\u200b"])
    def test_a_name_that_is_none_is_refused_by_name(self, anonymous, name):
        response = anonymous.post(URL, {**BODY, "name": name})

        assert response.status_code == 400
        assert response.json()["message"].startswith("name: ")

    @pytest.mark.parametrize("field", ["email", "password", "name"])
    def test_each_field_is_needed(self, anonymous, field):
        response = anonymous.post(URL, {key: value for key, value in BODY.items() if key != field})

        assert response.json()["message"] == f"{field}: this field is required"

    def test_nobody_makes_themselves_staff(self, anonymous):
        extra = {
            "is_staff": True,
            "isStaff": True,
            "is_superuser": True,
            "provider": "idp2",
            "id": "x",
            "is_active": False,
        }

        anonymous.post(URL, {**BODY, **extra})

        user = User.objects.get()
        assert (user.is_staff, user.is_superuser, user.provider, user.is_active) == (False, False, "email", True)


@pytest.mark.django_db(transaction=True)
def test_one_of_eight_at_once_gets_the_address():
    barrier = threading.Barrier(8)

    def call(_):
        barrier.wait()
        try:
            return factories.client().post(URL, BODY).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = Counter(threads.map(call, range(8)))

    assert answers == {201: 1, 409: 7}
