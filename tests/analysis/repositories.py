"""Real git repositories for tests: files, authors and dates as a test needs them."""

import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path

SHOP = {
    "shop/models.py": """
from django.db import models


class Order(models.Model):
    region = models.CharField(max_length=20)
""",
    "shop/client.py": """
import requests


def rates(region, seen=[]):
    seen.append(region)
    try:
        return requests.get(f"https://rates.example.org/{region}").json()
    except Exception:
        pass
""",
    "shop/orders.py": """
from shop import client
from shop.models import Order


def total(orders):
    return sum(client.rates(order.region) for order in orders)
""",
    "README.md": "# Shop\n",
}


def busy(version: int) -> str:
    """A version of a file that is hard to follow, so that many of them make a hotspot."""
    branches = "".join(f"    if code == {number}:\n        return {number + version}\n" for number in range(60))
    return f"def worth(code):\n{branches}    return 0\n"


@dataclass(frozen=True)
class GitRepository:
    """A work tree in a temporary folder."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> "GitRepository":
        folder.mkdir(parents=True)
        repository = cls(folder)
        repository.git("init", "-q", "-b", "main")
        return repository

    @property
    def url(self) -> str:
        return self.folder.as_uri()

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def commit(
        self, files: dict[str, str | bytes | None], *, on: date, message: str = "Change", by: str = "Ada"
    ) -> str:
        """Write (or with None delete) files and commit them at noon of a day; the commit's hash."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "-A")
        stamp = datetime.combine(on, time(12), UTC).isoformat()
        self.git("commit", "-q", "--allow-empty", "-m", message, by=by, at=stamp)
        return self.head

    def move(self, old: str, new: str) -> None:
        (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)

    def git(self, *arguments: str, by: str = "Ada", at: str = "") -> str:
        person = {"NAME": by, "EMAIL": f"{by.lower()}@example.org", "DATE": at}
        environment = {
            f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items() if value
        }
        done = subprocess.run(
            ["git", "-C", str(self.folder), *arguments],
            env={**os.environ, **environment, "HOME": str(self.folder), "GIT_CONFIG_NOSYSTEM": "1"},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout
