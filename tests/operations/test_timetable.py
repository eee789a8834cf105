"""The timetable: each of its entries names a task that runs on a service where nothing is due."""

from copy import copy
from datetime import UTC, datetime, timedelta

import pytest
from celery.schedules import schedule
from django.conf import settings

from config.celery import app

app.loader.import_default_modules()
TASKS = sorted({entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()})


@pytest.mark.django_db
@pytest.mark.parametrize("name", TASKS)
def test_every_task_of_the_timetable_runs(name: str) -> None:
    assert app.tasks[name].delay().successful()


MIDNIGHT = datetime(2026, 11, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    ("task", "times"),
    [("billing.tasks.reconcile", 1), ("billing.tasks.reconcile_overdue", 24), ("webhooks.tasks.forget_events", 24)],
)
def test_what_comes_seldom_comes_though_workers_are_replaced_every_half_an_hour(task: str, times: int) -> None:
    """A worker in a container that is replaced begins with an empty folder: it does not know when a task last ran."""
    (plan,) = (entry["schedule"] for entry in settings.CELERY_BEAT_SCHEDULE.values() if entry["task"] == task)
    plan = schedule(plan) if isinstance(plan, timedelta) else copy(plan)
    ran = 0
    for minute in range(24 * 60):
        now = MIDNIGHT + timedelta(minutes=minute)
        if minute % 30 == 0:
            last_ran_at = now
        plan.nowfun = lambda now=now: now
        if plan.is_due(last_ran_at).is_due:
            ran, last_ran_at = ran + 1, now

    assert ran == times
