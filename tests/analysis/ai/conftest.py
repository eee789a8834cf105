"""A model on the loopback, and a scanned repository whose organization has credits."""

from collections.abc import Iterator
from typing import Any

import pytest

from analysis.models import Repository
from tests.analysis.ai.asking import give
from tests.analysis.repositories import GitRepository
from tests.providers.chat import Chat
from tests.providers.loopback import serving


@pytest.fixture
def chat(settings: Any) -> Iterator[Chat]:
    """The model on the loopback, with a time limit that a test can wait for."""
    with serving(Chat) as server:
        settings.AI_BASE_URL, settings.AI_MODEL, settings.AI_API_KEY = server.base_url, "small-1", "key-of-the-service"
        settings.AI_TIMEOUT_SECONDS, settings.AI_CALLS_AT_ONCE = 5, 4
        yield server
        server.go_on.set()


@pytest.fixture
def repository(connect: Any, shop: GitRepository, organization: Any) -> Repository:
    """Scanned, in an organization with 100 credits."""
    give(organization, 100)
    made: Repository = connect(shop)
    return made
