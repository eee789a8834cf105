"""Code host 1: deliveries signed with HMAC-SHA256 over the raw body, `sha256=<hex>` (contract, section 6)."""

import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings

from analysis.codehosts.facts import (
    HostedRepository,
    InstallationFact,
    PullRequestFact,
    PushFact,
    RepositoryFact,
)
from analysis.models import Platform
from analysis.services.hosted_repositories import apply_repository
from analysis.services.installations import apply_installation
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


def verify(delivery: Delivery) -> None:
    """Accept the signature made with the App's webhook secret."""
    secret = settings.CODEHOST1_WEBHOOK_SECRET.encode()
    expected = b"sha256=" + hmac.new(secret, delivery.body, "sha256").hexdigest().encode()
    given = delivery.header_bytes("codehost1-signature-256")
    if not secret or not hmac.compare_digest(expected, given):
        raise BadSignature


def describe(delivery: Delivery, payload: Mapping[str, Any]) -> Envelope:
    """The type is event and action: `pull_request.opened`. The subject is a pull request, ref or installation."""
    event = delivery.header("codehost1-event")
    event_id = identifier(delivery.header("codehost1-delivery"), delivery)
    account = at(payload, "installation", "account", "login") or at(payload, "repository", "full_name")
    return Envelope(
        event_id=event_id,
        type=event_type(event, payload.get("action")),
        subject=_subject(payload) or event_id,
        account=owner_of(account),
        occurred_at=_occurred_at(payload),
    )


def _occurred_at(payload: Mapping[str, Any]) -> datetime | None:
    """The host's time of the change; None where the event carries none, as that of an installation's repositories."""
    if "pull_request" in payload:
        return instant(at(payload, "pull_request", "updated_at"))
    if "ref" in payload:
        return instant(at(payload, "repository", "pushed_at"))
    return None


def _subject(payload: Mapping[str, Any]) -> str:
    repository, installation = at(payload, "repository", "id"), at(payload, "installation", "id")
    if number := at(payload, "pull_request", "number"):
        return plain(f"repository {repository} pull request {number}")
    if ref := at(payload, "ref"):
        return plain(f"repository {repository} ref {ref}")
    if repository and at(payload, "action"):
        return plain(f"repository {repository}")
    return plain(f"installation {installation}") if installation else ""


def pull_request_fact(fact: Fact) -> PullRequestFact:
    """The payload of a `pull_request` event."""
    request = at(fact.payload, "pull_request")
    return PullRequestFact(
        repository=_repository(fact.payload),
        occurred_at=fact.occurred_at,
        number=int(required(request, "number")),
        title=str(at(request, "title") or ""),
        author=str(at(request, "user", "login") or ""),
        head_sha=required(request, "head", "sha"),
        head_ref=str(at(request, "head", "ref") or ""),
        head_full_name=str(at(request, "head", "repo", "full_name") or ""),
        base_ref=required(request, "base", "ref"),
        base_sha=str(at(request, "base", "sha") or ""),
        is_open=at(request, "state") == "open",
        is_draft=bool(at(request, "draft")),
        is_merged=bool(at(request, "merged")),
    )


def push_fact(fact: Fact) -> PushFact:
    """The payload of a `push` event."""
    return PushFact(
        repository=_repository(fact.payload),
        occurred_at=fact.occurred_at,
        branch=branch_of(required(fact.payload, "ref")),
        head_sha="" if at(fact.payload, "deleted") else required(fact.payload, "after"),
    )


def repository_fact(fact: Fact) -> RepositoryFact:
    """The payload of a `repository` event."""
    return RepositoryFact(
        repository=_repository(fact.payload),
        occurred_at=fact.occurred_at,
        is_deleted=at(fact.payload, "action") == "deleted",
    )


def installation_fact(fact: Fact) -> InstallationFact:
    """The payload of an `installation` or `installation_repositories` event."""
    payload, action = fact.payload, at(fact.payload, "action")
    is_deleted = action == "deleted"
    listed = at(payload, "repositories") or []
    return InstallationFact(
        platform=Platform.CODEHOST1,
        occurred_at=fact.occurred_at,
        installation_id=required(payload, "installation", "id"),
        account=str(at(payload, "installation", "account", "login") or ""),
        installer_id=str(at(payload, "sender", "id") or ""),
        is_deleted=is_deleted,
        is_suspended=action == "suspend" or bool(at(payload, "installation", "suspended_at")),
        added=_listed(payload, at(payload, "repositories_added") or ([] if is_deleted else listed)),
        removed=_listed(payload, at(payload, "repositories_removed") or (listed if is_deleted else [])),
    )


def _repository(payload: Mapping[str, Any]) -> HostedRepository:
    return _hosted(payload, at(payload, "repository"))


def _listed(payload: Mapping[str, Any], repositories: Any) -> tuple[HostedRepository, ...]:
    return tuple(_hosted(payload, repository) for repository in repositories)


def _hosted(payload: Mapping[str, Any], repository: Any) -> HostedRepository:
    return HostedRepository(
        platform=Platform.CODEHOST1,
        external_id=required(repository, "id"),
        full_name=required(repository, "full_name"),
        clone_url=str(at(repository, "clone_url") or ""),
        default_branch=str(at(repository, "default_branch") or ""),
        installation_id=str(at(payload, "installation", "id") or ""),
        is_private=bool(at(repository, "private")),
    )


PULL_REQUEST = Handler(read=pull_request_fact, apply=apply_pull_request)
INSTALLATION = Handler(read=installation_fact, apply=apply_installation)
REPOSITORY = Handler(read=repository_fact, apply=apply_repository)
CODEHOST1 = Source(
    name=SourceName.CODEHOST1,
    largest_body_bytes=25 * MEBIBYTE,
    verify=verify,
    describe=describe,
    handlers={
        "pull_request.opened": PULL_REQUEST,
        "pull_request.reopened": PULL_REQUEST,
        "pull_request.synchronize": PULL_REQUEST,
        "pull_request.edited": PULL_REQUEST,
        "pull_request.ready_for_review": PULL_REQUEST,
        "pull_request.converted_to_draft": PULL_REQUEST,
        "pull_request.closed": PULL_REQUEST,
        "push": Handler(read=push_fact, apply=apply_push),
        "installation.created": INSTALLATION,
        "installation.deleted": INSTALLATION,
        "installation.suspend": INSTALLATION,
        "installation.unsuspend": INSTALLATION,
        "installation_repositories.added": INSTALLATION,
        "installation_repositories.removed": INSTALLATION,
        "repository.renamed": REPOSITORY,
        "repository.transferred": REPOSITORY,
        "repository.edited": REPOSITORY,
        "repository.privatized": REPOSITORY,
        "repository.deleted": REPOSITORY,
        "ping": Handler(read=lambda fact: fact, apply=lambda fact: None),
    },
)
