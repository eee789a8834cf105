"""One comment for each pull request, written once and edited from then on.

A hidden mark tells our comment from all others when its id was lost: when a process died between the call and the
record, or when the repository was connected anew. Nobody else can make the mark; whoever copies it comes later.
"""

import hmac

from django.conf import settings

from analysis.codehosts.base import CodeHost
from analysis.codehosts.calls import NotThere
from analysis.models import PullRequest


def show_comment(host: CodeHost, pull_request: PullRequest, words: str, *, known_id: str) -> str:
    """Let our comment say this; its id. `known_id` is where it was last, empty when that is not known."""
    repository, number = pull_request.repository, pull_request.number
    edited = _edit(host, pull_request, words, known_id or _find(host, pull_request))
    return edited or host.add_comment(repository, number, _marked(pull_request, words))


def quieten_comment(host: CodeHost, pull_request: PullRequest, words: str, *, known_id: str, may_be_lost: bool) -> str:
    """Let our comment say this if there is one; its id, or nothing. `may_be_lost`: look for one that is not known."""
    return _edit(host, pull_request, words, known_id or (_find(host, pull_request) if may_be_lost else ""))


def _edit(host: CodeHost, pull_request: PullRequest, words: str, comment_id: str) -> str:
    """The id of the comment that says this now; nothing without one, and when somebody has deleted it."""
    if not comment_id:
        return ""
    try:
        host.edit_comment(pull_request.repository, pull_request.number, comment_id, _marked(pull_request, words))
    except NotThere:
        return ""
    return comment_id


def _find(host: CodeHost, pull_request: PullRequest) -> str:
    mark = _mark(pull_request)
    comments = host.comments(pull_request.repository, pull_request.number)
    return next((comment_id for comment_id, body in comments if mark in body), "")


def _marked(pull_request: PullRequest, words: str) -> str:
    return f"{words}\n\n{_mark(pull_request)}"


def _mark(pull_request: PullRequest) -> str:
    repository = pull_request.repository
    place = f"{repository.platform} {repository.external_id or repository.full_name.lower()} {pull_request.number}"
    signature = hmac.new(settings.SECRET_KEY.encode(), f"comment on {place}".encode(), "sha256").hexdigest()
    return f"<!-- technical-debt {signature[:32]} -->"
