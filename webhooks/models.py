"""Provider events: the rows that are the queue of the inbox."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from django.db import models
from django.utils import timezone

from config.compiled import Key
from config.models import BaseModel

MOST_CHARACTERS = 255


class SourceName(models.TextChoices):
    CARDPAY = "cardpay"
    WALLETPAY = "walletpay"
    CODEHOST1 = "codehost1"
    CODEHOST2 = "codehost2"


class State(models.TextChoices):
    RECEIVED = "received"
    PROCESSING = "processing"
    DONE = "done"
    DEAD = "dead"


UNFINISHED = (State.RECEIVED, State.PROCESSING)
FINISHED = (State.DONE, State.DEAD)


class WebhookEventQuerySet(models.QuerySet["WebhookEvent"]):
    def due(self, now: datetime | Key) -> "WebhookEventQuerySet":
        """Events to work on: new ones, failed ones whose pause is over, claimed ones whose worker was lost."""
        return self.filter(state__in=UNFINISHED, next_at__lte=now)


class WebhookEvent(BaseModel):
    """One event of one provider, stored once however often it is delivered.

    `next_at` is when the event is due; while it is processed, when the claim on it ends. `lease` names the claim: only
    its holder may end the event. `subject` names what the event is about (a subscription, a pull request); two events
    of one subject are never processed at the same time. `account` names whose event it is at the provider; `turn` is
    the round in which it comes: each account has one event in a round.
    """

    source = models.CharField(max_length=16, choices=SourceName)
    event_id = models.CharField(max_length=MOST_CHARACTERS)
    type = models.CharField(max_length=MOST_CHARACTERS)
    subject = models.CharField(max_length=MOST_CHARACTERS)
    account = models.CharField(max_length=MOST_CHARACTERS)
    occurred_at = models.DateTimeField(help_text="When it happened, by the provider's clock")
    body = models.BinaryField(help_text="The raw bytes as delivered; empty once they are forgotten")
    state = models.CharField(max_length=16, choices=State, default=State.RECEIVED)
    handled = models.BooleanField(default=False, help_text="False on a done event of a type that changes nothing here")
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    turn = models.PositiveIntegerField(default=0)
    lease: "models.UUIDField[UUID | None, UUID | None]" = models.UUIDField(null=True, blank=True)
    finished_at: "models.DateTimeField[datetime | None, datetime | None]" = models.DateTimeField(null=True, blank=True)
    error = models.TextField(blank=True)

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "event_id"], name="webhook_event_once_per_source"),
            models.UniqueConstraint(
                fields=["source", "subject"],
                condition=models.Q(state="processing"),
                name="webhook_subject_one_at_a_time",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["turn", "next_at"],
                condition=models.Q(state__in=["received", "processing"]),
                name="webhook_event_due",
            ),
            models.Index(
                fields=["source", "account", "turn"],
                condition=models.Q(state__in=["received", "processing"]),
                name="webhook_event_of_account",
            ),
            models.Index(fields=["finished_at"], name="webhook_event_finished"),
            models.Index(fields=["finished_at"], condition=~models.Q(body=b""), name="webhook_event_with_body"),
            models.Index(fields=["created_at"], condition=models.Q(state="dead"), name="webhook_event_dead"),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.type} {self.event_id}"
