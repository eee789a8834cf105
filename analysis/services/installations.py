"""Installations of the App: which repositories it may read, and whose they are here.

The person who installs the App administrates the account at the host. Where that person is known here as owner or admin
of an organization, the repositories are connected to it, up to the limit of its plan.
"""

from datetime import datetime

import structlog
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import SignInProvider
from accounts.selectors import user_known_as
from analysis.codehosts.facts import HostedRepository, InstallationFact
from analysis.models import Installation, Platform, Repository
from analysis.services.hosted_repositories import give_up
from analysis.services.repositories import connect_installed_repository
from analysis.services.runs import request_run
from organizations.entitlements import NoRoom
from organizations.models import Organization, Role

log = structlog.get_logger("analysis")


@transaction.atomic
def apply_installation(fact: InstallationFact) -> None:
    """Connect the repositories that the App may read now, give up those that it may not read any more.

    A deleted installation is gone for good, whatever arrives later.
    """
    installation = _stored(fact)
    if installation.is_deleted:
        return
    resumed = _take_state(installation, fact)
    removed = [hosted for hosted in fact.removed if _note(installation, hosted, fact.occurred_at, is_held=False)]
    added = [hosted for hosted in fact.added if _note(installation, hosted, fact.occurred_at, is_held=True)]
    installation.save()
    if fact.is_deleted:
        _give_up(_repositories_of(installation))
        return
    _give_up(_repositories_of(installation).filter(external_id__in=[hosted.external_id for hosted in removed]))
    if installation.organization:
        _connect(installation, installation.organization, added)
    if resumed:
        for repository in _repositories_of(installation):
            request_run(repository=repository)


@transaction.atomic
def link_installation(*, installation: Installation, organization: Organization) -> None:
    """Give an installation to the organization that its account belongs to, and connect the repositories it holds.

    For staff: where the installer is nobody here, somebody has to know whose the account is.
    """
    installation.organization = organization
    installation.save(update_fields=["organization"])
    held = [(key, entry["fullName"]) for key, entry in installation.repositories.items() if entry["isHeld"]]
    _connect(installation, organization, [_hosted(installation, key, name) for key, name in held])


def _stored(fact: InstallationFact) -> Installation:
    """The installation's row, locked; a new one for an installation that was never heard of."""
    installation, _ = Installation.objects.select_for_update(of=("self",)).get_or_create(
        platform=fact.platform,
        external_id=fact.installation_id,
        defaults={
            "account": fact.account[:200],
            "installer_id": fact.installer_id[:64],
            "organization": _organization_of(fact),
            "fact_at": fact.occurred_at,
        },
    )
    return installation


def _organization_of(fact: InstallationFact) -> Organization | None:
    """The one organization that the installer administrates here; among several the one named like the account."""
    user = user_known_as(SignInProvider.CODEHOST1, fact.installer_id)
    if user is None:
        return None
    administrated = Organization.objects.filter(
        memberships__user=user, memberships__role__in=[Role.OWNER, Role.ADMIN]
    ).order_by("created_at")
    candidates = list(administrated)
    if len(candidates) > 1:
        account = fact.account.lower()
        candidates = [each for each in candidates if account in (each.slug, each.name.lower())]
    return candidates[0] if len(candidates) == 1 else None


def _take_state(installation: Installation, fact: InstallationFact) -> bool:
    """Take over whether the installation is suspended or deleted; true when it was suspended until now."""
    installation.is_deleted = fact.is_deleted
    if fact.occurred_at < installation.fact_at:
        return False
    was_suspended, installation.is_suspended = installation.is_suspended, fact.is_suspended
    installation.fact_at = fact.occurred_at
    return was_suspended and not installation.is_suspended


def _note(installation: Installation, hosted: HostedRepository, occurred_at: datetime, *, is_held: bool) -> bool:
    """Remember that the installation holds a repository or lost it; false when a newer event has said otherwise."""
    known = installation.repositories.get(hosted.external_id)
    if known and occurred_at < datetime.fromisoformat(known["at"]):
        return False
    installation.repositories[hosted.external_id] = {
        "fullName": hosted.full_name,
        "isHeld": is_held,
        "at": occurred_at.isoformat(),
    }
    return True


def _repositories_of(installation: Installation) -> QuerySet[Repository]:
    return Repository.objects.filter(
        platform=installation.platform, installation_id=installation.external_id
    ).select_related("organization")


def _give_up(repositories: QuerySet[Repository]) -> None:
    for repository in repositories:
        give_up(repository)


def _hosted(installation: Installation, external_id: str, full_name: str) -> HostedRepository:
    return HostedRepository(
        platform=Platform(installation.platform),
        external_id=external_id,
        full_name=full_name,
        installation_id=installation.external_id,
    )


def _connect(installation: Installation, organization: Organization, added: list[HostedRepository]) -> None:
    for hosted in added:
        try:
            connect_installed_repository(organization=organization, hosted=hosted)
        except NoRoom as refusal:
            log.info("repositories left out", installation=installation.external_id, reason=refusal.message)
            return
