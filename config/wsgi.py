"""The WSGI application that the web server loads."""

import gc
import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from config.celery import app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

application = get_wsgi_application()
# A process that answers has everything loaded: its first request must not wait for half a second of imports.
import_module(settings.ROOT_URLCONF)
app.loader.import_default_modules()
# What was loaded stays: collecting garbage among it would stop every answer for a tenth of a second, again and again.
gc.collect()
gc.freeze()
