"""The timetable: each of its entries names a task that runs on a service where nothing is due."""

import pytest
from django.conf import settings

from config.celery import app

app.loader.import_default_modules()
TASKS = sorted({entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()})


@pytest.mark.django_db
@pytest.mark.parametrize("name", TASKS)
def test_every_task_of_the_timetable_runs(name: str) -> None:
    assert app.tasks[name].delay().successful()
