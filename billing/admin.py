"""Plans, prices, subscriptions and payments for staff. What a provider decides is read here, never written."""

from typing import ClassVar

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from billing.models import CancellationOrder, Payment, Plan, Price, Repair, Subscription
from billing.services.provisioning import FREE
from billing.services.reconciliation import reconcile_one
from config.errors import Refusal
from config.staff import ReadOnlyAdmin, StaffAdmin, confirmed


@admin.register(Plan)
class PlanAdmin(StaffAdmin):
    """Prices and limits. A new price is sold after `manage.py sync_prices`; limits hold at once."""

    list_display: ClassVar = [
        "id",
        "name",
        "price_monthly",
        "price_annual",
        "max_repos",
        "max_members",
        "ai_credits_per_month",
        "max_orgs",
    ]
    readonly_fields: ClassVar = ["id", "rank"]

    def get_readonly_fields(self, request: HttpRequest, obj: Plan | None = None) -> list[str]:
        """The plan that everybody falls back to has no price to change."""
        prices = ["price_monthly", "price_annual"] if obj and obj.pk == FREE else []
        return [*self.readonly_fields, *prices]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Price)
class PriceAdmin(StaffAdmin):
    """Which price at which provider is which plan and cycle."""

    list_display: ClassVar = ["provider", "external_id", "plan", "cycle", "amount", "is_current"]
    list_filter: ClassVar = ["provider", "is_current"]
    search_fields: ClassVar = ["external_id"]
    list_select_related: ClassVar = ["plan"]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Whoever bought at a price goes on naming it, and an unknown one fails their every event."""
        return False


@admin.register(Subscription)
class SubscriptionAdmin(ReadOnlyAdmin):
    """Found by any id that a provider uses: of the subscription, the customer or an invoice."""

    list_display: ClassVar = [
        "organization",
        "provider",
        "external_id",
        "plan",
        "cycle",
        "status",
        "current_period_end",
        "fact_at",
    ]
    list_filter: ClassVar = ["provider", "status", "plan", "cycle"]
    list_select_related: ClassVar = ["organization", "plan"]
    search_fields: ClassVar = ["=external_id", "=customer_id", "=payments__invoice_id", "organization__slug"]
    search_help_text = "Subscription, customer or invoice id of the provider, or the organization's slug"
    ordering: ClassVar = ["-id"]
    actions: ClassVar = ["compare"]

    @confirmed("Compare with the provider", asks="Ask the provider about these subscriptions and repair what differs?")
    def compare(self, request: HttpRequest, queryset: QuerySet[Subscription]) -> None:
        """Reconcile the chosen subscriptions now."""
        for subscription in queryset.select_related("organization"):
            try:
                repairs = reconcile_one(subscription)
            except Refusal as refusal:
                self.message_user(request, f"{subscription}: {refusal.message}", messages.WARNING)
                continue
            found = "; ".join(str(repair) for repair in repairs) or "nothing to repair"
            self.message_user(request, f"{subscription}: {found}")


@admin.register(Payment)
class PaymentAdmin(ReadOnlyAdmin):
    """The billing history of everybody."""

    list_display: ClassVar = ["organization", "provider", "invoice_id", "amount", "currency", "plan_name", "paid_at"]
    list_filter: ClassVar = ["provider", "currency"]
    list_select_related: ClassVar = ["organization"]
    search_fields: ClassVar = [
        "=invoice_id",
        "=subscription__external_id",
        "=subscription__customer_id",
        "organization__slug",
    ]
    search_help_text = "Invoice, subscription or customer id of the provider, or the organization's slug"


@admin.register(CancellationOrder)
class CancellationOrderAdmin(ReadOnlyAdmin):
    """Subscriptions that a provider was told to end, or will be."""

    list_display: ClassVar = ["provider", "external_id", "reason", "attempts", "next_at", "done_at", "error"]
    list_filter: ClassVar = ["provider", "reason"]
    search_fields: ClassVar = ["=external_id"]


@admin.register(Repair)
class RepairAdmin(ReadOnlyAdmin):
    """What reconciliation mended."""

    list_display: ClassVar = ["created_at", "subscription", "field", "before", "after"]
    list_filter: ClassVar = ["field"]
    list_select_related: ClassVar = ["subscription"]
    search_fields: ClassVar = ["=subscription__external_id"]
