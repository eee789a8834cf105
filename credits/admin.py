"""Credit accounts and their ledgers for staff: read only, but for credits given with a reason."""

from typing import Any, ClassVar

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextInputWidget

from config.errors import Refusal
from config.models import new_id
from config.staff import ReadOnlyAdmin
from credits import services
from credits.models import CreditAccount, CreditEntry


class GrantForm(forms.Form):
    """How many credits, and why. The key makes a form that is sent twice one grant."""

    credits = forms.IntegerField(
        min_value=1, max_value=services.allocations.LARGEST_GRANT, widget=UnfoldAdminIntegerFieldWidget
    )
    reason = forms.CharField(max_length=300, widget=UnfoldAdminTextInputWidget, help_text="The customer reads this")
    key = forms.UUIDField(widget=forms.HiddenInput)


@admin.register(CreditAccount)
class CreditAccountAdmin(ReadOnlyAdmin):
    """What every organization has left."""

    list_display: ClassVar = [
        "organization",
        "balance",
        "reserved",
        "allocation",
        "unlimited",
        "used",
        "resets_at",
        "grant_link",
    ]
    list_filter: ClassVar = ["unlimited"]
    list_select_related: ClassVar = ["organization"]
    search_fields: ClassVar = [
        "organization__slug",
        "=organization__subscriptions__external_id",
        "=organization__subscriptions__customer_id",
    ]
    search_help_text = "The organization's slug, or a payment provider's subscription or customer id"

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.grant_view)
        return [path("<uuid:account_id>/grant/", view, name="credits_grant"), *super().get_urls()]

    @admin.display(description="")
    def grant_link(self, account: CreditAccount) -> str:
        """To the form that gives credits."""
        return format_html('<a href="{}">Give credits</a>', reverse("admin:credits_grant", args=[account.pk]))

    def grant_view(self, request: HttpRequest, account_id: Any) -> HttpResponse:
        """Give credits with a reason."""
        if not request.user.has_perm("credits.change_creditaccount"):
            return HttpResponse(status=403)
        account = get_object_or_404(CreditAccount.objects.select_related("organization"), pk=account_id)
        form = GrantForm(request.POST or None, initial={"key": new_id()})
        if form.is_valid() and self._grant(request, account, form):
            return HttpResponseRedirect(reverse("admin:credits_creditaccount_changelist"))
        title = f"Give credits to {account.organization}"
        context = {**self.admin_site.each_context(request), "form": form, "title": title, "opts": self.opts}
        return TemplateResponse(request, "admin/credits/grant.html", context)

    def _grant(self, request: HttpRequest, account: CreditAccount, form: GrantForm) -> bool:
        given = form.cleaned_data
        try:
            services.grant(
                organization=account.organization,
                credits=given["credits"],
                key=f"staff:{given['key']}",
                reason=given["reason"],
                by=request.user,  # type: ignore[arg-type]  # the admin lets nobody in who is not signed in
            )
        except Refusal as refusal:
            form.add_error(None, refusal.message)
            return False
        self.log_change(request, account, f"Gave {given['credits']} credits: {given['reason']}")
        self.message_user(request, f"{given['credits']} credits given to {account.organization}", messages.SUCCESS)
        return True


@admin.register(CreditEntry)
class CreditEntryAdmin(ReadOnlyAdmin):
    """The ledgers."""

    list_display: ClassVar = [
        "created_at",
        "organization",
        "type",
        "operation",
        "amount",
        "cost",
        "balance",
        "description",
        "granted_by",
    ]
    list_filter: ClassVar = ["type", "operation"]
    list_select_related: ClassVar = ["account__organization", "granted_by"]
    search_fields: ClassVar = ["account__organization__slug", "=key"]
    ordering: ClassVar = ["-id"]

    @admin.display(description="Organization")
    def organization(self, entry: CreditEntry) -> str:
        """Whose ledger it is."""
        return str(entry.account.organization)
