"""Changing a repository's policy through the API: written, by a rule pack, or back to what it was before."""

from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from analysis.engine.packs import Pack, applied
from analysis.engine.policy import Policy
from analysis.engine.policy_file import PolicyInvalid, parse_policy, to_mapping
from analysis.engine.rules import all_rules
from analysis.models import Repository, StoredPolicy
from analysis.selectors.policies import present_policy_version
from analysis.services.policies import present_policy
from analysis.services.rejudging import apply_policy
from config.errors import Conflict, InvalidInput, OutOfDate
from organizations.audit import record

# What a read adds to the writable shape. A client may send back what it has read.
READ_ONLY_FIELDS = ("source", "packs", "updatedAt", "updatedBy", "notices")
# A page of the audit trail has up to a hundred of them, and a policy may be as large as a body.
LARGEST_KEPT_BYTES = 32 * 1024


class NothingToUndo(Conflict):
    message = "There is no earlier policy to go back to"


class PolicyChanged(OutOfDate):
    message = "The policy was changed since you read it; read it again and make your change in what it says now"


def policy_of_body(body: Any) -> Policy:
    """A policy as somebody wrote it. InvalidInput naming the path and what is allowed there."""
    try:
        return parse_policy(without_read_only(body), known_rules=[module.RULE.id for module in all_rules()])
    except PolicyInvalid as problem:
        raise InvalidInput(str(problem)) from problem


def without_read_only(body: Any) -> Any:
    """The body without the fields that only a read has."""
    if not isinstance(body, dict):
        return body
    return {name: value for name, value in body.items() if name not in READ_ONLY_FIELDS}


def set_policy(*, repository: Repository, policy: Policy, changed_by: User, based_on: str | None = None) -> None:
    """Let this policy judge the repository from now on, whatever its own file says, and judge it again.

    `based_on` is the version that the change was made from: PolicyChanged when that is not the present one, which would
    take away what somebody else has written. Without it the policy is replaced whatever it says.
    """
    with transaction.atomic():
        _lock(repository)
        if based_on is not None and based_on != present_policy_version(repository):
            raise PolicyChanged
        _replace(repository, policy, changed_by, action="policy.changed")
    apply_policy(repository, requested_by=changed_by)


def apply_pack(*, repository: Repository, pack: Pack, changed_by: User) -> None:
    """Put a rule pack's stack, layers and gates into the policy and judge again; exceptions and sizes stay."""
    with transaction.atomic():
        _lock(repository)
        policy = applied(pack, present_policy(repository))
        _replace(repository, policy, changed_by, action="policy.pack_applied", pack=pack.name)
    apply_policy(repository, requested_by=changed_by)


def undo_policy_change(*, repository: Repository, changed_by: User) -> None:
    """Go back to what the last change replaced. NothingToUndo when nothing is remembered."""
    with transaction.atomic():
        _lock(repository)
        stored = StoredPolicy.objects.filter(repository=repository).first()
        if stored is None or stored.replaced is None:
            raise NothingToUndo
        before, back = _contents(stored), stored.replaced
        if back["body"] is None:
            stored.delete()
        else:
            _store(stored, body=back["body"], packs=back["packs"], replaced=before, changed_by=changed_by)
        _record(repository, changed_by, "policy.undone", before["body"], back["body"])
    apply_policy(repository, requested_by=changed_by)


def _lock(repository: Repository) -> None:
    """One change of a repository's policy at a time. Answers about the repository are out of date with it."""
    Repository.objects.filter(pk=repository.pk).update(updated_at=timezone.now())


def _replace(repository: Repository, policy: Policy, changed_by: User, *, action: str, pack: str = "") -> None:
    stored = StoredPolicy.objects.filter(repository=repository).first() or StoredPolicy(repository=repository)
    before = _contents(stored)
    body = to_mapping(policy)
    packs = [*(name for name in stored.packs if name != pack), pack] if pack else stored.packs
    # A change that is sent a second time changes nothing: what the first one replaced is what undoing goes back to.
    replaced = stored.replaced if before == {"body": body, "packs": packs} else before
    _store(stored, body=body, packs=packs, replaced=replaced, changed_by=changed_by)
    _record(repository, changed_by, action, before["body"], body, **({"pack": pack} if pack else {}))


def _contents(stored: StoredPolicy) -> dict[str, Any]:
    return {"body": stored.body, "packs": stored.packs} if not stored._state.adding else {"body": None, "packs": []}


def _store(stored: StoredPolicy, *, body: Any, packs: list[str], replaced: Any, changed_by: User) -> None:
    stored.body, stored.packs, stored.replaced, stored.updated_by = body, packs, replaced, changed_by
    stored.save()


def _record(repository: Repository, actor: User, action: str, before: Any, after: Any, **details: str) -> None:
    one, other = before or {}, after or {}
    changed = [
        name for name in (*one, *(name for name in other if name not in one)) if one.get(name) != other.get(name)
    ]
    kept = {"before": before} if len(orjson.dumps(before)) <= LARGEST_KEPT_BYTES else {"beforeLeftOut": True}
    record(
        organization=repository.organization,
        actor=actor,
        action=action,
        subject=repository.full_name,
        details={"changed": changed, **kept, **details},
    )
