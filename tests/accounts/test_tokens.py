"""What is accepted as an access token, and what is not."""

import base64
import json
import time
import uuid
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta

import jwt
import pytest
import time_machine
from django.conf import settings

from accounts import services, tokens
from accounts.models import Session, SignInProvider
from tests import factories

pytestmark = pytest.mark.django_db
KEY = settings.SIMPLE_JWT["SIGNING_KEY"]


@pytest.fixture
def pair(owner):
    return services.open_session(user=owner, provider=SignInProvider.EMAIL)


@pytest.fixture
def claims(pair):
    return jwt.decode(pair.access, KEY, algorithms=["HS256"])


def status(token):
    response = factories.client(token).get("/v1/auth/me")
    if response.status_code != 200:
        assert response.json() == {"statusCode": 401, "message": "Unauthorized", "error": "Unauthorized"}
        assert response["WWW-Authenticate"] == "Bearer"
    return response.status_code


def signed(claims, key=KEY, algorithm="HS256", **headers):
    return jwt.encode(claims, key, algorithm=algorithm, headers=headers)


class TestClaims:
    def test_both_kinds_carry_what_the_contract_says(self, pair, owner):
        for token, kind, lifetime in ((pair.access, "access", 900), (pair.refresh, "refresh", 7 * 86400)):
            claims = jwt.decode(token, KEY, algorithms=["HS256"])
            assert set(claims) == {"sub", "sid", "jti", "iat", "exp", "type"}
            assert claims["sub"] == str(owner.id)
            assert claims["sid"] == str(Session.objects.get().pk)
            assert claims["type"] == kind
            assert claims["exp"] - claims["iat"] == lifetime

    def test_the_key_is_not_the_secret_key_itself(self):
        assert settings.SECRET_KEY != KEY


class TestForgeries:
    def test_what_we_would_sign_ourselves_is_accepted(self, claims):
        assert status(signed(claims)) == 200

    @pytest.mark.parametrize("key", ["another secret of thirty-two bytes!", settings.SECRET_KEY, KEY[::-1]])
    def test_another_secret(self, claims, key):
        assert status(signed(claims, key)) == 401

    @pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
    @pytest.mark.filterwarnings("ignore:The HMAC key is")
    def test_another_algorithm(self, claims, algorithm):
        assert status(signed(claims, algorithm=algorithm)) == 401

    @pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", "", None])
    def test_no_algorithm(self, claims, name):
        head, body = (_part(value) for value in ({"alg": name, "typ": "JWT"}, claims))

        for token in (f"{head}.{body}.", f"{head}.{body}", f"{head}.{body}.{signed(claims).rpartition('.')[2]}"):
            assert status(token) == 401

    def test_hints_of_the_header_are_ignored(self, claims):
        evil = {"kid": "../../dev/null", "jku": "http://169.254.169.254/keys", "x5u": "http://127.0.0.1:1/"}

        assert status(signed(claims, "\0" * 32, **evil)) == 401
        assert status(signed(claims, **evil)) == 200

    def test_a_refresh_token(self, pair):
        assert status(pair.refresh) == 401

    @pytest.mark.parametrize(
        "changes",
        [
            {"exp": 1},
            {"exp": int(time.time()) - 1},
            {"exp": None},
            {"exp": "tomorrow"},
            {"exp": -1},
            {"exp": 10**400},
            {"exp": 1e400},
            {"exp": []},
            {"nbf": int(time.time()) + 600},
            {"iat": int(time.time()) + 600},
            {"iat": "x"},
            {"iat": "1700000000"},
            {"iat": None},
            {"type": "refresh"},
            {"type": None},
            {"type": ["access"]},
            {"sub": "x"},
            {"sub": None},
            {"sub": str(uuid.uuid4())},
            {"sid": str(uuid.uuid4())},
            {"sid": "x"},
            {"sid": None},
            {"sid": {"pk": 1}},
            {"jti": 7},
        ],
    )
    def test_odd_claims(self, claims, changes):
        body = {**claims, **changes}
        token = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(body)}"
        signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(token.encode(), KEY.encode())

        assert status(f"{token}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}") == 401

    @pytest.mark.parametrize("missing", ["sub", "sid", "jti", "iat", "exp", "type"])
    def test_missing_claims(self, claims, missing):
        assert status(signed({key: value for key, value in claims.items() if key != missing})) == 401

    @pytest.mark.parametrize("length", [0, 1, 10, 36, 37, 38, 100, -1, -2, -43, -44])
    def test_truncated(self, pair, length):
        assert status(pair.access[:length]) == 401

    @pytest.mark.parametrize(
        "header", ["Bearer", "Bearer ", "bearer  ", "Basic dXNlcjpwYXNz", "Token abc", "Bearer a b c", "  "]
    )
    def test_odd_headers(self, anonymous, owner, header):
        assert anonymous.get("/v1/auth/me", HTTP_AUTHORIZATION=header).status_code == 401

    @pytest.mark.parametrize("scheme", ["Basic ", "Token ", "Digest ", "Bear ", "Bearers ", ""])
    def test_a_token_that_holds_signs_nobody_in_under_another_scheme(self, anonymous, pair, scheme):
        assert anonymous.get("/v1/auth/me", HTTP_AUTHORIZATION=f"{scheme}{pair.access}").status_code == 401

    @pytest.mark.parametrize("header", ["Basic dXNlcjpwYXNz", "Token abc", "Bearer stale"])
    @pytest.mark.parametrize("path", ["auth/providers", "plans", "plans/pro", "billing/providers"])
    def test_none_of_them_matters_where_everybody_may_ask(self, anonymous, path, header):
        without = anonymous.get(f"/v1/{path}")

        asked = anonymous.get(f"/v1/{path}", HTTP_AUTHORIZATION=header)

        assert (asked.status_code, asked.content) == (200, without.content)

    def test_the_scheme_is_read_without_regard_to_case(self, anonymous, pair):
        assert anonymous.get("/v1/auth/me", HTTP_AUTHORIZATION=f"bearer {pair.access}").status_code == 200

    @pytest.mark.parametrize(("length", "answer"), [(2048, 200), (2049, 401)])
    def test_the_longest_has_2048_characters(self, claims, length, answer):
        tokens = (
            signed({**claims, "pad": "x" * extra}, pad="y" * more) for extra in range(1000, 1400) for more in (0, 1)
        )

        assert status(next(token for token in tokens if len(token) == length)) == answer

    def test_a_megabyte(self):
        assert status("a" * 1_000_000) == 401
        assert status("a." * 500_000) == 401

    def test_mutations(self, pair, dice, figure):
        alphabet = "abcXYZ019-_.=+/ é\x7f"
        for _ in range(figure(c=2_000, s=20_000, of="tokens")):
            letters = list(pair.access)
            for _ in range(dice.randint(1, 4)):
                place = dice.randrange(len(letters))
                letters[place] = dice.choice(alphabet)
            token = "".join(letters)
            # The last letter of a signature carries two unused bits: another spelling of the same bytes is no forgery.
            if token[:-1] != pair.access[:-1]:
                assert status(token) == 401, token


@pytest.mark.parametrize("value", [tokens.Pair("a", "r"), tokens.Claims(uuid.uuid4(), uuid.uuid4(), "j", 0.0)])
def test_what_is_handed_out_is_changed_by_nobody(value):
    with pytest.raises(FrozenInstanceError):
        value.refresh = value.jti = "another"


def test_one_that_was_accepted_before_expires_at_its_time(owner):
    issued = datetime.now(UTC)
    with time_machine.travel(issued, tick=False) as traveller:
        pair = services.open_session(user=owner, provider=SignInProvider.EMAIL)
        assert status(pair.access) == 200
        traveller.move_to(issued + settings.ACCESS_LIFETIME - timedelta(seconds=1))
        assert status(pair.access) == 200

        traveller.move_to(issued + settings.ACCESS_LIFETIME)

        assert status(pair.access) == 401


class TestSessions:
    def test_a_revoked_session(self, pair):
        Session.objects.all().revoke()

        assert status(pair.access) == 401

    def test_a_disabled_account(self, pair, owner):
        owner.is_active = False
        owner.save()

        assert status(pair.access) == 401

    def test_a_deleted_account(self, pair, owner):
        owner.delete()

        assert status(pair.access) == 401
        assert factories.client().post("/v1/auth/refresh", {"refreshToken": pair.refresh}).status_code == 401


def _part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
