"""A code host as the service meets it: a real git repository, and deliveries that tell of its pull requests."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from tests.analysis.repositories import GitRepository
from tests.webhooks import deliveries
from webhooks import inbox

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
REPOSITORY_ID = 186853002
INSTALLATION_ID = 9001
_minutes = count(1)


def deliver(event: str, payload: dict[str, Any], **how: Any) -> None:
    """Send a signed delivery of code host 1 to the receiver, and work on it."""
    response = deliveries.codehost1(event, payload, **how).send()
    assert response.status_code == 200, response.content
    inbox.drain()


@dataclass
class PullRequest:
    """A pull request at the host, told to the service event by event."""

    source: GitRepository
    number: int = 7
    branch: str = "feature"
    base: str = "main"
    title: str = "Add prices"
    is_draft: bool = False
    is_fork: bool = False
    is_private: bool = False
    full_name: str = "acme/shop"
    changes: dict[str, Any] = field(default_factory=dict)

    def tell(self, action: str, *, at: datetime | None = None, head: str = "", **changes: Any) -> str:
        """Deliver `pull_request.<action>`: each later than the one before unless `at` says when. Returns the head."""
        head = head or self.publish()
        deliver("pull_request", self.payload(action, at or NOON + timedelta(minutes=next(_minutes)), head, **changes))
        return head

    def publish(self) -> str:
        """Let the host's own ref of the pull request stand where the branch does."""
        head = self.source.git("rev-parse", self.branch).strip()
        self.source.git("update-ref", f"refs/pull/{self.number}/head", head)
        return head

    def payload(self, action: str, at: datetime, head: str, **changes: Any) -> dict[str, Any]:
        request = {
            "number": self.number,
            "state": "closed" if action == "closed" else "open",
            "title": self.title,
            "user": {"login": "dana"},
            "draft": self.is_draft,
            "merged": False,
            "updated_at": at.isoformat(),
            "head": {"sha": head, "ref": self.branch, "repo": {"full_name": self._head_name()}},
            "base": {"sha": self.source.git("rev-parse", self.base).strip(), "ref": self.base},
            **changes,
        }
        return {
            "action": action,
            "number": self.number,
            "pull_request": request,
            "repository": hosted(self.full_name, self.is_private),
            "installation": {"id": INSTALLATION_ID},
        }

    def _head_name(self) -> str:
        return "dana/shop" if self.is_fork else self.full_name


def hosted(full_name: str = "acme/shop", is_private: bool = False, **changes: Any) -> dict[str, Any]:
    """A repository in a payload."""
    clone_url = f"https://codehost.example/{full_name}.git"
    names = {"full_name": full_name, "clone_url": clone_url, "default_branch": "main"}
    return {"id": REPOSITORY_ID, "private": is_private, **names, **changes}
