"""The Celery application. Its timetable stands in the settings (CELERY_BEAT_SCHEDULE)."""

import os

from celery import Celery

from config import broker, stopping  # noqa: F401 - it hears the signals of the worker

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

broker.install()
app = Celery("config")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
