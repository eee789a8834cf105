"""The verbs that we use of a code host. Every one may raise HostFailed in one of its kinds (`calls`)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from analysis.codehosts.calls import HostFailed, Reply
from analysis.codehosts.facts import PullRequestFact
from analysis.codehosts.words import Status
from analysis.models import Platform, PullRequest, Repository

CONTEXT = "technical-debt"  # how the status and the check run are called at the host
# The ref under which each host offers the head of a pull request, also of one from a fork.
HEAD_REFS = {Platform.CODEHOST1: "refs/pull/{number}/head", Platform.CODEHOST2: "refs/merge-requests/{number}/head"}
PER_PAGE = 100
# Comments looked through for one of ours, and open pull requests read, at most: pages of PER_PAGE.
MOST_COMMENT_PAGES = 10
MOST_PULL_REQUEST_PAGES = 5


@dataclass(frozen=True, slots=True)
class OpenPullRequests:
    """Those that are open, the last changed first. `etag` marks this state of the list; `is_same`: nothing changed."""

    facts: Sequence[PullRequestFact] = ()
    etag: str = ""
    is_same: bool = False


class CodeHost(Protocol):
    """One code host."""

    def set_status(self, pull_request: PullRequest, sha: str, status: Status, url: str) -> None:
        """Let the commit of a pull request show the status, with a link."""

    def comments(self, repository: Repository, number: int) -> Iterator[tuple[str, str]]:
        """Id and text of the comments that this service may have written, the oldest first."""

    def add_comment(self, repository: Repository, number: int, body: str) -> str:
        """Write a comment; its id."""

    def edit_comment(self, repository: Repository, number: int, comment_id: str, body: str) -> None:
        """Replace a comment's text. NotThere when somebody has deleted it."""

    def open_pull_requests(self, repository: Repository, etag: str = "") -> OpenPullRequests:
        """What is open now; cheap when nothing changed since the answer that had this `etag`."""


def head_ref(pull_request: PullRequest) -> str:
    """The host's own ref of the pull request's head."""
    return HEAD_REFS[Platform(pull_request.repository.platform)].format(number=pull_request.number)


def read_open(
    fetch: Callable[[int, str], Reply], fact: Callable[[dict[str, Any]], PullRequestFact], etag: str
) -> OpenPullRequests:
    """Page after page of a list of open pull requests, unless the first one is the same as last time."""
    reply = fetch(1, etag)
    if reply.status == 304:
        return OpenPullRequests(etag=etag, is_same=True)
    mark, entries = reply.headers.get("etag", ""), _entries(reply)
    facts = [fact(each) for each in entries]
    for page in range(2, MOST_PULL_REQUEST_PAGES + 1):
        if len(entries) < PER_PAGE:
            break
        entries = _entries(fetch(page, ""))
        facts += [fact(each) for each in entries]
    return OpenPullRequests(facts, mark)


def _entries(reply: Reply) -> list[dict[str, Any]]:
    if not isinstance(reply.data, list):
        raise HostFailed("The code host's list of pull requests makes no sense")
    return reply.data
