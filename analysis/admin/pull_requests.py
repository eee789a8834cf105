"""Pull requests with their verdicts, and what was or was not said of them at the code hosts."""

from typing import ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.decorators import display

from analysis.models import Publication, PublicationState, PullRequest
from analysis.services.sending import send_again
from config.staff import DANGER, INFO, SUCCESS, WARNING, ReadOnlyAdmin, confirmed

STATE_COLOURS = {
    PublicationState.WAITING.value: WARNING,
    PublicationState.SENT.value: SUCCESS,
    PublicationState.REFUSED.value: INFO,
    PublicationState.GIVEN_UP.value: DANGER,
}


@admin.register(PullRequest)
class PullRequestAdmin(ReadOnlyAdmin):
    list_display: ClassVar = [
        "repository",
        "number",
        "title",
        "author",
        "gate",
        "blocking_count",
        "warning_count",
        "score",
        "is_open",
        "judged_at",
    ]
    list_filter: ClassVar = ["gate_result", "is_open", ("judged_at", admin.EmptyFieldListFilter)]
    list_select_related: ClassVar = ["repository"]
    search_fields: ClassVar = ["repository__full_name", "title", "author", "=head_sha", "=number"]
    search_help_text = "Repository, title, author, number or a whole commit id"
    ordering: ClassVar = ["-id"]

    @display(description="Gate", ordering="gate_result", label={"pass": SUCCESS, "fail": DANGER})
    def gate(self, pull_request: PullRequest) -> str:
        return pull_request.gate_result


@admin.register(Publication)
class PublicationAdmin(ReadOnlyAdmin):
    """Statuses, comments and check runs: what is waiting, what the host refused, what was given up."""

    list_display: ClassVar = [
        "repository",
        "pull_request_number",
        "kind",
        "shown_state",
        "attempts",
        "next_at",
        "sent_at",
        "error",
    ]
    list_filter: ClassVar = ["state", "kind"]
    list_select_related: ClassVar = ["repository", "pull_request"]
    search_fields: ClassVar = ["repository__full_name", "=sha", "=external_id"]
    search_help_text = "Repository, a whole commit id, or the code host's id of the comment or check run"
    ordering: ClassVar = ["-id"]
    exclude: ClassVar = ["lease"]
    actions: ClassVar = ["send_again"]

    @confirmed("Send again", asks="Send these to the code host again, from the first attempt?")
    def send_again(self, request: HttpRequest, publications: QuerySet[Publication]) -> None:
        """Also what was sent already: the host then shows the same."""
        count = sum(send_again(publication.pk) for publication in publications)
        messages.success(request, f"Queued: {count}; left alone: {len(publications) - count} that are being sent")

    @display(description="PR")
    def pull_request_number(self, publication: Publication) -> int:
        return publication.place.number

    @display(description="State", ordering="state", label=STATE_COLOURS)
    def shown_state(self, publication: Publication) -> str:
        return publication.state
