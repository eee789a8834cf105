"""A repository is disconnected while somebody else still works on it."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from django.db import connections

from analysis.models import Platform, Repository, Run, RunKind
from analysis.services.repositories import disconnect_repository
from tests import factories

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("connections['default'].vendor != 'postgresql'", reason="on SQLite only one writes at a time"),
]


def test_a_run_that_is_queued_meanwhile_goes_with_its_repository(just_before):
    repository = Repository.objects.create(
        organization=factories.organization(), full_name="acme/shop", platform=Platform.GIT
    )

    def queue_a_run():
        Run.objects.create(
            repository_id=repository.pk,
            organization_id=repository.organization_id,
            kind=RunKind.SCAN,
            queued_at=datetime.now(UTC),
        )
        connections.close_all()

    def queue_elsewhere():
        with ThreadPoolExecutor(1) as elsewhere:
            elsewhere.submit(queue_a_run).result()

    with just_before('DELETE FROM "analysis_repository"', queue_elsewhere):
        disconnect_repository(repository=repository)

    assert not Repository.objects.exists()
    assert not Run.objects.exists()
