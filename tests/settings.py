"""The service's settings with what only tests need: cheap password hashes would hide timing, so hashing stays real."""

from config.settings import *  # noqa: F403

# Tests enqueue for real and run the task in the same process.
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}  # noqa: F405
