"""Typed readers of the environment that fail with a sentence.

A variable that is empty counts as not set, as tools leave it that pass on what they were not given. A value may also
stand in a file: `SECRET_KEY_FILE=/run/secrets/key` is read when `SECRET_KEY` is not set.
"""

import contextlib
import json
import os
import re
import secrets
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit
from uuid import UUID, uuid4

from django.core.exceptions import ImproperlyConfigured
from environ import Env

TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
LARGEST = 2**31 - 1
READ: set[str] = set()  # the names that were asked for so far, whether they are set or not


def read_dotenv(path: Path) -> None:
    """Take over the variables of a `.env` file that are not set already."""
    if path.is_file():
        Env.read_env(str(path))


def text(name: str, default: str = "") -> str:
    """A string; the content of the file named by `<name>_FILE` without its last line end when the variable is unset."""
    READ.update((name, f"{name}_FILE"))
    if value := os.environ.get(name):
        return value
    if file := os.environ.get(f"{name}_FILE"):
        return _content(Path(file), f"{name}_FILE")
    return default


def _content(file: Path, variable: str) -> str:
    try:
        content = file.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(f"{variable} names {file}, which cannot be read: {error}") from error
    if not content:
        raise ImproperlyConfigured(f"{variable} names {file}, which is empty")
    return content


def boolean(name: str, default: bool) -> bool:
    """true/false, yes/no, on/off, 1/0 in any case."""
    value = text(name, str(default)).strip().lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{name} must be true or false, not {value!r}")
    return value in TRUE


def integer(name: str, default: int, *, at_least: int = 0, at_most: int = LARGEST) -> int:
    """A whole number that is neither too small nor too large."""
    value = text(name, str(default)).strip()
    if not re.fullmatch(r"-?[0-9]{1,18}", value) or not at_least <= int(value) <= at_most:
        raise ImproperlyConfigured(f"{name} must be a whole number from {at_least} to {at_most}, not {value!r}")
    return int(value)


def choice(name: str, default: str, *, among: Collection[str]) -> str:
    """One of a few words, in capitals however it was written."""
    value = text(name, default).strip().upper()
    if value not in among:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(among)}, not {value!r}")
    return value


def address(name: str, default: str = "") -> str:
    """An http or https address without its last slash; an empty one when the variable is unset."""
    value = text(name, default).strip().rstrip("/")
    parts = _parts(value)
    if value and not (parts and parts.scheme in ("http", "https") and parts.hostname):
        raise ImproperlyConfigured(f"{name} must be an address like https://host/path, not {value!r}")
    return value


def database(name: str, default: str) -> dict[str, Any]:
    """Django's settings of a database by its address. What stands behind `?` goes to the client as it is."""
    value = text(name, default)
    try:
        if value.partition(":")[0] in ("postgres", "postgresql", "sqlite"):
            return dict(Env.db_url_config(value))
    except ValueError:  # a port that is no number; several hosts may have one each
        pass
    # The address may hold a password: it is not quoted.
    raise ImproperlyConfigured(f"{name} must be an address like postgres://user:password@host/name")


def redis(name: str) -> str:
    """The address of a Redis server, or an empty one. Over TLS its certificate is checked unless the address says
    otherwise: one of our clients would not do so by itself."""
    value = text(name).strip()
    parts = _parts(value)
    if value and (parts is None or parts.scheme not in ("redis", "rediss") or not parts.hostname):
        raise ImproperlyConfigured(f"{name} must be an address like redis://host:6379/0")
    if parts is None or parts.scheme != "rediss" or "ssl_cert_reqs" in parse_qs(parts.query):
        return value
    return parts._replace(query="&".join(filter(None, [parts.query, "ssl_cert_reqs=required"]))).geturl()


def mail(name: str) -> dict[str, Any]:
    """Django's settings of a mail server by its address; none when the variable is unset."""
    value = text(name).strip()
    parts = _parts(value)
    if value and (parts is None or parts.scheme not in Env.EMAIL_SCHEMES):
        raise ImproperlyConfigured(f"{name} must be an address like smtp+tls://user:password@host:587")
    return dict(Env.email_url_config(value)) if value else {}


def _parts(value: str) -> SplitResult | None:
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises where it is no number
    except ValueError:
        return None
    return parts


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list; blanks and empty entries are dropped."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def price_ids(name: str, *, sold: Collection[str]) -> dict[str, str]:
    """A JSON object that gives what is sold its id at a payment provider; an empty one when the variable is unset.

    Two that share an id could not be told apart when a provider names it.
    """
    value = text(name) or "{}"
    try:
        parsed = json.loads(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a JSON object: {error}") from error
    if not isinstance(parsed, dict):
        raise ImproperlyConfigured(f"{name} must be a JSON object, not {value!r}")
    if unknown := sorted(parsed.keys() - set(sold)):
        raise ImproperlyConfigured(f"{name} names {', '.join(unknown)}; it may name {', '.join(sold)}")
    if not all(isinstance(each, str) and each for each in parsed.values()):
        raise ImproperlyConfigured(f"{name} must give each of them the provider's id as a string")
    if len(set(parsed.values())) < len(parsed):
        raise ImproperlyConfigured(f"{name} gives two of them the same id")
    return parsed


def folder(name: str, default: Path) -> Path:
    """A folder, made when it is not there."""
    path = Path(text(name, str(default))).resolve()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name} names {path}, which cannot be made: {error.strerror}") from error
    return path


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
