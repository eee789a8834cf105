"""Log lines as the service writes them."""

import logging
from logging.config import DictConfigurator
from typing import Any

from config.logging import logging_config


def formatter() -> logging.Formatter:
    """The one that standard error gets."""
    config = logging_config("INFO")
    made: Any = DictConfigurator(config).configure_formatter(config["formatters"]["json"])  # type: ignore[no-untyped-call]
    return made
