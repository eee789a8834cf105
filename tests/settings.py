"""The service's settings with what only tests need. Password hashing stays real: cheap hashes would hide timing."""

import os

from config.settings import *

# A nudge runs its task in the same process, at the commit.
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
# Every test calls from the same address: the limits are on where a test is about them (fixture `rate_limits`).
RATELIMIT_ENABLE = False
if "file" in CACHES["counters"].get("OPTIONS", {}):
    CACHES["counters"]["OPTIONS"]["file"] = (
        VAR_DIR / f"counters-test-{os.environ.get('PYTEST_XDIST_WORKER', '')}.sqlite3"
    )
# WhiteNoise warns when the folder is missing, and a warning is an error here.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
