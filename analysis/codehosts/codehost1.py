"""Code host 1: statuses, comments and check runs in the name of the App (REST API, version 2022-11-28)."""

from collections.abc import Iterator, Sequence
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
    read_open,
)
from analysis.codehosts.calls import HostFailed, NotPermitted, Reply, call
from analysis.codehosts.facts import HostedRepository, PullRequestFact
from analysis.codehosts.tokens import forget_token, installation_token
from analysis.codehosts.words import Annotation, CheckRun, Status
from analysis.models import Platform, PullRequest, Repository


class CodeHost1:
    """A `CodeHost` that has check runs too: pages of their own, with remarks in the diff."""

    def set_status(self, pull_request: PullRequest, sha: str, status: Status, url: str) -> None:
        body = {"state": status.state, "description": status.description, "target_url": url, "context": CONTEXT}
        _call(pull_request.repository, "POST", f"statuses/{sha}", body)

    def comments(self, repository: Repository, number: int) -> Iterator[tuple[str, str]]:
        for page in range(1, MOST_COMMENT_PAGES + 1):
            listed = _call(repository, "GET", f"issues/{number}/comments?per_page={PER_PAGE}&page={page}").data
            for comment in listed:
                if _may_be_ours(comment):
                    yield str(comment["id"]), str(comment.get("body") or "")
            if len(listed) < PER_PAGE:
                return

    def add_comment(self, repository: Repository, number: int, body: str) -> str:
        return _id(_call(repository, "POST", f"issues/{number}/comments", {"body": body}))

    def edit_comment(self, repository: Repository, number: int, comment_id: str, body: str) -> None:
        _call(repository, "PATCH", f"issues/comments/{comment_id}", {"body": body})

    def add_check_run(self, repository: Repository, sha: str, check_run: CheckRun, *, url: str, reference: str) -> str:
        """Make a finished check run without annotations; its id. `reference` is our name for it."""
        body = {
            "name": CONTEXT,
            "head_sha": sha,
            "external_id": reference,
            "details_url": url,
            "status": "completed",
            "conclusion": check_run.conclusion,
            "output": _output(check_run),
        }
        return _id(_call(repository, "POST", "check-runs", body))

    def find_check_run(self, repository: Repository, sha: str, reference: str) -> tuple[str, int] | None:
        """Id and number of annotations of the check run that we called so."""
        path = f"commits/{sha}/check-runs?check_name={CONTEXT}&filter=all&per_page={PER_PAGE}"
        for check_run in _call(repository, "GET", path).data["check_runs"]:
            if check_run.get("external_id") == reference:
                return str(check_run["id"]), int(check_run["output"].get("annotations_count") or 0)
        return None

    def annotate(
        self, repository: Repository, check_run_id: str, check_run: CheckRun, batch: Sequence[Annotation]
    ) -> None:
        """Add annotations, at most 50 at once."""
        output = {**_output(check_run), "annotations": [_annotation(each) for each in batch]}
        _call(repository, "PATCH", f"check-runs/{check_run_id}", {"output": output})

    def open_pull_requests(self, repository: Repository, etag: str = "") -> OpenPullRequests:
        return read_open(
            lambda page, mark: _call(repository, "GET", _open_path(page), etag=mark),
            lambda request: _fact(repository, request),
            etag,
        )


def _call(repository: Repository, method: str, path: str, body: Any = None, *, etag: str = "") -> Reply:
    base = settings.CODEHOST1_API_URL.rstrip("/")
    headers = {
        "Authorization": f"Bearer {installation_token(repository.installation_id)}",
        "Accept": "application/vnd.github+json",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    if etag:
        headers["If-None-Match"] = etag
    try:
        return call(method, f"{base}/repos/{quote(repository.full_name)}/{path}", headers=headers, body=body)
    except NotPermitted as refusal:
        if refusal.status == 401:  # taken back before its end: the next attempt gets another one
            forget_token(repository.installation_id)
            raise HostFailed(str(refusal)) from refusal
        raise


def _open_path(page: int) -> str:
    return f"pulls?state=open&sort=updated&direction=desc&per_page={PER_PAGE}&page={page}"


def _id(reply: Reply) -> str:
    try:
        return str(reply.data["id"])
    except (KeyError, TypeError) as error:
        raise HostFailed("The code host's answer held no id") from error


def _may_be_ours(comment: dict[str, Any]) -> bool:
    """Where the host names the App that wrote a comment, it has to be this one."""
    app = comment.get("performed_via_github_app")
    return not app or str(app.get("id")) == settings.CODEHOST1_APP_ID


def _output(check_run: CheckRun) -> dict[str, Any]:
    return {"title": check_run.title, "summary": check_run.summary}


def _annotation(annotation: Annotation) -> dict[str, Any]:
    return {
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": annotation.level,
        "title": annotation.title,
        "message": annotation.message,
    }


def _fact(repository: Repository, request: dict[str, Any]) -> PullRequestFact:
    """One entry of the list; a request that is read from it is open and not merged."""
    try:
        base = request["base"]["repo"]
        hosted = HostedRepository(
            platform=Platform.CODEHOST1,
            external_id=str(base["id"]),
            full_name=base["full_name"],
            clone_url=str(base.get("clone_url") or ""),
            default_branch=str(base.get("default_branch") or ""),
            installation_id=repository.installation_id,
            is_private=bool(base.get("private")),
        )
        return PullRequestFact(
            repository=hosted,
            occurred_at=parse_datetime(request["updated_at"]) or timezone.now(),
            number=int(request["number"]),
            title=str(request.get("title") or ""),
            author=str((request.get("user") or {}).get("login") or ""),
            head_sha=request["head"]["sha"],
            head_ref=request["head"]["ref"],
            head_full_name=str((request["head"].get("repo") or {}).get("full_name") or ""),
            base_ref=request["base"]["ref"],
            base_sha=request["base"]["sha"],
            is_open=True,
            is_draft=bool(request.get("draft")),
            is_merged=False,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise HostFailed("The code host's list of pull requests makes no sense") from error
