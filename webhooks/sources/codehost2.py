"""Code host 2: deliveries that carry a secret token in a header (contract, section 6)."""

import hmac
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from analysis.codehosts.facts import HostedRepository, PullRequestFact, PushFact
from analysis.models import Platform
from analysis.services.pull_requests import apply_pull_request
from analysis.services.pushes import apply_push
from webhooks.models import SourceName
from webhooks.sources.base import (
    MEBIBYTE,
    BadSignature,
    Delivery,
    Envelope,
    Fact,
    Handler,
    Source,
    at,
    branch_of,
    event_type,
    identifier,
    instant,
    owner_of,
    plain,
    required,
)

PUBLIC = 20  # the visibility level of a project that everybody may read


def verify(delivery: Delivery) -> None:
    """Accept the configured token, compared in constant time."""
    token = settings.CODEHOST2_WEBHOOK_TOKEN.encode()
    if not token or not hmac.compare_digest(token, delivery.header_bytes("codehost2-token")):
        raise BadSignature


def describe(delivery: Delivery, payload: Mapping[str, Any]) -> Envelope:
    """The type is event and action: `Merge Request Hook.open`. The subject is the merge request or the ref."""
    event_id = identifier(delivery.header("codehost2-event-uuid"), delivery)
    return Envelope(
        event_id=event_id,
        type=event_type(delivery.header("codehost2-event"), at(payload, "object_attributes", "action")),
        subject=_subject(payload) or event_id,
        account=owner_of(at(payload, "project", "path_with_namespace")),
        occurred_at=instant(at(payload, "object_attributes", "updated_at")),
    )


def _subject(payload: Mapping[str, Any]) -> str:
    project = at(payload, "project", "id") or at(payload, "project_id")
    if at(payload, "object_kind") == "merge_request":
        return plain(f"project {project} merge request {at(payload, 'object_attributes', 'iid')}")
    if ref := at(payload, "ref"):
        return plain(f"project {project} ref {ref}")
    return ""


def merge_request_fact(fact: Fact) -> PullRequestFact:
    """The payload of a `Merge Request Hook`."""
    request = at(fact.payload, "object_attributes")
    state = at(request, "state")
    return PullRequestFact(
        repository=_repository(fact.payload),
        occurred_at=fact.occurred_at,
        number=int(required(request, "iid")),
        title=str(at(request, "title") or ""),
        author=_author(fact.payload),
        head_sha=required(request, "last_commit", "id"),
        head_ref=required(request, "source_branch"),
        head_full_name=str(at(request, "source", "path_with_namespace") or ""),
        base_ref=required(request, "target_branch"),
        base_sha="",
        is_open=state == "opened",
        is_draft=bool(at(request, "draft") or at(request, "work_in_progress")),
        is_merged=state == "merged",
    )


def _author(payload: Mapping[str, Any]) -> str:
    """The name of whoever opened the request; empty where somebody else acted, for then it is told by number only."""
    is_author = at(payload, "user", "id") == at(payload, "object_attributes", "author_id")
    return str(at(payload, "user", "username") or "") if is_author else ""


def push_fact(fact: Fact) -> PushFact:
    """The payload of a `Push Hook`. A deleted branch ends at the commit of zeros."""
    head = required(fact.payload, "after")
    return PushFact(
        repository=_repository(fact.payload),
        occurred_at=fact.occurred_at,
        branch=branch_of(required(fact.payload, "ref")),
        head_sha=head if head.strip("0") else "",
    )


def _repository(payload: Mapping[str, Any]) -> HostedRepository:
    project = at(payload, "project")
    return HostedRepository(
        platform=Platform.CODEHOST2,
        external_id=required(project, "id"),
        full_name=required(project, "path_with_namespace"),
        clone_url=str(at(project, "git_http_url") or ""),
        default_branch=str(at(project, "default_branch") or ""),
        is_private=at(project, "visibility_level") != PUBLIC,
    )


MERGE_REQUEST = Handler(read=merge_request_fact, apply=apply_pull_request)
CODEHOST2 = Source(
    name=SourceName.CODEHOST2,
    largest_body_bytes=25 * MEBIBYTE,
    verify=verify,
    describe=describe,
    handlers={
        "Merge Request Hook.open": MERGE_REQUEST,
        "Merge Request Hook.reopen": MERGE_REQUEST,
        "Merge Request Hook.update": MERGE_REQUEST,
        "Merge Request Hook.merge": MERGE_REQUEST,
        "Merge Request Hook.close": MERGE_REQUEST,
        "Push Hook": Handler(read=push_fact, apply=apply_push),
    },
)
