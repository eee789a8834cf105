"""Provider events for staff: what waits, what failed and why, and running it again."""

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.admin import ModelAdmin

from webhooks import inbox
from webhooks.models import WebhookEvent


@admin.register(WebhookEvent)
class WebhookEventAdmin(ModelAdmin):
    """Events are read and replayed here, never written."""

    list_display: ClassVar = [
        "source",
        "type",
        "subject",
        "state",
        "handled",
        "attempts",
        "created_at",
        "next_at",
        "error",
    ]
    list_filter: ClassVar = ["state", "source", "handled", "type"]
    search_fields: ClassVar = ["event_id", "subject"]
    search_help_text = "Event id, or what the event is about: a subscription, a pull request"
    ordering: ClassVar = ["-created_at"]
    list_per_page = 50
    show_full_result_count = False
    actions: ClassVar = ["replay"]
    exclude: ClassVar = ["body"]
    readonly_fields: ClassVar = ["payload", "created_at"]

    @admin.action(description="Run again", permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookEvent]) -> None:
        """Wake the chosen events that are done or dead; each goes into the admin's own history."""
        chosen = list(queryset)
        woken = inbox.replay(ids=[event.pk for event in chosen])
        for event in chosen:
            self.log_change(request, event, "Run again")
        left = len(chosen) - woken
        self.message_user(request, f"{woken} woken; {left} left alone (still being worked on, or body forgotten)")
        if left:
            self.message_user(request, "Bodies are kept for 30 days after an event has ended", messages.WARNING)

    @admin.display(description="Body")
    def payload(self, event: WebhookEvent) -> str:
        """The body as text; it is escaped where it is shown."""
        return bytes(event.body).decode("utf-8", "replace") or "(forgotten)"

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "title": _title()})

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("webhooks.change_webhookevent")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: WebhookEvent | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: WebhookEvent | None = None) -> bool:
        return False


def _title() -> str:
    backlog = inbox.backlog()
    if backlog.oldest_due_at is None:
        return f"Webhook events: nothing is waiting, {backlog.dead} dead"
    seconds = round((timezone.now() - backlog.oldest_due_at).total_seconds())
    return f"Webhook events: {backlog.due} waiting, the oldest for {seconds} s, {backlog.dead} dead"
