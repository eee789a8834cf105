"""Which code this is: answers that were made by other code may look different."""

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPS = ("accounts", "analysis", "billing", "config", "credits", "organizations")


@cache
def release() -> str:
    """The same on every machine that runs the same code, another one after a change of any module."""
    digest = hashlib.sha256()
    for app in APPS:
        for file in sorted((ROOT / app).rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
