"""Exceptions of policies that end: a letter a week before, and a fresh judgement the day after."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.db import transaction

from accounts import letters
from analysis.engine.policy import Exemption
from analysis.engine.policy_file import exemptions_of
from analysis.engine.suppression import ExpiryNotice, expiry_notices
from analysis.models import Repository, ScanInputs, StoredPolicy
from analysis.services.rejudging import apply_policy
from config.background import nudge
from organizations.models import Membership, Role


def review_exceptions(*, today: date) -> None:
    """Tell owners and admins once of each exception that ends within a week, and have repositories judged again whose
    exceptions ended since they were judged last."""
    exemptions = dict(_policies_with_exceptions())
    repositories = Repository.objects.filter(pk__in=exemptions).select_related("organization")
    for repository in repositories.prefetch_related("current_report").iterator(chunk_size=200):
        ending = exemptions[repository.pk]
        _tell(repository, [notice for notice in expiry_notices(ending, today) if not notice.is_expired])
        if _ended_since_judged(repository, ending, today):
            nudge("analysis.tasks.judge_again", str(repository.pk))


def judge_again(repository_id: UUID, *, today: date) -> None:
    """Judge stored facts by the same policy on another day; nothing when somebody did so meanwhile."""
    repository = Repository.objects.select_related("current_report").filter(pk=repository_id).first()
    if repository is None:
        return
    exemptions = dict(_policies_with_exceptions(repository_id)).get(repository_id, [])
    if _ended_since_judged(repository, exemptions, today):
        apply_policy(repository)


def _policies_with_exceptions(repository_id: UUID | None = None) -> Iterator[tuple[UUID, list[Exemption]]]:
    """The exceptions in force by repository: those of the API, else those of the repository's own file."""
    only = {"repository_id": repository_id} if repository_id else {}
    own = ScanInputs.objects.filter(repository__stored_policy=None, **only).values_list("repository_id", "policy")
    stored = StoredPolicy.objects.filter(**only).values_list("repository_id", "body")
    for rows in (own, stored):
        for pk, policy in rows.iterator(chunk_size=500):
            found = _exemptions(policy)
            if found:
                yield pk, found


def _exemptions(policy: Mapping[str, Any]) -> list[Exemption]:
    return exemptions_of(policy) if policy.get("exceptions") else []


def _ended_since_judged(repository: Repository, exemptions: Iterable[Exemption], today: date) -> bool:
    report = repository.current_report
    if report is None:
        return False
    judged_on = report.updated_at.date()
    return any(judged_on <= exemption.expires < today for exemption in exemptions)


@transaction.atomic
def _tell(repository: Repository, notices: Iterable[ExpiryNotice]) -> None:
    for notice in notices:
        for membership in _in_charge(repository):
            letters.post(
                kind="exception_expires",
                key=_key(repository, notice.exemption, membership),
                to=membership.user.email,
                context={
                    "repository": repository.full_name,
                    "repository_id": str(repository.pk),
                    "rule": notice.exemption.rule,
                    "file": notice.exemption.file,
                    "expires": notice.exemption.expires.isoformat(),
                    "reason": notice.exemption.reason,
                },
            )


def _in_charge(repository: Repository) -> Iterable[Membership]:
    members = Membership.objects.filter(organization_id=repository.organization_id, role__in=[Role.OWNER, Role.ADMIN])
    return members.select_related("user")


def _key(repository: Repository, entry: Exemption, membership: Membership) -> str:
    """One letter per exception and person. A new date is another exception."""
    what = sha256("\0".join((entry.rule, entry.file, entry.expires.isoformat())).encode()).hexdigest()[:32]
    return f"exception-expires:{repository.pk}:{what}:{membership.user_id}"
