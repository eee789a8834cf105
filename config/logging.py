"""Structured logs: one JSON object a line on standard error, with the id of the request."""

import logging
from typing import Any

import structlog
from structlog.typing import Processor

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.format_exc_info,
]


class WithoutPath(logging.Filter):
    """Takes the path out of "Internal Server Error: /v1/..": it may hold the token of an invitation, and be long."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.msg in ("%s: %s", "Forbidden (%s): %s") and isinstance(record.args, tuple):
            record.msg, record.args = record.msg.removesuffix(": %s"), record.args[:1]
        return True


def logging_config(level: str) -> dict[str, Any]:
    """Django's LOGGING: everything from `level` (INFO, WARNING, ...) on goes to standard error."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processor": structlog.processors.JSONRenderer(),
                "foreign_pre_chain": SHARED,
            }
        },
        "filters": {"without path": {"()": WithoutPath}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django logs each 4xx as a warning; our own request log has them already.
            "django.request": {"level": "ERROR", "filters": ["without path"]},
            "django.security.csrf": {"filters": ["without path"]},
            # Celery writes several lines about every task, and ours run every few seconds.
            **{name: {"level": level if level in LEVELS[-2:] else "WARNING"} for name in ("celery", "kombu")},
            # Writes whole addresses, and those of providers may hold a code or a token.
            "httpx": {"level": "WARNING"},
        },
    }


def configure_structlog() -> None:
    """Send structlog's events through the standard library, so that all lines share one format."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
