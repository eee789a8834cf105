"""Code host 2: commit statuses and notes on merge requests in the name of a service account (REST API, version 4)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from analysis.codehosts.base import (
    CONTEXT,
    MOST_COMMENT_PAGES,
    PER_PAGE,
    OpenPullRequests,
    head_ref,
    read_open,
)
from analysis.codehosts.calls import HostFailed, HostRefused, Reply, call
from analysis.codehosts.facts import HostedRepository, PullRequestFact
from analysis.codehosts.words import Status
from analysis.models import Platform, PullRequest, Repository

# Its words for ours. A run without a verdict is none of the author's failures.
STATES = {"pending": "pending", "success": "success", "failure": "failed", "error": "canceled"}


class CodeHost2:
    """A `CodeHost`."""

    def set_status(self, pull_request: PullRequest, sha: str, status: Status, url: str) -> None:
        repository, state, ref = pull_request.repository, STATES[status.state], _status_ref(pull_request)
        body = {"state": state, "name": CONTEXT, "description": status.description, "target_url": url, "ref": ref}
        try:
            _call(repository, "POST", f"statuses/{sha}", body)
        except HostRefused as refusal:
            # The host counts saying the same again as an error; what it shows decides.
            if refusal.status != 400 or self._shown(repository, sha, ref) != state:
                raise

    def comments(self, repository: Repository, number: int) -> Iterator[tuple[str, str]]:
        order = f"sort=asc&order_by=created_at&per_page={PER_PAGE}"
        for page in range(1, MOST_COMMENT_PAGES + 1):
            listed = _call(repository, "GET", f"merge_requests/{number}/notes?{order}&page={page}").data
            for note in listed:
                if not note.get("system"):
                    yield str(note["id"]), str(note.get("body") or "")
            if len(listed) < PER_PAGE:
                return

    def add_comment(self, repository: Repository, number: int, body: str) -> str:
        reply = _call(repository, "POST", f"merge_requests/{number}/notes", {"body": body})
        try:
            return str(reply.data["id"])
        except (KeyError, TypeError) as error:
            raise HostFailed("The code host's answer held no id") from error

    def edit_comment(self, repository: Repository, number: int, comment_id: str, body: str) -> None:
        _call(repository, "PUT", f"merge_requests/{number}/notes/{comment_id}", {"body": body})

    def open_pull_requests(self, repository: Repository, etag: str = "") -> OpenPullRequests:
        return read_open(
            lambda page, mark: _call(repository, "GET", _open_path(page), etag=mark),
            lambda request: _fact(repository, request),
            etag,
        )

    def _shown(self, repository: Repository, sha: str, ref: str) -> str:
        path = f"repository/commits/{sha}/statuses?name={CONTEXT}&ref={quote(ref, safe='')}"
        listed = _call(repository, "GET", path).data
        return str(listed[0].get("status") or "") if listed else ""


def _status_ref(pull_request: PullRequest) -> str:
    """Where a status counts: the host keeps one for each branch of a commit, and takes any branch where none is named.

    The head of a fork is on no branch here; without the request's own ref its status would be refused.
    """
    is_own = pull_request.head_full_name.lower() == pull_request.repository.full_name.lower()
    return pull_request.head_ref if is_own and pull_request.head_ref else head_ref(pull_request)


def _call(repository: Repository, method: str, path: str, body: Any = None, *, etag: str = "") -> Reply:
    base = settings.CODEHOST2_API_URL.rstrip("/")
    project = repository.external_id or quote(repository.full_name, safe="")
    headers = {"PRIVATE-TOKEN": settings.CODEHOST2_TOKEN}
    if etag:
        headers["If-None-Match"] = etag
    return call(method, f"{base}/projects/{project}/{path}", headers=headers, body=body)


def _open_path(page: int) -> str:
    return f"merge_requests?state=opened&order_by=updated_at&sort=desc&per_page={PER_PAGE}&page={page}"


def _fact(repository: Repository, request: dict[str, Any]) -> PullRequestFact:
    """One entry of the list. It names forks by number only: a fork is told from its own project by that."""
    try:
        is_own = request["source_project_id"] == request["target_project_id"]
        hosted = HostedRepository(
            platform=Platform.CODEHOST2,
            external_id=str(request["target_project_id"]),
            full_name=repository.full_name,
            is_private=True,  # the list does not tell
        )
        return PullRequestFact(
            repository=hosted,
            occurred_at=parse_datetime(request["updated_at"]) or timezone.now(),
            number=int(request["iid"]),
            title=str(request.get("title") or ""),
            author=str((request.get("author") or {}).get("username") or ""),
            head_sha=request["sha"],
            head_ref=request["source_branch"],
            head_full_name=repository.full_name if is_own else "",
            base_ref=request["target_branch"],
            base_sha="",
            is_open=True,
            is_draft=bool(request.get("draft") or request.get("work_in_progress")),
            is_merged=False,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise HostFailed("The code host's list of merge requests makes no sense") from error
