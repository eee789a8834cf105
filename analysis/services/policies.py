"""Which policy judges a repository: the one set through the API, else its own file, else the defaults of its stack."""

from analysis.engine.policy import Policy, Stack
from analysis.engine.policy_file import PolicyInvalid, default_policy, parse_policy
from analysis.models import Repository, ScanInputs, StoredPolicy
from analysis.source_tree import PolicyInForce
from config.compiled import CompiledQuery, Key

_STORED = CompiledQuery(lambda: StoredPolicy.objects.filter(repository=Key("repository")))
_OWN = CompiledQuery(
    lambda: ScanInputs.objects.filter(repository=Key("repository")).values_list("policy", "policy_source")
)


def stored_policy(repository: Repository) -> StoredPolicy | None:
    """The one set through the API. One query."""
    return _STORED.first(repository=repository.pk)


def in_force(repository: Repository, own: PolicyInForce) -> PolicyInForce:
    """The policy set through the API, else `own`; one that cannot be used is reported in a note. One query."""
    stored = stored_policy(repository)
    if stored is None:
        return own
    try:
        return PolicyInForce(parse_policy(stored.body), "api")
    except PolicyInvalid as problem:  # a metric that an older version knew
        return PolicyInForce(own.policy, own.source, (*own.notes, f"The policy of the API was not used: {problem}"))


def own_policy_as_last_read(repository: Repository) -> PolicyInForce:
    """What the repository itself said at its last scan; plain defaults before the first one. One query."""
    row = _OWN.first(repository=repository.pk)
    if row is None:
        return PolicyInForce(default_policy(Stack()), "default")
    policy, source = row
    return PolicyInForce(parse_policy(policy), source)


def present_policy(repository: Repository) -> Policy:
    """What judges the repository now. Two queries."""
    return in_force(repository, own_policy_as_last_read(repository)).policy
