"""Plans: what an organization may do and what it costs."""

from typing import ClassVar

from django.db import models


class Plan(models.Model):
    """One row per plan, seeded by the first migration and edited by staff. A limit of -1 means unlimited."""

    id = models.CharField(primary_key=True, max_length=16)
    name = models.CharField(max_length=40)
    description = models.CharField(max_length=200)
    rank = models.PositiveSmallIntegerField(unique=True)
    price_monthly = models.DecimalField(max_digits=8, decimal_places=2)
    price_annual = models.DecimalField(max_digits=8, decimal_places=2)
    max_repos = models.IntegerField()
    max_members = models.IntegerField()
    max_orgs = models.IntegerField()
    ai_credits_per_month = models.IntegerField()
    cli_scan = models.BooleanField(default=True)
    dashboard = models.BooleanField(default=True)
    badge = models.BooleanField(default=False)
    pr_gate = models.BooleanField(default=False)
    architecture_graph = models.BooleanField(default=False)
    ai_cross_file = models.BooleanField(default=False)
    policy_editor = models.BooleanField(default=False)
    rule_packs = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["rank"]

    def __str__(self) -> str:
        return self.name
