"""Pull and merge requests and what the gate said of them."""

from typing import ClassVar

from django.db import models

from config.models import BaseModel, DocumentDecoder


class PullRequest(BaseModel):
    """One pull request as its host last told of it, with the verdict on its newest judged head.

    `fact_at` is the host's time of what is known: an older event changes nothing. `verdict` has the shape of
    `analysis.shapes.verdict_shape`; `judged_sha` is the head that it speaks of, empty when the base was another one.
    """

    repository = models.ForeignKey(
        "Repository",
        on_delete=models.CASCADE,
        related_name="pull_requests",
        db_index=False,  # the unique pair
    )
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=500)
    author = models.CharField(max_length=100, blank=True)
    head_sha = models.CharField(max_length=64)
    head_ref = models.CharField(max_length=255, blank=True)
    head_full_name = models.CharField(max_length=200, blank=True)  # another repository's for a fork
    base_branch = models.CharField(max_length=255)
    base_sha = models.CharField(max_length=64, blank=True)  # where the base branch stood, if the host tells
    is_open = models.BooleanField(default=True)
    is_draft = models.BooleanField(default=False)
    is_merged = models.BooleanField(default=False)
    fact_at = models.DateTimeField(null=True)
    judged_sha = models.CharField(max_length=64, blank=True)
    judged_at = models.DateTimeField(null=True)
    score = models.FloatField(null=True)
    gate_result = models.CharField(max_length=8, blank=True)
    blocking_count = models.PositiveIntegerField(default=0)
    warning_count = models.PositiveIntegerField(default=0)
    verdict = models.JSONField(default=dict, decoder=DocumentDecoder)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["repository", "number"], name="pull_request_once")]
        indexes: ClassVar = [
            models.Index(
                fields=["repository", "-judged_at"],
                condition=models.Q(judged_at__isnull=False),
                name="pull_request_history",
            )
        ]

    def __str__(self) -> str:
        return f"{self.repository_id} #{self.number}"
