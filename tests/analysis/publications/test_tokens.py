"""Credentials of the code hosts: minted when needed, kept encrypted, sent to their own host only."""

import base64
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from analysis.codehosts.calls import HostRefused
from analysis.codehosts.tokens import clone_authorization
from analysis.models import InstallationToken, Platform, Repository, Run
from tests.analysis.publications.conftest import waiting_run
from tests.providers.codehosts import TOKEN_OF_HOST2, CodeHost1, CodeHost2

pytestmark = pytest.mark.django_db


@pytest.fixture
def private(run: Run, host1: CodeHost1) -> Repository:
    """A repository that lies at its host."""
    run.repository.clone_url = f"{host1.url}/acme/shop.git"
    return run.repository


def user_and_password(header: str | None) -> str:
    assert header is not None
    assert header.startswith("Authorization: Basic ")
    return base64.b64decode(header.split()[-1]).decode()


class TestCloneAuthorization:
    def test_an_installation_reads_its_repositories(self, private: Repository) -> None:
        assert user_and_password(clone_authorization(private)) == "x-access-token:ghs_1"

    def test_code_host_2_takes_the_token_of_the_service(self, host2: CodeHost2, organization: Any) -> None:
        repository = waiting_run(organization, Platform.CODEHOST2).repository
        repository.clone_url = f"{host2.url}/acme/shop.git"

        assert user_and_password(clone_authorization(repository)) == f"oauth2:{TOKEN_OF_HOST2}"

    @pytest.mark.parametrize(
        "address",
        ["https://evil.example.org/acme/shop.git", "http://127.0.0.1:1/acme/shop.git", "file:///srv/shop.git", ""],
    )
    def test_no_other_address_is_told(self, private: Repository, host1: CodeHost1, address: str) -> None:
        private.clone_url = address

        assert clone_authorization(private) is None
        assert not host1.asked

    def test_without_an_installation_there_are_none(self, private: Repository) -> None:
        private.installation_id = ""

        assert clone_authorization(private) is None


class TestKeeping:
    def test_a_token_is_asked_for_once_an_hour(self, private: Repository, host1: CodeHost1) -> None:
        for _ in range(3):
            clone_authorization(private)
        assert host1.tokens == 1

        with time_machine.travel(timezone.now() + timedelta(minutes=56)):
            assert user_and_password(clone_authorization(private)).endswith("ghs_2")

    def test_it_cannot_be_read_in_the_database(self, private: Repository) -> None:
        clone_authorization(private)

        assert b"ghs_1" not in bytes(InstallationToken.objects.get().sealed)

    def test_another_secret_key_asks_anew(self, private: Repository, host1: CodeHost1, settings: Any) -> None:
        clone_authorization(private)
        settings.SECRET_KEY = "another-key-that-is-long-enough-for-the-checks"

        assert user_and_password(clone_authorization(private)).endswith("ghs_2")

    def test_a_key_that_is_none_is_named(self, private: Repository, settings: Any) -> None:
        settings.CODEHOST1_PRIVATE_KEY = "-----BEGIN nonsense"

        with pytest.raises(HostRefused, match="CODEHOST1_PRIVATE_KEY"):
            clone_authorization(private)

    def test_a_key_without_line_ends_is_read(self, private: Repository, settings: Any) -> None:
        settings.CODEHOST1_PRIVATE_KEY = settings.CODEHOST1_PRIVATE_KEY.replace("\n", "\\n")

        assert clone_authorization(private)
