"""The staff side of accounts: people, their sign-ins, letters. Passwords, token ids and secrets are never shown."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib import admin, messages
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from accounts import letters, services
from accounts.models import Letter, PasswordReset, Session, User
from config.staff import ReadOnlyAdmin, StaffAdmin, confirmed

SIGN_INS_SHOWN = 10

# allauth's own pages show client secrets and tokens, and groups are not used here.
admin.site.unregister([EmailAddress, SocialAccount, SocialApp, SocialToken, Group])


@admin.register(User)
class UserAdmin(StaffAdmin):
    list_display = ("email", "name", "provider", "is_active", "is_staff", "last_login", "open_sessions")
    list_filter = ("provider", "is_active", "is_staff")
    search_fields = ("email", "name", "=id", "=socialaccount__uid")
    search_help_text = "Address, name, id, or the sign-in provider's id of the account"
    ordering = ("-id",)
    fields = (
        "email", "name", "provider", "is_active", "is_staff", "user_permissions", "last_login", "created_at",
        "recent_sign_ins",
    )  # fmt: skip
    filter_horizontal = ("user_permissions",)
    readonly_fields = ("email", "provider", "last_login", "created_at", "recent_sign_ins")
    actions = ("sign_out_everywhere", "disable")

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """An account owns organizations and stands in ledgers: it is disabled, never deleted by hand."""
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        still_open = Count("sessions", filter=Q(sessions__revoked_at=None))
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.annotate(open_sessions=still_open)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        """Only a superuser makes somebody staff and says what they may do."""
        own = () if request.user.is_superuser else ("is_staff", "user_permissions")
        return (*self.readonly_fields, *own)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Of the hundreds of permissions, those of tables that have a page here."""
        kwargs["queryset"] = _permissions_of_pages(self.admin_site)
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    @admin.display(description="open sessions", ordering="open_sessions")
    def open_sessions(self, user: Any) -> int:
        return int(user.open_sessions)

    @admin.display(description="last sign-ins")
    def recent_sign_ins(self, user: User) -> SafeString:
        latest = user.sessions.order_by("-created_at")[:SIGN_INS_SHOWN]
        lines = ((f"{row.created_at:%Y-%m-%d %H:%M} UTC", row.provider, row.address or "?") for row in latest)
        return format_html_join("", "{}, {}, from {}<br>", lines)

    @confirmed("Sign out everywhere", asks="End every session of these people? Their devices have to sign in again.")
    def sign_out_everywhere(self, request: HttpRequest, users: QuerySet[User]) -> None:
        ended = sum(services.revoke_sessions(user=user) for user in users)
        messages.success(request, f"Sessions ended: {ended}")

    @confirmed("Disable and sign out", asks="Close these accounts? Nobody can sign in to them until staff enable them.")
    def disable(self, request: HttpRequest, users: QuerySet[User]) -> None:
        for user in users:
            services.disable(user=user)
        messages.success(request, "Disabled; every session is refused from now on")


@admin.register(Session)
class SessionAdmin(ReadOnlyAdmin):
    list_display = ("user", "provider", "address", "created_at", "rotated_at", "expires_at", "revoked_at")
    list_filter = ("provider", ("revoked_at", admin.EmptyFieldListFilter))
    list_select_related = ("user",)
    search_fields = ("user__email", "address")
    date_hierarchy = "created_at"
    ordering = ("-id",)
    fields = ("user", "provider", "address", "created_at", "rotated_at", "expires_at", "revoked_at")
    actions = ("revoke",)

    @confirmed("Revoke", asks="End these sessions? Both their tokens are refused from now on.")
    def revoke(self, request: HttpRequest, sessions: QuerySet[Session]) -> None:
        ended = services.revoke(sessions=sessions)
        messages.success(request, f"Sessions ended: {ended}")


@admin.register(PasswordReset)
class PasswordResetAdmin(ReadOnlyAdmin):
    list_display = ("user", "created_at", "expires_at", "used_at")
    list_filter = (("used_at", admin.EmptyFieldListFilter),)
    list_select_related = ("user",)
    search_fields = ("user__email",)
    ordering = ("-id",)
    fields = ("user", "created_at", "expires_at", "used_at")


@admin.register(Letter)
class LetterAdmin(ReadOnlyAdmin):
    list_display = ("kind", "recipient", "created_at", "attempts", "due_at", "sent_at")
    list_filter = ("kind", ("sent_at", admin.EmptyFieldListFilter), ("due_at", admin.EmptyFieldListFilter))
    search_fields = ("recipient",)
    ordering = ("-id",)
    fields = ("kind", "recipient", "created_at", "attempts", "due_at", "sent_at")
    actions = ("send_again",)

    @confirmed("Send again", asks="Send these letters again, also those that have left already?")
    def send_again(self, request: HttpRequest, rows: QuerySet[Letter]) -> None:
        for letter in rows:
            letters.send_again(letter.pk)
        messages.success(request, "Queued")


def _permissions_of_pages(site: admin.AdminSite) -> QuerySet[Permission]:
    pages = ContentType.objects.get_for_models(*site._registry).values()
    return Permission.objects.filter(content_type__in=pages).select_related("content_type")
