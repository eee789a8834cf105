"""The wire shapes of plans and billing. Money is a number in whole currency units."""

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from billing.models import BillingCycle, Payment, PaymentProvider, Plan, SubscriptionStatus
from config.api.fields import ChoiceField, TextField, TimestampField
from config.api.plain import PlainSerializer
from organizations.models import PLAN_IDS

CENT = Decimal("0.01")
PAID_PLANS = PLAN_IDS[1:]


class AmountField(serializers.FloatField):
    """Money as a JSON number: whole amounts without a fraction."""

    def to_representation(self, value: Any) -> Any:
        amount = Decimal(value).quantize(CENT)
        return int(amount) if amount == amount.to_integral_value() else float(amount)


class PlanLimitsSerializer(PlainSerializer):
    maxRepos = serializers.IntegerField(source="max_repos")
    maxMembers = serializers.IntegerField(source="max_members")
    aiCreditsPerMonth = serializers.IntegerField(source="ai_credits_per_month")
    maxOrgs = serializers.IntegerField(source="max_orgs")


class PlanFeaturesSerializer(PlainSerializer):
    cliScan = serializers.BooleanField(source="cli_scan")
    prGate = serializers.BooleanField(source="pr_gate")
    dashboard = serializers.BooleanField()
    architectureGraph = serializers.BooleanField(source="architecture_graph")
    aiCrossFile = serializers.BooleanField(source="ai_cross_file")


class PlanSerializer(PlainSerializer):
    id = serializers.ChoiceField(PLAN_IDS)
    name = serializers.CharField()
    description = serializers.CharField()
    priceMonthly = AmountField(source="price_monthly")
    priceAnnual = AmountField(source="price_annual")
    priceMonthlyIfAnnual = serializers.SerializerMethodField()
    limits = PlanLimitsSerializer(source="*")
    features = PlanFeaturesSerializer(source="*")

    def get_priceMonthlyIfAnnual(self, plan: Plan) -> float:
        """A twelfth of the annual price."""
        shown: float = AmountField().to_representation(plan.price_annual / 12)
        return shown


class SubscriptionSerializer(PlainSerializer):
    planId = serializers.ChoiceField(PLAN_IDS, source="plan.pk")
    planName = serializers.CharField(source="plan.name")
    status = serializers.ChoiceField(choices=SubscriptionStatus.choices)
    provider = serializers.ChoiceField(choices=PaymentProvider.choices, allow_null=True)
    billingCycle = serializers.ChoiceField(source="cycle", choices=BillingCycle.choices, allow_null=True)
    currentPeriodStart = TimestampField(source="current_period_start", allow_null=True)
    currentPeriodEnd = TimestampField(source="current_period_end", allow_null=True)
    cancelAtPeriodEnd = serializers.BooleanField(source="cancel_at_period_end")
    priceMonthly = AmountField(source="price_monthly", help_text="What is paid, in the present billing cycle.")
    priceAnnual = AmountField(source="price_annual", help_text="What is paid, in the present billing cycle.")
    limits = PlanLimitsSerializer(source="plan")


class PaymentProviderSerializer(serializers.Serializer):
    id = serializers.ChoiceField(choices=PaymentProvider.choices)


class OrganizationBodySerializer(serializers.Serializer):
    orgId = TextField(source="organization_id", max_length=64)


class PlanChoiceSerializer(serializers.Serializer):
    orgId = TextField(source="organization_id", max_length=64)
    planId = ChoiceField(source="plan_id", choices=PAID_PLANS)
    billingCycle = ChoiceField(source="cycle", choices=BillingCycle.choices)


class CheckoutUrlSerializer(serializers.Serializer):
    checkoutUrl = serializers.CharField()


class ApprovalUrlSerializer(serializers.Serializer):
    approvalUrl = serializers.CharField()


class PortalUrlSerializer(serializers.Serializer):
    portalUrl = serializers.CharField()


class CancelledSerializer(serializers.Serializer):
    status = serializers.ChoiceField(SubscriptionStatus.choices)
    cancelAtPeriodEnd = serializers.BooleanField(source="cancel_at_period_end")
    currentPeriodEnd = TimestampField(source="current_period_end")


class ReactivatedSerializer(serializers.Serializer):
    status = serializers.ChoiceField(SubscriptionStatus.choices)
    cancelAtPeriodEnd = serializers.BooleanField(source="cancel_at_period_end")


class PlanMoveSerializer(serializers.Serializer):
    previousPlan = serializers.ChoiceField(PLAN_IDS, source="previous.pk")
    newPlan = serializers.ChoiceField(PLAN_IDS, source="new.pk")
    effectiveImmediately = serializers.BooleanField(source="is_immediate")
    proratedAmount = AmountField(source="figures.difference")
    approvalUrl = serializers.CharField(source="approval_url", required=False)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """The approval's address stands only where an approval is needed."""
        shown = super().to_representation(instance)
        return {name: value for name, value in shown.items() if name != "approvalUrl" or value}


class PlanPreviewSerializer(serializers.Serializer):
    currentPlan = serializers.ChoiceField(PLAN_IDS, source="current.pk")
    newPlan = serializers.ChoiceField(PLAN_IDS, source="new.pk")
    currentPrice = AmountField(source="price")
    newPrice = AmountField(source="new_price")
    proratedCredit = AmountField(source="figures.credit")
    amountDue = AmountField(source="figures.due")
    billingCycle = serializers.ChoiceField(BillingCycle.choices, source="cycle")


class InvoiceSerializer(PlainSerializer):
    id = serializers.CharField(source="invoice_id")
    date = TimestampField(source="paid_at")
    amount = AmountField()
    currency = serializers.CharField()
    status = serializers.SerializerMethodField()
    planName = serializers.CharField(source="plan_name")
    pdfUrl = serializers.CharField(source="pdf_url", help_text="Empty where the provider makes no document.")

    def get_status(self, payment: Payment) -> str:
        """Only what was paid is in the history."""
        return "paid"


class UseSerializer(PlainSerializer):
    used = serializers.IntegerField()
    limit = serializers.IntegerField()


class PlanUsageSerializer(PlainSerializer):
    planId = serializers.ChoiceField(PLAN_IDS, source="plan.pk")
    period = serializers.CharField()
    repos = UseSerializer()
    members = UseSerializer()
    credits = UseSerializer()


class CanUseSerializer(serializers.Serializer):
    allowed = serializers.BooleanField()
    currentPlan = serializers.ChoiceField(PLAN_IDS)


class CurrentUseSerializer(PlainSerializer):
    repos = serializers.IntegerField(source="repos.used")
    members = serializers.IntegerField(source="members.used")
    credits = serializers.IntegerField(source="credits.used")


class EnforcementSerializer(PlainSerializer):
    planId = serializers.ChoiceField(PLAN_IDS, source="plan.pk")
    planName = serializers.CharField(source="plan.name")
    features = serializers.DictField(child=serializers.BooleanField())
    limits = PlanLimitsSerializer(source="plan")
    usage = CurrentUseSerializer(source="use")
    exceeded = serializers.ListField(child=serializers.CharField())
