"""Where rate limits are counted when there is no Redis: a file beside the database."""

import pytest
from django.db import OperationalError

from accounts.counters import CounterCache


def counters_in(file):
    return CounterCache("", {"OPTIONS": {"file": file}})


def test_processes_that_share_the_file_share_the_count(tmp_path):
    one, other = (counters_in(tmp_path / "counters.sqlite3") for _ in range(2))

    assert (one.incr("caller"), other.incr("caller"), one.incr("another")) == (1, 2, 1)


def test_what_cannot_be_counted_is_told_as_a_database_that_is_away(tmp_path):
    with pytest.raises(OperationalError):
        counters_in(tmp_path / "absent" / "counters.sqlite3").incr("caller")
