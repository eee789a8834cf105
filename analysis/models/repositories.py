"""Connected repositories."""

from pathlib import Path
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.db.models.lookups import Exact

from config.models import BaseModel


class Platform(models.TextChoices):
    CODEHOST1 = "codehost1"
    CODEHOST2 = "codehost2"
    GIT = "git"


class RepositoryQuerySet(models.QuerySet["Repository"]):
    def named(self, full_name: str) -> "RepositoryQuerySet":
        """Those of this full name."""
        return self.filter(has_name(full_name))


class Repository(BaseModel):
    """One git repository of one organization, with the headline of its last good scan.

    `external_id` is the host's own id, which outlives renames; `hosted_at` the host's time of the newest event that
    named the repository. `default_branch` is the branch that is scanned: the one that was chosen
    (`is_branch_chosen`), else the one that the remote named last. `installation_id` is that of the App's installation
    whose events and rights it goes by.
    `updated_at` moves with every change of the results: answers about them are told apart by it.
    """

    organization = models.ForeignKey(
        "organizations.Organization", on_delete=models.CASCADE, related_name="repositories"
    )
    full_name = models.CharField(max_length=200)
    platform = models.CharField(max_length=16, choices=Platform)
    clone_url = models.CharField(max_length=1000)
    default_branch = models.CharField(max_length=255, blank=True)
    is_branch_chosen = models.BooleanField(default=False)
    external_id = models.CharField(max_length=64, blank=True)
    installation_id = models.CharField(max_length=64, blank=True)
    came_by_installation = models.BooleanField(default=False)  # and goes with it
    hosted_at = models.DateTimeField(null=True)

    current_report = models.ForeignKey("ScanReport", null=True, on_delete=models.SET_NULL, related_name="+")
    first_run = models.ForeignKey("Run", null=True, on_delete=models.SET_NULL, related_name="+")
    health_score = models.PositiveSmallIntegerField(null=True)
    total_violations = models.PositiveIntegerField(default=0)
    production_risk = models.CharField(max_length=8, blank=True)
    last_scan_at = models.DateTimeField(null=True)

    objects = RepositoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "repositories"
        constraints: ClassVar = [
            models.UniqueConstraint("organization", "platform", Lower("full_name"), name="repository_connected_once")
        ]
        indexes: ClassVar = [
            models.Index(Lower("full_name"), name="repository_by_full_name"),
            models.Index(fields=["platform", "external_id"], name="repository_by_external_id"),
        ]

    def __str__(self) -> str:
        return self.full_name

    @property
    def name(self) -> str:
        """The last part of the full name."""
        return self.full_name.rsplit("/", 1)[-1]

    @property
    def folder(self) -> Path:
        """Where this repository's bare clone lies on the machine that works on it."""
        return Path(settings.WORKSPACE_DIR) / "clones" / f"{self.id}.git"


def has_name(full_name: str | models.Expression) -> models.Q:
    """The repositories of this full name: hosts tell no upper from lower case in it. The index is on lower case, which
    `iexact` does not ask for."""
    name = models.Value(full_name) if isinstance(full_name, str) else full_name
    return models.Q(Exact(Lower("full_name"), Lower(name)))
