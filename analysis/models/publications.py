"""What shall stand at the code hosts: statuses of commits, comments on pull requests, check runs."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django.db import models
from django.utils import timezone

from analysis.models.pull_requests import PullRequest
from analysis.models.repositories import Repository
from analysis.models.runs import Run
from config.compiled import Key
from config.models import BaseModel


class PublicationKind(models.TextChoices):
    STATUS = "status"
    COMMENT = "comment"
    CHECK_RUN = "check_run"


class PublicationState(models.TextChoices):
    """`refused`: the host does not let us, which was to be expected. `given_up`: it should have worked and did not."""

    WAITING = "waiting"
    SENT = "sent"
    REFUSED = "refused"
    GIVEN_UP = "given_up"


class PublicationQuerySet(models.QuerySet["Publication"]):
    def due(self, now: datetime | Key) -> "PublicationQuerySet":
        """What may be sent now: new words, failed attempts whose pause is over, claims whose worker was lost."""
        return self.filter(state=PublicationState.WAITING, next_at__lte=now)


class Publication(BaseModel):
    """One place at a code host and what it shall say. New words replace older ones that were not sent yet.

    `key` names the place: a commit's status, a pull request's comment. `revision` counts the words; what was sent
    counts only when no newer words came meanwhile. `next_at` is when the next attempt may start; while `lease` is set,
    when the claim of the worker that is sending ends. `turn` is the round in which it comes (`config.rounds`): each
    organization has one row in a round. `external_id` is the host's own name of the place; `is_begun`
    says that there may be one at the host even while we know none.

    A farewell is the last word on a commit whose repository is gone from here: it has neither a repository nor a pull
    request, but in `payload` what the host knows them by, and goes once it was said or given up.
    """

    repository: "models.ForeignKey[Repository | None, Repository | None]" = models.ForeignKey(
        Repository, null=True, on_delete=models.CASCADE, related_name="publications"
    )
    pull_request: "models.ForeignKey[PullRequest | None, PullRequest | None]" = models.ForeignKey(
        PullRequest, null=True, on_delete=models.CASCADE, related_name="publications"
    )
    run: "models.ForeignKey[Run | None, Run | None]" = models.ForeignKey(
        Run, null=True, on_delete=models.SET_NULL, related_name="publications"
    )
    kind = models.CharField(max_length=16, choices=PublicationKind)
    key = models.CharField(max_length=160, unique=True)
    sha = models.CharField(max_length=64)
    payload = models.JSONField(default=dict)
    revision = models.PositiveIntegerField(default=1)
    external_id = models.CharField(max_length=64, blank=True)
    is_begun = models.BooleanField(default=False)
    state = models.CharField(max_length=16, choices=PublicationState, default=PublicationState.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(
        null=True, default=timezone.now
    )
    turn = models.PositiveIntegerField(default=0)
    lease: "models.UUIDField[UUID | None, UUID | None]" = models.UUIDField(null=True)
    announced_at = models.DateTimeField(default=timezone.now)
    sent_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True)
    error = models.CharField(max_length=300, blank=True)

    objects = PublicationQuerySet.as_manager()

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["turn", "next_at"], condition=models.Q(state="waiting"), name="publication_due"),
            models.Index(
                fields=["repository", "turn"], condition=models.Q(state="waiting"), name="publication_of_repository"
            ),
            models.Index(fields=["-announced_at"], condition=models.Q(state="given_up"), name="publication_given_up"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def is_farewell(self) -> bool:
        return self.pull_request_id is None

    @property
    def place(self) -> PullRequest:
        """The pull request that this speaks on. That of a farewell is not stored, and knows what the host needs."""
        if self.pull_request is not None:
            return self.pull_request
        kept = self.payload["place"]
        return PullRequest(**kept["pull_request"], repository=Repository(**kept["repository"]))
