"""Installations of the App on accounts of a code host."""

from typing import ClassVar

from django.db import models

from analysis.models.repositories import Platform
from config.models import BaseModel


class Installation(BaseModel):
    """The right that an account gave the App over some of its repositories.

    `organization` is the one here that the person who installed it speaks for; None while that is not known, then
    nothing is connected. `repositories` maps the host's ids to full names. `fact_at` orders events; a deleted
    installation stays as a row, so that a late event cannot bring it back.
    """

    platform = models.CharField(max_length=16, choices=Platform)
    external_id = models.CharField(max_length=64)
    account = models.CharField(max_length=200, blank=True)
    installer_id = models.CharField(max_length=64, blank=True)
    organization = models.ForeignKey(
        "organizations.Organization", null=True, on_delete=models.SET_NULL, related_name="installations"
    )
    repositories = models.JSONField(default=dict)
    is_suspended = models.BooleanField(default=False)
    is_deleted = models.BooleanField(default=False)
    fact_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["platform", "external_id"], name="installation_once_per_host")
        ]

    def __str__(self) -> str:
        return f"{self.platform} installation {self.external_id} of {self.account}"
