"""Foreign bytes to text that can be stored, shown and compared: paths, people, subjects, branch names.

A path keeps its text when it is clean UTF-8. In any other path each odd component loses what cannot be shown and gains
U+FFFD, `~` and 24 hexadecimal digits of the SHA-256 of its bytes, before the extension: `caf\\xe9.py` becomes
`caf\\ufffd\\ufffd~4e1f….py`. A component that holds U+FFFD itself counts as odd, so no clean path can look like a
changed one, and two different paths never become the same text.
"""

import hashlib
import re

COMPONENT_CHARACTERS = 120
TEXT_CHARACTERS = 500

_REPLACEMENT = "\ufffd"
# Control characters, and the invisible ones that turn the direction of text or break lines.
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
_HASH = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF = re.compile(
    r"(?!(?:HEAD|@)\Z)(?!.*(?://|\.\.|@\{|/\.|\.lock(?:/|\Z)))"
    r"[^\x00-\x20\x7f~^:?*\[\\/.-][^\x00-\x20\x7f~^:?*\[\\]{0,240}(?<![./])\Z"
)


def decode_path(raw: bytes) -> str:
    """The text of a path; different bytes give different text."""
    try:
        path = raw.decode()
    except UnicodeDecodeError:
        return "/".join(map(_decode_component, raw.split(b"/")))
    if _REPLACEMENT not in path and ((path.isascii() and path.isprintable()) or not _UNSHOWABLE.search(path)):
        return path
    return "/".join(map(_decode_component, raw.split(b"/")))


def decode_text(raw: bytes, characters: int = TEXT_CHARACTERS) -> str:
    """A name or subject: invalid UTF-8 replaced, controls removed, cut to `characters`."""
    # No character takes more than four bytes, so the rest of an endless line is not even decoded.
    return _UNSHOWABLE.sub("", raw[: 8 * characters].decode("utf-8", "replace"))[:characters].strip()


def is_sane_path(raw: bytes) -> bool:
    """Whether a path stays inside its tree: no absolute path, no empty, `.` or `..` component."""
    if not raw or raw.startswith(b"/"):
        return False
    if b"//" not in raw and b"." not in raw:
        return not raw.endswith(b"/")
    return not {b"", b".", b".."}.intersection(raw.split(b"/"))


def is_hash(name: str) -> bool:
    """Whether `name` is the whole hash of an object, SHA-1 or SHA-256."""
    return bool(_HASH.match(name))


def is_branch_name(name: str) -> bool:
    """Whether git accepts `name` as the name of a branch (the rules of `git check-ref-format`)."""
    return bool(_REF.match(name))


def _decode_component(raw: bytes) -> str:
    shown = raw.decode("utf-8", "replace")
    clean = _UNSHOWABLE.sub("", shown)
    if clean == shown and _REPLACEMENT not in shown:
        return shown
    stem, dot, extension = clean.rpartition(".")
    if not stem or len(extension) > 12:
        stem, dot, extension = clean, "", ""
    mark = hashlib.sha256(raw).hexdigest()[:24]
    return f"{stem[:COMPONENT_CHARACTERS]}{_REPLACEMENT}~{mark}{dot}{extension}"
