"""Which policy judges a repository: the one set through the API, else its own file, else the defaults of its stack."""

from collections.abc import Mapping
from pathlib import Path

from analysis.engine.facts import FileFacts
from analysis.engine.policy_file import parse_policy
from analysis.git.blobs import BlobReader
from analysis.models import Repository, StoredPolicy
from analysis.source_tree import PolicyInForce, policy_of_file


def policy_in_force(
    repository: Repository, *, policy_blob: str | None, git_dir: Path, files: Mapping[str, FileFacts]
) -> PolicyInForce:
    """The policy for a tree of this repository. A broken file is reported in a note and the defaults apply."""
    stored = StoredPolicy.objects.filter(repository=repository).first()
    if stored is not None:
        return PolicyInForce(parse_policy(stored.body), "api")
    content = None
    if policy_blob is not None:
        with BlobReader(git_dir) as blobs:
            content = blobs.read(policy_blob)
    return policy_of_file(content, files)
