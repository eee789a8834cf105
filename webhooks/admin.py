"""Provider events for staff: what waits, what failed and why, and running it again."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.decorators import display

from config.staff import DANGER, INFO, SUCCESS, WARNING, ReadOnlyAdmin, confirmed
from webhooks import inbox
from webhooks.models import State, WebhookEvent
from webhooks.redaction import readable

STATE_COLOURS = {
    State.RECEIVED.value: WARNING,
    State.PROCESSING.value: INFO,
    State.DONE.value: SUCCESS,
    State.DEAD.value: DANGER,
}


@admin.register(WebhookEvent)
class WebhookEventAdmin(ReadOnlyAdmin):
    """Events are read and replayed here, never written."""

    list_display: ClassVar = [
        "source",
        "type",
        "subject",
        "shown_state",
        "handled",
        "attempts",
        "created_at",
        "next_at",
        "error",
    ]
    list_filter: ClassVar = ["state", "source", "handled", "type"]
    search_fields: ClassVar = ["event_id", "subject", "=id"]
    search_help_text = "Event id, or what the event is about: a subscription, a pull request"
    ordering: ClassVar = ["-id"]
    actions: ClassVar = ["replay"]
    exclude: ClassVar = ["body", "lease"]
    readonly_fields: ClassVar = ["payload", "created_at"]

    @confirmed("Run again", asks="Run these events again from the first attempt?")
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookEvent]) -> None:
        """Wake the chosen events that are done or dead."""
        chosen = list(queryset.values_list("pk", flat=True))
        woken = inbox.replay(ids=chosen)
        left = len(chosen) - woken
        self.message_user(request, f"{woken} woken; {left} left alone (still being worked on, or body forgotten)")
        if left:
            self.message_user(request, "Bodies are kept for 30 days after an event has ended", messages.WARNING)

    def get_queryset(self, request: HttpRequest) -> QuerySet[WebhookEvent]:
        """Without the bodies: fifty of them may be a gigabyte."""
        rows: QuerySet[WebhookEvent] = super().get_queryset(request)
        return rows.defer("body")

    @display(description="State", ordering="state", label=STATE_COLOURS)
    def shown_state(self, event: WebhookEvent) -> str:
        return event.state

    @admin.display(description="Body")
    def payload(self, event: WebhookEvent) -> str:
        """The body, readable, without what could be used against the customer."""
        return format_html('<pre class="overflow-auto text-xs">{}</pre>', readable(bytes(event.body)) or "(forgotten)")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "title": _title()})


def _title() -> str:
    backlog = inbox.backlog()
    if backlog.oldest_due_at is None:
        return f"Webhook events: nothing is waiting, {backlog.dead} dead"
    seconds = round((timezone.now() - backlog.oldest_due_at).total_seconds())
    return f"Webhook events: {backlog.due} waiting, the oldest for {seconds} s, {backlog.dead} dead"
