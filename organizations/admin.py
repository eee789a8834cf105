"""Organizations for staff: looked up by slug and address, never written here: what changes them leaves a trail."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from config.background import nudge
from config.staff import ReadOnlyAdmin, confirmed
from organizations.models import AuditEntry, Farewell, Invitation, Membership, Organization
from organizations.selectors import with_counts

ELSEWHERE = {
    "organizations_membership": "members",
    "organizations_invitation": "invitations",
    "billing_subscription": "subscriptions",
    "billing_payment": "payments",
    "credits_creditaccount": "credits",
    "analysis_repository": "repositories",
    "analysis_run": "runs",
    "organizations_auditentry": "audit trail",
}


@admin.register(Organization)
class OrganizationAdmin(ReadOnlyAdmin):
    list_display: ClassVar = ["slug", "name", "plan", "owner_email", "members", "repositories", "created_at"]
    list_filter: ClassVar = ["plan"]
    list_select_related: ClassVar = ["plan", "owner__user"]
    search_fields: ClassVar = [
        "slug",
        "name",
        "=id",
        "memberships__user__email",
        "=subscriptions__external_id",
        "=subscriptions__customer_id",
    ]
    search_help_text = "Slug, name, id, address of a member, or a payment provider's subscription or customer id"
    ordering: ClassVar = ["-id"]
    fields: ClassVar = [
        "name", "slug", "plan", "owner_email", "members", "repositories", "created_at", "updated_at", "elsewhere"
    ]  # fmt: skip
    readonly_fields: ClassVar = ["elsewhere"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        return with_counts(super().get_queryset(request))

    @admin.display(description="Owner")
    def owner_email(self, organization: Organization) -> str:
        return organization.owner.user.email

    @admin.display(description="Look at its")
    def elsewhere(self, organization: Organization) -> SafeString:
        """Links to the rows of other pages that belong to it."""
        links = ((reverse(f"admin:{page}_changelist"), organization.pk, words) for page, words in ELSEWHERE.items())
        return format_html_join(" · ", '<a class="text-primary-600" href="{}?organization__id__exact={}">{}</a>', links)

    @admin.display(description="Members")
    def members(self, organization: Any) -> int:
        return int(organization.member_count)

    @admin.display(description="Repositories")
    def repositories(self, organization: Any) -> int:
        return int(organization.repo_count)


@admin.register(Membership)
class MembershipAdmin(ReadOnlyAdmin):
    list_display: ClassVar = ["user", "organization", "role", "created_at"]
    list_filter: ClassVar = ["role"]
    list_select_related: ClassVar = ["user", "organization"]
    search_fields: ClassVar = ["user__email", "user__name", "organization__slug"]
    search_help_text = "Address or name of the member, slug of the organization"
    ordering: ClassVar = ["-id"]
    fields: ClassVar = ["organization", "user", "role", "created_at"]


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display: ClassVar = ["email", "organization", "role", "status", "expires_at", "invited_by", "created_at"]
    list_filter: ClassVar = ["status", "role"]
    list_select_related: ClassVar = ["organization", "invited_by"]
    search_fields: ClassVar = ["email", "organization__slug"]
    search_help_text = "Invited address, slug of the organization"
    ordering: ClassVar = ["-id"]
    # The hash of the token is nobody's business.
    fields: ClassVar = [
        "organization", "email", "role", "status", "expires_at", "invited_by", "accepted_by", "created_at"
    ]  # fmt: skip


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display: ClassVar = ["created_at", "organization", "actor", "action", "subject"]
    list_filter: ClassVar = ["action"]
    list_select_related: ClassVar = ["organization", "actor"]
    search_fields: ClassVar = ["organization__slug", "actor__email", "subject"]
    search_help_text = "Slug of the organization, address of who did it, what it was done to"
    ordering: ClassVar = ["-id"]
    fields: ClassVar = ["created_at", "organization", "actor", "action", "subject", "details"]


@admin.register(Farewell)
class FarewellAdmin(ReadOnlyAdmin):
    """What deleted organizations left behind and the worker has not cleaned up yet."""

    list_display: ClassVar = ["kind", "organization_id", "attempts", "next_at", "last_error", "created_at"]
    list_filter: ClassVar = ["kind"]
    search_fields: ClassVar = ["organization_id", "kind"]
    ordering: ClassVar = ["next_at"]
    fields: ClassVar = ["kind", "organization_id", "notes", "attempts", "next_at", "last_error", "created_at"]
    actions: ClassVar = ["try_now"]

    @confirmed("Try again now", asks="Try these clean-ups at once, without waiting for their pause to end?")
    def try_now(self, request: HttpRequest, queryset: QuerySet[Farewell]) -> None:
        """Wake the chosen rows without waiting for their pause to end."""
        woken = list(queryset.values_list("pk", flat=True))
        queryset.update(next_at=timezone.now())
        for key in woken:
            nudge("organizations.tasks.settle_farewell", str(key))
        self.message_user(request, f"{len(woken)} will be tried at once")
