"""Django's PostgreSQL backend without a round trip before each request. (Django wants the module to have this name.)

Django asks a kept connection `SELECT 1` before it is used again. A server that ends a connection says so on it first,
so one that has said nothing needs no asking.
"""

import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """Whether the connection can be used: asked of the server only after an error, or where it said something."""
        connection = self.connection
        if connection is None or connection.closed or self.errors_occurred:
            return super().is_usable()
        unasked = select.poll()
        unasked.register(connection.fileno(), select.POLLIN)
        return not unasked.poll(0) or super().is_usable()
