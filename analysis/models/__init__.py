"""What the analysis keeps: repositories, runs, facts of blobs, results, pull requests, publications and policies."""

from analysis.models.facts import BlobFacts
from analysis.models.inputs import ScanInputs
from analysis.models.installation_tokens import InstallationToken
from analysis.models.installations import Installation
from analysis.models.policies import StoredPolicy
from analysis.models.polls import PullRequestPoll
from analysis.models.publications import Publication, PublicationKind, PublicationState
from analysis.models.pull_requests import PullRequest
from analysis.models.repositories import Platform, Repository, has_name
from analysis.models.results import DayStanding, ScanReport, Snapshot, Violation, ViolationSource, ViolationStatus
from analysis.models.runs import PULL_REQUESTS, SCANS, Run, RunKind, RunStatus, milliseconds
from analysis.models.workspaces import CloneCopy, ScanShare, Workspace

__all__ = [
    "PULL_REQUESTS",
    "SCANS",
    "BlobFacts",
    "CloneCopy",
    "DayStanding",
    "Installation",
    "InstallationToken",
    "Platform",
    "Publication",
    "PublicationKind",
    "PublicationState",
    "PullRequest",
    "PullRequestPoll",
    "Repository",
    "Run",
    "RunKind",
    "RunStatus",
    "ScanInputs",
    "ScanReport",
    "ScanShare",
    "Snapshot",
    "StoredPolicy",
    "Violation",
    "ViolationSource",
    "ViolationStatus",
    "Workspace",
    "has_name",
    "milliseconds",
]
