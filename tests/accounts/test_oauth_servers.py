"""Sign-in end to end against OAuth and OpenID Connect servers that others wrote."""

import re
from urllib.parse import urljoin

import pytest
import requests
from allauth.account.models import EmailAddress

from accounts.models import User
from tests import factories
from tests.accounts import sign_in
from tests.accounts.conftest import set_up_idp2

pytestmark = pytest.mark.django_db


def who(tokens):
    return factories.client(tokens["token"]).get("/v1/auth/me").json()


class TestCodehost1:
    def test_a_new_person_gets_an_account_and_working_tokens(self, anonymous, codehost1):
        tokens = sign_in.through_codehost1(anonymous, "dana")

        profile = who(tokens)
        assert (profile["email"], profile["name"], profile["provider"]) == ("dana@example.org", "Dana Doe", "codehost1")
        assert profile["avatarUrl"].startswith("http")
        refreshed = factories.client().post("/v1/auth/refresh", {"refreshToken": tokens["refresh"]})
        assert refreshed.status_code == 200

    def test_the_second_time_it_is_the_same_account(self, anonymous, codehost1):
        first = who(sign_in.through_codehost1(anonymous, "dana"))
        second = who(sign_in.through_codehost1(anonymous, "dana"))

        assert first["id"] == second["id"]
        assert User.objects.count() == 1

    def test_the_browser_is_sent_with_client_id_scopes_state_and_challenge(self, anonymous, codehost1):
        address = sign_in.start(anonymous, "codehost1")

        query = sign_in.query_of(address)
        assert address.startswith(f"{codehost1}/login/oauth/authorize?")
        assert query["client_id"] == "our-client"
        assert set(query["scope"].split()) == {"read:user", "user:email"}
        assert query["redirect_uri"] == "http://127.0.0.1:8000/v1/auth/codehost1/callback"
        assert query["code_challenge_method"] == "S256"
        assert len(query["state"]) >= 16

    def test_strangers_cannot_add_scopes_or_parameters(self, anonymous, codehost1):
        asked = {
            "scope": "admin:org",
            "auth_params": "prompt=none",
            "process": "connect",
            "next": "https://evil.example",
        }

        query = sign_in.query_of(sign_in.start(anonymous, "codehost1", **asked))

        assert "admin:org" not in query["scope"]
        assert "prompt" not in query

    def test_a_code_works_once(self, anonymous, codehost1):
        first = sign_in.agree_at_codehost1(sign_in.start(anonymous, "codehost1"), "dana")
        assert "token" in sign_in.come_back(anonymous, first)
        code = sign_in.query_of(first)["code"]
        state = sign_in.query_of(sign_in.start(anonymous, "codehost1"))["state"]

        answer = sign_in.come_back(anonymous, f"/v1/auth/codehost1/callback?code={code}&state={state}")

        assert answer == {"error": "provider_error"}


class TestIdp2:
    def test_a_new_person_gets_an_account_and_working_tokens(self, anonymous, known_to_idp2):
        sub = known_to_idp2("eva", email="Eva@Example.org", email_verified=True, name="Eva Example")

        profile = who(sign_in.through_idp2(anonymous, sub))

        assert (profile["email"], profile["name"], profile["provider"]) == ("eva@example.org", "Eva Example", "idp2")

    def test_a_changed_address_at_the_provider_changes_nothing_here(self, anonymous, known_to_idp2):
        before = who(
            sign_in.through_idp2(anonymous, known_to_idp2("fay", email="fay@example.org", email_verified=True))
        )
        known_to_idp2("fay", email="other@example.org", email_verified=True)

        assert who(sign_in.through_idp2(anonymous, "fay"))["id"] == before["id"]
        assert User.objects.get().email == "fay@example.org"

    def test_denied_consent(self, anonymous, idp2):
        answer = sign_in.come_back(anonymous, sign_in.deny_at_idp2(sign_in.start(anonymous, "idp2")))

        assert answer == {"error": "access_denied"}

    @pytest.mark.parametrize("verified", [False, None, "false", "true", 1])
    def test_an_address_that_is_not_verified_is_nobodys(self, anonymous, known_to_idp2, verified):
        sub = known_to_idp2("gil", email="gil@example.org", email_verified=verified)

        assert sign_in.through_idp2(anonymous, sub) == {"error": "email_unverified"}
        assert not User.objects.exists()

    def test_no_address_at_all(self, anonymous, known_to_idp2):
        assert sign_in.through_idp2(anonymous, known_to_idp2("hal", name="Hal")) == {"error": "email_unverified"}

    def test_a_disabled_account_stays_outside(self, anonymous, known_to_idp2):
        sub = known_to_idp2("ida", email="ida@example.org", email_verified=True)
        sign_in.through_idp2(anonymous, sub)
        User.objects.update(is_active=False)

        assert sign_in.through_idp2(anonymous, sub) == {"error": "access_denied"}


class TestLinking:
    def test_an_account_that_proved_its_address_keeps_its_password_and_sessions(
        self, anonymous, known_to_idp2, owner, as_owner
    ):
        EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
        sub = known_to_idp2("olivia", email=owner.email, email_verified=True)

        profile = who(sign_in.through_idp2(anonymous, sub))

        assert profile["id"] == str(owner.id)
        assert as_owner.get("/v1/auth/me").status_code == 200
        login = anonymous.post("/v1/auth/login", {"email": owner.email, "password": factories.PASSWORD})
        assert login.status_code == 200

    def test_an_account_prepared_by_an_attacker_is_taken_from_them(self, anonymous, known_to_idp2, postbox):
        victim = "victim@example.org"
        attacker = anonymous.post(
            "/v1/auth/signup", {"email": victim, "password": "Mine-for-now-1", "name": "Hm"}
        ).json()
        sub = known_to_idp2("victim", email=victim, email_verified=True)

        profile = who(sign_in.through_idp2(anonymous, sub))

        assert profile["email"] == victim
        held = factories.client(attacker["accessToken"])
        assert held.get("/v1/auth/me").status_code == 401
        refresh = anonymous.post("/v1/auth/refresh", {"refreshToken": attacker["refreshToken"]})
        assert refresh.status_code == 401
        login = anonymous.post("/v1/auth/login", {"email": victim, "password": "Mine-for-now-1"})
        assert login.status_code == 401

    def test_a_look_alike_address_is_somebody_else(self, anonymous, known_to_idp2, owner):
        sub = known_to_idp2("fake", email="olivia@ex\u0430mple.org", email_verified=True)  # a Cyrillic a

        profile = who(sign_in.through_idp2(anonymous, sub))

        assert profile["id"] != str(owner.id)

    def test_both_providers_lead_to_one_account(self, anonymous, codehost1, known_to_idp2):
        first = who(sign_in.through_codehost1(anonymous, "dana"))
        sub = known_to_idp2("dana", email="dana@example.org", email_verified=True)

        assert who(sign_in.through_idp2(anonymous, sub))["id"] == first["id"]


class TestProofOfPossession:
    def test_a_server_that_insists_on_pkce_is_satisfied(self, anonymous, settings, strict_issuer):
        set_up_idp2(settings, strict_issuer)

        location = _agree_at_strict(sign_in.start(anonymous, "idp2"), "jo")

        assert who(sign_in.come_back(anonymous, location))["email"] == "jo@example.org"

    def test_a_stolen_code_is_worthless_in_another_browser(self, anonymous, settings, strict_issuer):
        set_up_idp2(settings, strict_issuer)
        stolen = sign_in.query_of(_agree_at_strict(sign_in.start(anonymous, "idp2"), "kim"))["code"]
        thief = factories.client()
        state = sign_in.query_of(sign_in.start(thief, "idp2"))["state"]

        answer = sign_in.come_back(thief, f"/v1/auth/idp2/callback?code={stolen}&state={state}")

        assert answer == {"error": "provider_error"}


def _agree_at_strict(address, login):
    browser = requests.Session()
    response = browser.get(address, timeout=5)
    for fields in ({"prompt": "login", "login": login, "password": "any"}, {"prompt": "consent"}):
        action = urljoin(address, re.search(r'action="([^"]+)"', response.text)[1])
        response = browser.post(action, data=fields, timeout=5, allow_redirects=False)
        while "callback" not in (onward := response.headers.get("Location", "/callback")):
            response = browser.get(urljoin(address, onward), timeout=5, allow_redirects=False)
    return response.headers["Location"]
