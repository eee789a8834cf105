"""The Celery application; config.timetable says when it runs what nobody asks for."""

import contextlib
import os
import warnings
from pathlib import Path
from typing import Any

from celery import Celery, Task
from celery.exceptions import SecurityWarning
from celery.signals import setup_logging, task_prerun, worker_init
from django.db import close_old_connections

from config import broker, stopping  # noqa: F401 - it hears the signals of the worker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

# Where a web server shares the machine, its answers come before the work behind them.
NICENESS = 10

# Celery warns of workers that root starts: whoever could send them a pickle would be root. They accept JSON alone.
warnings.filterwarnings("ignore", category=SecurityWarning)

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


@task_prerun.connect
def _have_connections_checked(task: Task, **_: Any) -> None:
    """Connections are kept from task to task (CELERY_DB_REUSE_MAX): one that the database has ended is made anew."""
    if not task.request.is_eager:  # one that its caller runs by itself shares the caller's transaction
        close_old_connections()
