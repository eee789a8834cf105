"""Every failure of the service has the same body, and every answer an id."""

import re
from http import HTTPStatus

import pytest
from django.db import OperationalError
from django.http import HttpRequest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView

from config import errors, urls
from config.api.errors import too_many_requests
from tests import factories


class Failing(APIView):
    authentication_classes = []
    permission_classes = []
    failure: Exception = ValueError("a secret detail")

    def get(self, request):
        raise self.failure

    def put(self, request):
        return Response(request.data)


def _plainly_failing(request: HttpRequest):
    raise ValueError("a secret detail")


KINDS = [
    (errors.InvalidInput("name: is odd"), 400, "name: is odd"),
    (errors.NotAuthenticated("who?"), 401, "Unauthorized"),
    (errors.NotAllowed(), 403, "You may not do this"),
    (errors.NotFound(), 404, "Not found"),
    (errors.Conflict(), 409, "The request conflicts with the present state"),
    (errors.ProviderFailed(), 502, "The provider did not answer; nothing was changed, try again"),
    (errors.Unavailable(), 503, "This is not available here"),
    (OperationalError("connection to 10.0.0.1 refused"), 503, "The database does not answer; try again"),
]
urlpatterns = [
    *urls.urlpatterns,
    path("v1/test/failing", Failing.as_view()),
    path("v1/test/plainly-failing", _plainly_failing),
    *(path(f"v1/test/kind/{n}", Failing.as_view(failure=failure)) for n, (failure, _, _) in enumerate(KINDS)),
]
handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.test_errors")]


@pytest.fixture
def client():
    made = factories.client()
    made.raise_request_exception = False
    return made


def assert_error(response, status, message=None):
    assert response.status_code == status
    assert response["Content-Type"] == "application/json"
    body = response.json()
    assert set(body) == {"statusCode", "message", "error"}
    assert (body["statusCode"], body["error"]) == (status, HTTPStatus(status).phrase)
    assert isinstance(body["message"], str) and body["message"]
    assert message is None or body["message"] == message
    assert response["X-Request-Id"]


class TestBody:
    @pytest.mark.parametrize("address", ["/v1/nothing", "/v1", "/v1/", "/v1/auth/login/", "/v1/auth/me/x", "/nothing"])
    def test_unknown_addresses(self, client, address):
        assert_error(client.get(address), 404, "There is nothing at this address")

    @pytest.mark.parametrize(
        ("method", "address"), [("get", "/v1/auth/login"), ("delete", "/v1/auth/login"), ("patch", "/v1/auth/signup")]
    )
    def test_a_wrong_method(self, client, method, address):
        response = getattr(client, method)(address)

        assert_error(response, 405)
        assert response["Allow"] == "POST, OPTIONS"

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "a"])
    def test_a_wrong_media_type(self, client, kind):
        assert_error(client.generic("POST", "/v1/auth/login", b"x=1", content_type=kind), 415)

    @pytest.mark.parametrize(
        "body",
        [
            b"{",
            b"",
            b"[]",
            b'"x"',
            b"null",
            b"7",
            b"NaN",
            b'{"email": NaN}',
            b'{"email": "\\ud800"}',
            b'{"email": "\xff"}',
            b"\xef\xbb\xbf{}",
            b"\x00",
            b'{"a":' * 65 + b"1" + b"}" * 65,
            b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            b'{"email": 1' + b"0" * 5000 + b"}",
        ],
        ids=lambda body: body[:12].decode("latin-1") + f"({len(body)})",
    )
    def test_malformed_json(self, client, body):
        assert_error(client.generic("POST", "/v1/auth/login", body, content_type="application/json"), 400)

    def test_a_body_over_the_limit(self, client):
        body = b'{"email": "' + b"a" * 1024 * 1024 + b'"}'

        assert_error(client.generic("POST", "/v1/auth/login", body, content_type="application/json"), 413)

    def test_a_body_within_the_limit_and_the_depth(self, client):
        body = b'{"a":' * 63 + b"1" + b"}" * 63

        assert client.generic("PUT", "/v1/test/failing", body, content_type="application/json").status_code == 200

    @pytest.mark.parametrize("address", ["/v1/test/failing", "/v1/test/plainly-failing"])
    def test_a_fault_of_ours_says_nothing_and_logs_everything(self, client, address, caplog):
        response = client.get(address)

        assert_error(response, 500, "Internal server error")
        assert b"secret" not in response.content
        assert "a secret detail" in caplog.text

    @pytest.mark.parametrize("address", ["failing", "plainly-failing", f"kind/{len(KINDS) - 1}"])
    def test_the_log_of_a_failure_has_no_path_which_may_hold_a_token(self, client, address, caplog):
        client.get(f"/v1/test/{address}")

        [said] = [record.getMessage() for record in caplog.records if record.name == "django.request"]
        assert said in ("Internal Server Error", "Service Unavailable")

    @pytest.mark.parametrize("number", range(len(KINDS)))
    def test_each_kind_of_refusal(self, client, number):
        _, status, message = KINDS[number]

        response = client.get(f"/v1/test/kind/{number}")

        assert_error(response, status, message)
        assert (response.headers.get("WWW-Authenticate") == "Bearer") == (status == 401)

    def test_a_foreign_host_name(self, client):
        assert_error(client.get("/v1/auth/me", HTTP_HOST="evil.example"), 400)

    def test_the_field_is_named_even_deep_inside(self):
        from config.api.errors import _sentence

        assert _sentence({"gates": {"warn": [{}, {"operator": ["Unknown operator."]}]}}) == (
            "gates.warn[1].operator: unknown operator"
        )
        assert _sentence({"non_field_errors": ["Odd."]}) == "Odd."
        assert _sentence({}) == "is not valid"

    @pytest.mark.parametrize(("seconds", "wait"), [(42, "42 seconds"), (1, "1 second")])
    def test_who_calls_too_often_is_told_when_to_come_back(self, seconds, wait):
        assert too_many_requests(seconds) == f"Too many requests; try again in {wait}"


class TestRequestIds:
    def test_each_answer_has_its_own(self, client):
        ids = {client.get("/v1/auth/me")["X-Request-Id"] for _ in range(3)}

        assert len(ids) == 3
        assert all(re.fullmatch(r"[0-9a-f-]{36}", request_id) for request_id in ids)

    def test_a_sane_one_is_taken_over(self, client):
        assert client.get("/v1/auth/me", HTTP_X_REQUEST_ID="trace-0123456789")["X-Request-Id"] == "trace-0123456789"

    @pytest.mark.parametrize("given", ["", "short", "x" * 65, "a b c d e f g", 'quote"quote"', "ünïcödé-12"])
    def test_an_odd_one_is_not(self, client, given):
        assert client.get("/v1/auth/me", HTTP_X_REQUEST_ID=given)["X-Request-Id"] != given


class TestBrowsers:
    def test_the_front_end_may_call_and_read_the_headers(self, client, settings):
        response = client.get("/v1/auth/me", HTTP_ORIGIN=settings.APP_ORIGIN)

        assert response["Access-Control-Allow-Origin"] == settings.APP_ORIGIN
        assert "RateLimit-Remaining" in response["Access-Control-Expose-Headers"]

    @pytest.mark.parametrize("header", ["authorization", "content-type", "if-none-match", "x-request-id"])
    def test_the_front_end_may_send_the_headers_that_the_api_reads(self, client, settings, header):
        asked = {"HTTP_ACCESS_CONTROL_REQUEST_METHOD": "GET", "HTTP_ACCESS_CONTROL_REQUEST_HEADERS": header}

        response = client.options("/v1/auth/me", HTTP_ORIGIN=settings.APP_ORIGIN, **asked)

        assert header in response["Access-Control-Allow-Headers"].split(", ")

    def test_others_may_not(self, client):
        assert "Access-Control-Allow-Origin" not in client.get("/v1/auth/me", HTTP_ORIGIN="https://evil.example")
