"""Organizations for staff: looked up by slug and address, never written here: what changes them leaves a trail."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import ModelAdmin

from config.background import nudge
from organizations.models import AuditEntry, Farewell, Invitation, Membership, Organization
from organizations.selectors import with_counts


class ReadOnly:
    """Rows that the admin shows and never writes."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Organization)
class OrganizationAdmin(ReadOnly, ModelAdmin):
    list_display: ClassVar = ["slug", "name", "plan", "owner_email", "members", "repositories", "created_at"]
    list_filter: ClassVar = ["plan"]
    list_select_related: ClassVar = ["plan", "owner__user"]
    search_fields: ClassVar = ["slug", "name", "memberships__user__email"]
    search_help_text = "Slug, name, or the address of a member"
    ordering: ClassVar = ["-created_at"]
    list_per_page = 50
    show_full_result_count = False
    fields: ClassVar = ["name", "slug", "plan", "owner_email", "members", "repositories", "created_at", "updated_at"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        return with_counts(super().get_queryset(request))

    @admin.display(description="Owner")
    def owner_email(self, organization: Organization) -> str:
        return organization.owner.user.email

    @admin.display(description="Members")
    def members(self, organization: Any) -> int:
        return int(organization.member_count)

    @admin.display(description="Repositories")
    def repositories(self, organization: Any) -> int:
        return int(organization.repo_count)


@admin.register(Membership)
class MembershipAdmin(ReadOnly, ModelAdmin):
    list_display: ClassVar = ["user", "organization", "role", "created_at"]
    list_filter: ClassVar = ["role"]
    list_select_related: ClassVar = ["user", "organization"]
    search_fields: ClassVar = ["user__email", "user__name", "organization__slug"]
    search_help_text = "Address or name of the member, slug of the organization"
    ordering: ClassVar = ["-created_at"]
    list_per_page = 50
    show_full_result_count = False
    fields: ClassVar = ["organization", "user", "role", "created_at"]


@admin.register(Invitation)
class InvitationAdmin(ReadOnly, ModelAdmin):
    list_display: ClassVar = ["email", "organization", "role", "status", "expires_at", "invited_by", "created_at"]
    list_filter: ClassVar = ["status", "role"]
    list_select_related: ClassVar = ["organization", "invited_by"]
    search_fields: ClassVar = ["email", "organization__slug"]
    search_help_text = "Invited address, slug of the organization"
    ordering: ClassVar = ["-created_at"]
    list_per_page = 50
    show_full_result_count = False
    # The hash of the token is nobody's business.
    fields: ClassVar = [
        "organization", "email", "role", "status", "expires_at", "invited_by", "accepted_by", "created_at"
    ]  # fmt: skip


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly, ModelAdmin):
    list_display: ClassVar = ["created_at", "organization", "actor", "action", "subject"]
    list_filter: ClassVar = ["action"]
    list_select_related: ClassVar = ["organization", "actor"]
    search_fields: ClassVar = ["organization__slug", "actor__email", "subject"]
    search_help_text = "Slug of the organization, address of who did it, what it was done to"
    ordering: ClassVar = ["-created_at", "-id"]
    list_per_page = 50
    show_full_result_count = False
    fields: ClassVar = ["created_at", "organization", "actor", "action", "subject", "details"]


@admin.register(Farewell)
class FarewellAdmin(ReadOnly, ModelAdmin):
    """What deleted organizations left behind and the worker has not cleaned up yet."""

    list_display: ClassVar = ["kind", "organization_id", "attempts", "next_at", "last_error", "created_at"]
    list_filter: ClassVar = ["kind"]
    search_fields: ClassVar = ["organization_id", "kind"]
    ordering: ClassVar = ["next_at"]
    list_per_page = 50
    show_full_result_count = False
    fields: ClassVar = ["kind", "organization_id", "notes", "attempts", "next_at", "last_error", "created_at"]
    actions: ClassVar = ["try_now"]

    def has_try_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("organizations.change_farewell")

    @admin.action(description="Try again now", permissions=["try"])
    def try_now(self, request: HttpRequest, queryset: QuerySet[Farewell]) -> None:
        """Wake the chosen rows without waiting for their pause to end."""
        woken = list(queryset.values_list("pk", flat=True))
        queryset.update(next_at=timezone.now())
        for key in woken:
            nudge("organizations.tasks.settle_farewell", str(key))
        self.message_user(request, f"{len(woken)} will be tried at once")
