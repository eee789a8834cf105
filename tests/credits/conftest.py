"""An organization with a month of 500 credits."""

from datetime import UTC, datetime
from typing import Any

import pytest

from credits import services
from credits.models import CreditAccount
from organizations.models import Organization

START, END = datetime(2026, 11, 15, 10, tzinfo=UTC), datetime(2026, 12, 15, 10, tzinfo=UTC)


def month(credits: int = 500, window: str = "sub_1:2026-11") -> services.Allocation:
    return services.Allocation(credits=credits, window=window, starts_at=START, ends_at=END)


def account_of(organization: Organization) -> CreditAccount:
    return CreditAccount.objects.get(organization=organization)


@pytest.fixture
def credited(organization: Any) -> Organization:
    """The organization's month has begun with 500 credits."""
    services.allocate(organization=organization, allocation=month())
    made: Organization = organization
    return made
