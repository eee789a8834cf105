"""The service's settings with what only tests need. Password hashing stays real: cheap hashes would hide timing."""

import os
from urllib.parse import urlsplit

# Each test process clears its caches, so each has a Redis database of its own.
if redis_url := os.environ.get("REDIS_URL"):
    server = urlsplit(redis_url)
    number = int(server.path.strip("/") or 0) + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    os.environ["REDIS_URL"] = server._replace(path=f"/{number}").geturl()

from config.settings import *

# A nudge runs its task in the same process, at the commit.
CELERY_TASK_ALWAYS_EAGER = True
CELERY_TASK_EAGER_PROPAGATES = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
# Every test calls from the same address: the limits are on where a test is about them (fixture `rate_limits`).
RATELIMIT_ENABLE = False
CACHES["hints"] = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "hints"}
if "file" in CACHES["counters"].get("OPTIONS", {}):
    CACHES["counters"]["OPTIONS"]["file"] = (
        VAR_DIR / f"counters-test-{os.environ.get('PYTEST_XDIST_WORKER', '')}.sqlite3"
    )
# WhiteNoise warns when the folder is missing, and a warning is an error here.
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
