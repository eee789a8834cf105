"""Django's SQLite backend, where everybody who waits to write gets a turn. (Django wants the module to have this name.)

SQLite itself lets a waiting connection sleep longer after each try, up to a tenth of a second, so whoever has just come
gets the write lock before whoever has waited for seconds, and some wait until they give up. Here every transaction asks
again after a pause of random length, and the longer it has waited the more often it asks.
"""

import random
import time

from django.db.backends.sqlite3 import base
from django.db.utils import OperationalError

# Of one that has just come; half of it after a second, a tenth after nine.
LONGEST_PAUSE_SECONDS = 0.05


class DatabaseWrapper(base.DatabaseWrapper):
    def _start_transaction_under_autocommit(self) -> None:
        """Begin a transaction; OperationalError when the write lock was not free within the option `timeout`."""
        seconds = self.settings_dict["OPTIONS"]["timeout"]
        began = time.monotonic()
        self._let_sqlite_wait(0)
        try:
            while not self._begins(give_up=(waited := time.monotonic() - began) >= seconds):
                time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS / (1 + waited)))  # noqa: S311 - a pause, no secret
        finally:
            self._let_sqlite_wait(seconds)

    def _begins(self, *, give_up: bool) -> bool:
        # No cursor of Django's: a crowd asks thousands of times a second.
        try:
            with self.wrap_database_errors:
                self.connection.execute(f"BEGIN {self.transaction_mode}")  # type: ignore[attr-defined]  # the stubs miss it
        except OperationalError as error:
            if give_up or "locked" not in str(error):
                raise
            return False
        return True

    def _let_sqlite_wait(self, seconds: float) -> None:
        self.connection.execute(f"PRAGMA busy_timeout={round(seconds * 1000)}")
