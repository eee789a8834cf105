"""Django's cache in Redis with one client for all calls: Django makes one for each, which takes longer than to ask."""

from functools import cached_property
from typing import Any

from django.core.cache.backends import redis


class _Client(redis.RedisCacheClient):
    def get_client(self, key: Any = None, *, write: bool = False) -> Any:
        return self._of_the_only_server

    @cached_property
    def _of_the_only_server(self) -> Any:
        return super().get_client()


class RedisCache(redis.RedisCache):
    """For a single server, which is all that REDIS_URL names."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client
