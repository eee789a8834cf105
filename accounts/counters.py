"""Where rate limits are counted: Redis, or a SQL table when there is none or it is away.

Counting must be exact among threads and web processes, so each place counts in one atomic step. A count may start anew
when Redis goes or comes back in the middle of a window; it fails only with the database (OperationalError).
"""

import contextlib
import sqlite3
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from django.core.cache.backends.base import BaseCache
from django.db import OperationalError, connection
from redis import Redis
from redis.exceptions import RedisError

LONGEST_WINDOW = timedelta(seconds=90)
CREATE = """CREATE TABLE IF NOT EXISTS accounts_ratecounter
    (key TEXT PRIMARY KEY, count INTEGER NOT NULL, expires_at TEXT NOT NULL)"""
COUNT = """INSERT INTO accounts_ratecounter (key, count, expires_at) VALUES (%s, %s, %s)
    ON CONFLICT (key) DO UPDATE SET count = accounts_ratecounter.count + excluded.count RETURNING count"""
EXPIRE = "DELETE FROM accounts_ratecounter WHERE expires_at < %s"
CLEAR = "DELETE FROM accounts_ratecounter"

# One step for Redis, in which nobody else counts.
COUNT_IN_REDIS = """local count = redis.call('INCRBY', KEYS[1], ARGV[1])
    if count == tonumber(ARGV[1]) then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
    return count"""

log = structlog.get_logger("counters")


class CounterCache(BaseCache):
    """The part of a cache that django-ratelimit asks for: add and incr of counters that live about a minute.

    `LOCATION` is a Redis address or empty. `OPTIONS["file"]` names an SQLite file for the SQL table; without it the
    table is the one in the database. The file is for databases on SQLite, where a count would otherwise wait for every
    long transaction.
    """

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        options = dict(params.get("OPTIONS", {}))
        self.sql = _File(options.pop("file")) if "file" in options else _Database()
        super().__init__(params)
        self.redis = Redis.from_url(location, **options) if location else None
        self._count_in_redis = self.redis.register_script(COUNT_IN_REDIS) if self.redis else None

    def add(self, key: str, value: int, timeout: Any = None, version: int | None = None) -> bool:
        """Nothing, and False as if the counter stood already: `incr` starts those that do not."""
        return False

    def incr(self, key: str, delta: int = 1, version: int | None = None) -> int:
        """Count for a window of at most LONGEST_WINDOW and return the new figure."""
        return self.count(self.make_key(key, version), by=delta, keep=LONGEST_WINDOW)

    def count(self, key: str, *, by: int = 1, keep: timedelta) -> int:
        """Count and return the new figure, which is forgotten so long after the first count."""
        if self._count_in_redis is not None:
            try:
                return int(self._count_in_redis([key], [by, int(keep.total_seconds())]))
            except RedisError as error:
                log.warning("Redis is away; limits are counted in SQL", error=type(error).__name__)
        return int(self.sql.execute(COUNT, [key, by, datetime.now(UTC) + keep])[0][0])

    def clear_expired(self) -> None:
        """Remove what SQL counted in windows that are over."""
        self.sql.execute(EXPIRE, [datetime.now(UTC)])

    def clear(self) -> None:
        if self.redis is not None:
            with contextlib.suppress(RedisError):
                self.redis.flushdb()
        self.sql.execute(CLEAR, [])


class _Database:
    """The table of the model RateCounter."""

    def execute(self, sql: str, values: Sequence[Any]) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall()) if cursor.description else []


class _File:
    """The same table in an SQLite file of its own; a crash may forget it, so nothing waits for the disk."""

    def __init__(self, path: Any) -> None:
        self.path = path
        self.local = threading.local()

    def execute(self, sql: str, values: Sequence[Any]) -> list[Any]:
        """What cannot be counted is not let through: the caller reads that the database is away."""
        plain = [value.isoformat() if isinstance(value, datetime) else value for value in values]
        try:
            return list(self._connection().execute(sql.replace("%s", "?"), plain).fetchall())
        except sqlite3.OperationalError as error:
            raise OperationalError(*error.args) from error

    def _connection(self) -> sqlite3.Connection:
        opened: sqlite3.Connection | None = getattr(self.local, "connection", None)
        if opened is None:
            opened = sqlite3.connect(self.path, timeout=20, isolation_level=None)
            opened.execute("PRAGMA journal_mode=WAL")
            opened.execute("PRAGMA synchronous=OFF")
            opened.execute(CREATE)
            self.local.connection = opened
        return opened
