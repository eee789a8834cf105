"""The dashboard's JavaScript modules and the addresses that browsers load them from.

Modules import each other by relative path. Files are served under names that carry a hash of their content, so an
import map (WHATWG HTML, section 8.1.6.2) tells the browser which name each path has now.
"""

from functools import cache
from pathlib import Path

import orjson
from django.conf import settings
from django.templatetags.static import static

STATIC = settings.BASE_DIR / "static"
# What every page needs is fetched at once, not one import after the other. Pages and charts come when asked for.
NEEDED_AT_ONCE = ("core", "data", "shell", "ui")


@cache
def import_map() -> str:
    """The import map as JSON."""
    imports = {f"{settings.STATIC_URL}{name}": static(name) for name in _names()}
    return orjson.dumps({"imports": imports}).decode()


@cache
def preloads() -> list[str]:
    """Addresses of the modules that every page needs."""
    return [static(name) for name in _names() if Path(name).parts[2] in NEEDED_AT_ONCE]


@cache
def _names() -> list[str]:
    """Every module as a name of a static file, such as `dashboard/js/core/router.js`."""
    return sorted(file.relative_to(STATIC).as_posix() for file in STATIC.glob("dashboard/js/**/*.js"))
