"""Which policy judges a repository: the one set through the API, else its own file, else the defaults of its stack."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.engine.facts import FileFacts
from analysis.engine.policy import Policy
from analysis.engine.policy_file import PolicyInvalid, default_policy, load_policy, parse_policy
from analysis.engine.stack import detect_stack
from analysis.git.blobs import BlobReader
from analysis.models import Repository, StoredPolicy


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    policy: Policy
    source: str  # default, repository, api
    notes: tuple[str, ...] = ()


def policy_in_force(
    repository: Repository, *, policy_blob: str | None, git_dir: Path, files: Mapping[str, FileFacts]
) -> PolicyInForce:
    """The policy for a tree of this repository. A broken file is reported in a note and the defaults apply."""
    stored = StoredPolicy.objects.filter(repository=repository).first()
    if stored is not None:
        return PolicyInForce(parse_policy(stored.body), "api")
    return policy_of_tree(policy_blob=policy_blob, git_dir=git_dir, files=files)


def policy_of_tree(*, policy_blob: str | None, git_dir: Path, files: Mapping[str, FileFacts]) -> PolicyInForce:
    """The policy file of a tree, or the defaults of its stack."""
    defaults = default_policy(detect_stack(files))
    if policy_blob is None:
        return PolicyInForce(defaults, "default")
    with BlobReader(git_dir) as blobs:
        content = blobs.read(policy_blob) or b""
    try:
        return PolicyInForce(load_policy(content), "repository")
    except PolicyInvalid as problem:
        return PolicyInForce(defaults, "default", (f"The policy file was not used: {problem}",))
