"""Which code this is: answers that were made by other code may look different."""

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
READ = (".py", ".yml")  # modules, and the rule packs
APPS = ("accounts", "analysis", "billing", "config", "credits", "organizations")


@cache
def release() -> str:
    """The same on every machine that runs the same code, another one after a change of any module or rule pack."""
    digest = hashlib.sha256()
    for app in APPS:
        for file in sorted((ROOT / app).rglob("*")):
            if file.suffix in READ:
                digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
