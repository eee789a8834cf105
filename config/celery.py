"""The Celery application; config.timetable says when it runs what nobody asks for."""

import contextlib
import os
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import setup_logging, worker_init

from config import broker, stopping  # noqa: F401 - it hears the signals of the worker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Where a web server shares the machine, its answers come before the work behind them.
NICENESS = 10

broker.install()
app = Celery("config", amqp=broker.Amqp)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def _log_as_everywhere(**_: Any) -> None:
    """That somebody listens keeps Celery from putting a level of its own over LOG_LEVEL."""


@worker_init.connect
def _step_back(**_: Any) -> None:
    os.nice(NICENESS)
    if os.getsid(0) == os.getpid():
        # Linux weighs sessions before it weighs processes (sched(7), autogroup).
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(NICENESS))
