"""What a code host told us, in our own words: plain values between the receivers and the services.

A repository is named by the host's own id, which outlives renames, and by its present full name.
"""

from dataclasses import dataclass
from datetime import datetime

from analysis.models import Platform


@dataclass(frozen=True, kw_only=True)
class HostedRepository:
    """A repository as its host names it. `default_branch` is empty where the event does not say.

    What is private is told to nobody but the organization whose installation the event came through.
    """

    platform: Platform
    external_id: str
    full_name: str
    clone_url: str = ""
    default_branch: str = ""
    installation_id: str = ""
    is_private: bool = False


@dataclass(frozen=True, kw_only=True)
class PullRequestFact:
    """The state of a pull or merge request after a change.

    `head_sha` is the commit to judge, `base_ref` the branch it goes to; `base_sha` is empty where the host is silent.
    A merged request is not open. `author` is empty where the event names somebody else. `head_full_name` is another
    repository's for a fork, and empty when that one is gone.
    """

    repository: HostedRepository
    occurred_at: datetime
    number: int
    title: str
    author: str
    head_sha: str
    head_ref: str
    head_full_name: str
    base_ref: str
    base_sha: str
    is_open: bool
    is_draft: bool
    is_merged: bool

    @property
    def is_from_fork(self) -> bool:
        """The head lies in another repository, or in none any more."""
        return self.head_full_name != self.repository.full_name


@dataclass(frozen=True, kw_only=True)
class PushFact:
    """A branch stands at `head_sha` now; that is empty when it was deleted. A push of a tag has no `branch`."""

    repository: HostedRepository
    occurred_at: datetime
    branch: str
    head_sha: str

    @property
    def is_to_default_branch(self) -> bool:
        """The push moves the branch that scans look at."""
        return bool(self.branch and self.head_sha) and self.branch == self.repository.default_branch


@dataclass(frozen=True, kw_only=True)
class RepositoryFact:
    """A repository has another name, owner, default branch or visibility now, or is gone."""

    repository: HostedRepository
    occurred_at: datetime
    is_deleted: bool


@dataclass(frozen=True, kw_only=True)
class InstallationFact:
    """The App was given or lost repositories of an account.

    `installer_id` is the host's id of the person who did it. `is_deleted`: the whole installation was taken away, for
    good; `is_suspended`: until it is resumed. `added` and `removed` are complete only for what the event changed.
    """

    platform: Platform
    occurred_at: datetime
    installation_id: str
    account: str
    installer_id: str
    is_deleted: bool
    is_suspended: bool
    added: tuple[HostedRepository, ...]
    removed: tuple[HostedRepository, ...]
