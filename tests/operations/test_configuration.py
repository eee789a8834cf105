"""A setting that is wrong stops the start with a sentence that names it; one that is empty is one that is not set."""

import os
import runpy
import shutil
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from tests.operations.services import CHECKOUT
from tests.providers.servers import free_port, running

SSL_REQUEST = bytes.fromhex("0000000804d2162f")  # PostgreSQL's protocol, message SSLRequest


def run(folder: Path, *command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *command],
        cwd=CHECKOUT,
        env={**os.environ, "VAR_DIR": str(folder), **variables},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Reads the settings once more, with these variables in the environment."""

    def settings(**variables: str) -> dict[str, Any]:
        kept = {"PROMETHEUS_MULTIPROC_DIR": os.environ["PROMETHEUS_MULTIPROC_DIR"], "VAR_DIR": str(tmp_path)}
        for name, value in {**kept, **variables}.items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(CHECKOUT / "config" / "settings.py"))

    return settings


WRONG = {
    "DATABASE_URL": ["mysql://root@host/name", "postgress://host/name", "debt", "postgres://host:port/name"],
    "REDIS_URL": ["localhost:6379", "http://127.0.0.1:6379", "redis://host:port"],
    "EMAIL_URL": ["mail.example.org", "smpt://mail.example.org", "smtp://mail.example.org:port"],
    "BASE_URL": ["debt.example.org/v1"],
    "APP_URL": ["debt.example.org"],
    "CODEHOST1_API_URL": ["api.host.example"],
    "LOG_LEVEL": ["verbose"],
    "DEBUG": ["maybe"],
    "PORT": ["web", "99999", "--5", "\N{SUPERSCRIPT TWO}"],
    "KEEP_RUNS_DAYS": ["0", "36501"],
    "FIRST_SCAN_TIMEOUT_MS": ["15m", "9" * 30],
    "SECRET_KEY_FILE": ["/nowhere"],
    "VAR_DIR": ["/proc/nowhere"],
    "WORKSPACE_DIR": ["/proc/nowhere"],
    "CARDPAY_PRICES": [
        "price_1",
        '{"pro": "price_1"}',
        '{"pro_monthly": 1}',
        '{"pro_monthly": "price_1", "team_monthly": "price_1"}',
    ],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_value_is_told_in_a_sentence_that_names_its_variable(read: Any, name: str, value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{name} "):
        read(**{"SECRET_KEY": "", name: value})


def test_no_sentence_quotes_a_password(read: Any) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        read(DATABASE_URL="mysql://root:hunter2@host/name")

    assert "hunter2" not in str(refusal.value)


def test_nothing_but_the_sentence_is_shown_at_the_start(tmp_path: Path) -> None:
    ended = run(tmp_path, "manage.py", "serve", "--only", "web", LOG_LEVEL="verbose")

    assert ended.returncode == 1
    assert ended.stderr == (
        "Not started: LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL, not 'VERBOSE'\n"
    )


class TestADatabaseThatDoesNotOpen:
    WHAT_TO_DO = "Correct DATABASE_URL, start the server that it names, or create the database.\n"

    @pytest.mark.parametrize("command", ["migrate", "serve", "reconcile"])
    def test_is_told_in_one_sentence_that_says_what_to_do_and_quotes_no_password(
        self, command: str, tmp_path: Path
    ) -> None:
        port = free_port()

        done = run(
            tmp_path, "manage.py", command, DATABASE_URL=f"postgres://debt:hunter2@127.0.0.1:{port}/debt", REDIS_URL=""
        )

        assert done.returncode == 1
        assert done.stderr.startswith("The database does not open: ")
        assert done.stderr.endswith(f"port {port} failed: Connection refused. {self.WHAT_TO_DO}")
        assert "hunter2" not in done.stderr
        assert done.stderr.count("\n") == 1

    @pytest.mark.skipif(settings.ON_SQLITE, reason="needs a server that lacks a database")
    def test_may_be_one_that_is_not_there(self, tmp_path: Path) -> None:
        nowhere = urlsplit(os.environ["DATABASE_URL"])._replace(path="/debt_nowhere").geturl()

        done = run(tmp_path, "manage.py", "migrate", DATABASE_URL=nowhere)

        assert done.stderr.endswith(f'FATAL:  database "debt_nowhere" does not exist. {self.WHAT_TO_DO}')

    def test_shows_where_it_was_opened_to_whoever_asks(self, tmp_path: Path) -> None:
        done = run(tmp_path, "manage.py", "migrate", "--traceback", DATABASE_URL="sqlite:////nowhere/at/all")

        assert done.stderr.startswith("Traceback")

    def test_is_not_blamed_for_what_a_database_that_opens_refuses(self, tmp_path: Path) -> None:
        done = run(tmp_path, "manage.py", "reconcile", DATABASE_URL="sqlite:///:memory:")

        assert "no such table" in done.stderr.splitlines()[-1]


def test_an_empty_variable_is_one_that_is_not_set(read: Any, tmp_path: Path) -> None:
    names = ["RATELIMIT_ENABLE", "PORT", "WORKSPACE_DIR", "BASE_URL", "CLONE_ALLOWED_SCHEMES"]

    found = read(**dict.fromkeys([*names, "DATABASE_URL", "REDIS_URL", "LOG_LEVEL"], ""))

    assert [found[name] for name in names] == [
        *(True, 8000, tmp_path / "workspace", "http://127.0.0.1:8000/v1"),
        ["https"],
    ]
    assert found["ON_SQLITE"]


def test_what_the_address_of_the_database_asks_for_is_kept_beside_our_limits(read: Any) -> None:
    address = "postgres://u@host/name?sslmode=verify-full&sslrootcert=/ca.pem&options=-c%20search_path%3Ddebt"

    options = read(DATABASE_URL=address)["DATABASES"]["default"]["OPTIONS"]

    assert (options["sslmode"], options["sslrootcert"]) == ("verify-full", "/ca.pem")
    assert "lock_timeout=10s" in options["options"] and options["options"].endswith("-c search_path=debt")


def test_a_database_may_have_several_hosts(read: Any) -> None:
    found = read(DATABASE_URL="postgres://u@one:5432,two:5433/name")["DATABASES"]["default"]

    assert (found["HOST"], found["PORT"]) == ("one,two", "5432,5433")


def test_a_database_that_has_no_tls_is_told_nothing_when_the_address_asks_for_tls(tmp_path: Path) -> None:
    with listening() as (port, heard):
        url = f"postgres://debt:secret@127.0.0.1:{port}/debt?sslmode=require"
        ended = run(tmp_path, "manage.py", "migrate", DATABASE_URL=url)

    assert ended.returncode != 0
    assert heard == [SSL_REQUEST]


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A PostgreSQL server without TLS, up to that answer; the bytes that it was sent."""
    heard: list[bytes] = []

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            heard.append(connection.recv(8))
            connection.sendall(b"N")
            if more := connection.recv(4096):
                heard.append(more)

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1], heard
        thread.join()


def test_a_redis_with_a_certificate_that_nobody_vouches_for_is_not_spoken_to(tmp_path: Path) -> None:
    connect = "from config.celery import app; app.connection().ensure_connection(max_retries=1, interval_start=0)"
    with tls_server(tmp_path) as (port, heard):
        ended = run(
            tmp_path, "-c", f"import django; django.setup(); {connect}", REDIS_URL=f"rediss://127.0.0.1:{port}/0"
        )

    assert ended.returncode != 0
    assert heard and not any(heard)


@pytest.mark.skipif(shutil.which("redis-server") is None, reason="no Redis on this machine")
def test_a_redis_that_throws_out_what_it_holds_is_refused_with_what_to_do(tmp_path: Path) -> None:
    port = free_port()
    server = ["redis-server", "--port", str(port), "--save", "", "--maxmemory-policy", "allkeys-lru"]

    with running(server, port=port, cwd=tmp_path):
        ended = run(tmp_path, "manage.py", "serve", "--only", "web", REDIS_URL=f"redis://127.0.0.1:{port}/0")

    assert ended.returncode == 1
    assert "maxmemory-policy allkeys-lru" in ended.stderr
    assert "set its maxmemory-policy to noeviction" in ended.stderr


@contextmanager
def tls_server(folder: Path) -> Iterator[tuple[int, list[bytes]]]:
    """A server with a certificate of its own making; what each connection said once TLS stood."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))
    heard: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(connection, server_side=True) as secured:
                    heard.append(secured.recv(100))
            except OSError:
                heard.append(b"")

    server = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield server.getsockname()[1], heard
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join()


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    file = folder / "certificate.pem"
    file.write_bytes(secret + made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return file


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("CARDPAY_WEBHOOK_SECERT", "Did you mean CARDPAY_WEBHOOK_SECRET?"),
        ("TRUSTED_PROXY_COUNTS", "Did you mean TRUSTED_PROXY_COUNT?"),
        ("CODEHOST2_SOMETHING_ELSE", "docs/operations.md lists the variables."),
    ],
)
def test_a_misspelt_variable_is_warned_of_without_what_it_holds(
    monkeypatch: pytest.MonkeyPatch, written: str, meant: str
) -> None:
    monkeypatch.setenv(written, "hunter2")

    (warning,) = (each for each in run_checks() if each.id == "config.W001")

    assert (warning.msg, warning.hint) == (f"The variable {written} is set, and nothing reads it", meant)


@pytest.mark.parametrize("name", ["API_URL", "REDIS_PORT", "POSTGRES_PASSWORD", "SECRET_KEY_FILE", "PATH"])
def test_variables_of_ours_and_of_others_are_no_misspelt_ones(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "hunter2")

    assert not [each for each in run_checks() if each.id == "config.W001"]
