"""Organizations as a whole: founding, renaming, handing over, deleting."""

import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, count

import structlog
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from config.errors import Conflict, InvalidInput
from config.retries import deletes_with_retries
from organizations import farewells
from organizations.audit import record
from organizations.entitlements import require_room_for_organization
from organizations.locks import lock_member, lock_organization_as, lock_organization_to_delete
from organizations.models import Membership, Organization, Role

LONGEST_SLUG = 48
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,46}[a-z0-9]")
STEM = 40  # characters of a slug that its numbered variants keep

log = structlog.get_logger("organizations")


class SlugTaken(Conflict):
    message = "This slug is already taken"


class AlreadyOwner(InvalidInput):
    message = "newOwnerId: is the owner already"


@transaction.atomic
def create_organization(*, owner: User, name: str, slug: str | None = None) -> Organization:
    """Found an organization on the free plan. Without a slug, one is made from the name.

    NoRoom when the owner has as many organizations as the plans allow, SlugTaken for a slug that was asked for.
    """
    require_room_for_organization(owner)
    organization = _found(owner, name, slug) if slug else _found_under_a_free_slug(owner, name)
    record(organization=organization, actor=owner, action="organization.created", subject=organization.slug)
    return organization


@transaction.atomic
def update_organization(
    *, organization: Organization, actor: User, name: str | None = None, slug: str | None = None
) -> Organization:
    """Rename, or move to another slug; None leaves a value as it is. SlugTaken when somebody else has it."""
    organization = lock_organization_as(actor, organization, at_least=Role.ADMIN)
    changes = {
        field: {"from": getattr(organization, field), "to": value}
        for field, value in (("name", name), ("slug", slug))
        if value is not None and value != getattr(organization, field)
    }
    if not changes:
        return organization
    for field, change in changes.items():
        setattr(organization, field, change["to"])
    try:
        with transaction.atomic():
            organization.save(update_fields=[*changes, "updated_at"])
    except IntegrityError as error:
        raise SlugTaken from error
    record(
        organization=organization,
        actor=actor,
        action="organization.updated",
        subject=organization.slug,
        details=changes,
    )
    return organization


@transaction.atomic
def transfer_ownership(*, heir: Membership, actor: User) -> None:
    """Make a member the owner; the owner until now becomes admin. AlreadyOwner when that is the same person."""
    organization = lock_organization_as(actor, heir.organization, at_least=Role.OWNER)
    if lock_member(heir).role == Role.OWNER:
        raise AlreadyOwner
    now = timezone.now()
    # In this order: at no time may there be two owners, and that there is one is asked at the commit.
    organization.memberships.filter(role=Role.OWNER).update(role=Role.ADMIN, updated_at=now)
    organization.memberships.filter(pk=heir.pk).update(role=Role.OWNER, updated_at=now)
    record(
        organization=organization,
        actor=actor,
        action="organization.ownership_transferred",
        subject=heir.user.email,
        details={"from": actor.email, "to": heir.user.email},
    )


@deletes_with_retries
def delete_organization(*, organization: Organization, actor: User) -> None:
    """Delete the organization with all its data; what lies outside the database is cleaned up in the background."""
    organization = lock_organization_to_delete(actor, organization)
    farewells.write_down(organization)
    log.info("organization deleted", organization=str(organization.pk), actor=str(actor.pk))
    organization.delete()


def _found(owner: User, name: str, slug: str) -> Organization:
    try:
        with transaction.atomic():
            return Organization.objects.found(owner=owner, name=name, slug=slug)
    except IntegrityError as error:
        raise SlugTaken from error


def _found_under_a_free_slug(owner: User, name: str) -> Organization:
    base = slug_of(name)
    taken = set(Organization.objects.filter(slug__startswith=base[:STEM]).values_list("slug", flat=True))
    free = (slug for slug in _variants(base) if slug not in taken)
    while True:
        try:
            return _found(owner, name, next(free))
        except SlugTaken:  # somebody else was faster
            continue


def slug_of(name: str) -> str:
    """A slug from a name, free or not: 2 to 48 of a-z, 0-9 and hyphens. `Çok Güzel, Inc.` gives `cok-guzel-inc`."""
    slug = re.sub(r"[^a-z0-9]+", "-", slugify(name))[:LONGEST_SLUG].strip("-")
    return slug if len(slug) > 1 else f"team-{slug}".strip("-")


def _variants(base: str) -> Iterator[str]:
    """The slug itself and then numbered ones, without end."""
    return chain([base], map(partial(_numbered, base), count(2)))


def _numbered(base: str, number: int) -> str:
    suffix = f"-{number}"
    kept = base if len(base) + len(suffix) <= LONGEST_SLUG else base[:STEM].rstrip("-")
    return f"{kept}{suffix}"
