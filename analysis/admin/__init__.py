"""The staff's pages of the analysis."""

from analysis.admin.pull_requests import PublicationAdmin, PullRequestAdmin
from analysis.admin.repositories import RepositoryAdmin
from analysis.admin.runs import RunAdmin

__all__ = ["PublicationAdmin", "PullRequestAdmin", "RepositoryAdmin", "RunAdmin"]
