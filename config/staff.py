"""What the staff's pages of all apps have in common: rows are read, and acted on only after a question.

An action reads like this:

    @confirmed("Run again", asks="Run these events again from the first attempt?")
    def replay(self, request: HttpRequest, events: QuerySet[WebhookEvent]) -> None:
        ...

Whoever chooses it sees the chosen rows and the question first. Before the action runs it is written into the history
of each row, under the name of who asked for it ("What staff did" in the admin).
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.admin import ModelAdmin

ROWS_SHOWN = 20
SUCCESS, DANGER, WARNING, INFO = "success", "danger", "warning", "info"


class StaffAdmin(ModelAdmin):
    """Pages that stay quick with millions of rows. Order them by id, which grows with time and is indexed."""

    list_per_page = 50
    show_full_result_count = False

    def name_of(self, row: Any) -> str:
        """How a row is called in the question before an action."""
        return str(row)

    def has_act_permission(self, request: HttpRequest) -> bool:
        """Actions are for those who could change such a row if rows were changed by hand."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")


class ReadOnlyAdmin(StaffAdmin):
    """Rows that only the service itself writes: staff read them and use the actions."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


def confirmed(description: str, *, asks: str, permission: str = "act") -> Callable[[Any], Any]:
    """An action on chosen rows that asks first and leaves a line in the history of each of them."""

    def decorate(act: Callable[..., None]) -> Any:
        @admin.action(description=description, permissions=[permission])
        @wraps(act)
        def ask_then_act(page: StaffAdmin, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
            if "confirmed" not in request.POST:
                return _question(page, request, rows, action=act.__name__, title=description, question=asks)
            LogEntry.objects.log_actions(
                user_id=str(request.user.pk), queryset=rows, action_flag=CHANGE, change_message=description
            )
            act(page, request, rows)
            return None

        return ask_then_act

    return decorate


def _question(page: StaffAdmin, request: HttpRequest, rows: QuerySet[Any], **words: str) -> HttpResponse:
    count = rows.count()
    context = {
        **page.admin_site.each_context(request),
        **words,
        "opts": page.opts,
        "rows": [page.name_of(row) for row in rows[:ROWS_SHOWN]],
        "count": count,
        "more": max(0, count - ROWS_SHOWN),
        "checkbox": ACTION_CHECKBOX_NAME,
        "chosen": request.POST.getlist(ACTION_CHECKBOX_NAME),
        "select_across": request.POST.get("select_across", "0"),
    }
    return TemplateResponse(request, "admin/confirm.html", context)
