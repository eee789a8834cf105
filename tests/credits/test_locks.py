"""The account is locked in a way that keeps out other writers and nobody else."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from credits.locks import lock_account

pytestmark = pytest.mark.django_db


def test_the_lock_lets_rows_that_point_at_the_account_come_in(credited):
    if not connection.features.has_select_for_update:
        pytest.skip("SQLite holds its one write lock instead")

    with CaptureQueriesContext(connection) as queries, transaction.atomic():
        lock_account(credited)

    assert 'FOR NO KEY UPDATE OF "credits_creditaccount"' in queries.captured_queries[1]["sql"]
