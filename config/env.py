"""Typed readers of the environment that fail with a sentence.

A value may also stand in a file: `SECRET_KEY_FILE=/run/secrets/key` is read when `SECRET_KEY` is not set.
"""

import contextlib
import json
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from django.core.exceptions import ImproperlyConfigured
from environ import Env

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def read_dotenv(path: Path) -> None:
    """Take over the variables of a `.env` file that are not set already."""
    if path.is_file():
        Env.read_env(str(path))


def text(name: str, default: str = "") -> str:
    """A string; the content of the file named by `<name>_FILE` without its last line end when the variable is unset."""
    value = os.environ.get(name)
    file = os.environ.get(f"{name}_FILE")
    if value is None and file:
        return Path(file).read_text().rstrip("\r\n")
    return default if value is None else value


def boolean(name: str, default: bool) -> bool:
    """true/false, yes/no, on/off, 1/0 in any case."""
    value = text(name, str(default)).strip().lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")
    return value in TRUE


def integer(name: str, default: int, *, at_least: int = 0) -> int:
    """A whole number that is not too small."""
    value = text(name, str(default)).strip()
    if not value.lstrip("-").isdigit() or int(value) < at_least:
        raise ImproperlyConfigured(f"{name} must be a whole number of at least {at_least}, not {value!r}")
    return int(value)


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list; blanks and empty entries are dropped."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def mapping(name: str) -> dict[str, Any]:
    """A JSON object; an empty one when the variable is unset."""
    value = text(name) or "{}"
    try:
        parsed = json.loads(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a JSON object: {error}") from error
    if not isinstance(parsed, dict):
        raise ImproperlyConfigured(f"{name} must be a JSON object, not {value!r}")
    return parsed


def secret_key(file: Path) -> str:
    """SECRET_KEY, or one generated on the first start and kept in `file`, readable by its owner alone."""
    if given := text("SECRET_KEY"):
        return given
    if not file.exists():
        _create_once(file, secrets.token_urlsafe(64))
    return file.read_text()


def identity(file: Path) -> UUID:
    """A number that belongs to a folder: drawn on the first start and kept in `file`."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        _create_once(file, str(uuid4()))
    return UUID(file.read_text())


def _create_once(file: Path, content: str) -> None:
    # Web and worker may start together: a hard link appears whole or not at all, and the first one wins.
    descriptor, draft = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "w") as handle:
        handle.write(content)
    with contextlib.suppress(FileExistsError):
        os.link(draft, file)
    Path(draft).unlink()
