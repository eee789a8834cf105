"""Plans and billing: load with permission, validate, make one call, respond."""

from typing import Any

from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from billing import examples, selectors
from billing.models import BillingCycle, PaymentProvider
from billing.providers import available
from billing.serializers import (
    ApprovalUrlSerializer,
    CancelledSerializer,
    CanUseSerializer,
    CheckoutUrlSerializer,
    EnforcementSerializer,
    InvoiceSerializer,
    OrganizationBodySerializer,
    PaymentProviderSerializer,
    PlanChoiceSerializer,
    PlanMoveSerializer,
    PlanPreviewSerializer,
    PlanSerializer,
    PlanUsageSerializer,
    PortalUrlSerializer,
    ReactivatedSerializer,
    SubscriptionSerializer,
)
from billing.services import changes, checkout
from config.api.pagination import limit_of
from config.api.schema import count, describe
from organizations import entitlements
from organizations.access import organization_for
from organizations.models import Organization, Role

UNKNOWN = "There is no such organization among yours"
NEEDS_OWNER = "This needs the role owner in the organization"
NEEDS_ADMIN = "This needs the role admin or above in the organization"
NOT_SET_UP = "This payment provider is not set up here"
FAILED = "The provider did not answer; nothing was changed, try again"
BAD_CHOICE = "planId: must be one of solo, pro, team, enterprise"
FROM_PROVIDER = {502: FAILED, 503: NOT_SET_UP}


class PlanViewSet(ViewSet):
    """What can be bought. For everybody."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @describe(
        "List the plans",
        description="All plans, the smallest first. A limit of -1 means unlimited.",
        response=PlanSerializer(many=True),
        example=[examples.PLAN],
    )
    def list(self, request: Request) -> Response:
        return Response(PlanSerializer(selectors.all_plans(), many=True).data)

    @describe(
        "Read a plan", response=PlanSerializer, example=examples.PLAN, errors={404: selectors.UnknownPlan.message}
    )
    def retrieve(self, request: Request, plan_id: str) -> Response:
        return Response(PlanSerializer(selectors.plan_of(plan_id)).data)


class PaymentProviderViewSet(ViewSet):
    """How people can pay here. For everybody."""

    authentication_classes = ()
    permission_classes = (AllowAny,)

    @describe(
        "List the payment providers that are set up",
        description="A checkout through any other one answers 503.",
        response=PaymentProviderSerializer(many=True),
        example=[{"id": "cardpay"}, {"id": "walletpay"}],
    )
    def list(self, request: Request) -> Response:
        return Response(PaymentProviderSerializer([{"id": each} for each in available()], many=True).data)


class PlanUseViewSet(ViewSet):
    """What an organization may do and how much of it is used. For every member."""

    @describe(
        "Read what is used of the plan",
        description="Repositories, members, and the credits used since the last reset. A limit of -1 means none.",
        response=PlanUsageSerializer,
        example=examples.USAGE,
        errors={404: UNKNOWN},
    )
    def usage(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id)
        return Response(PlanUsageSerializer(selectors.plan_use(organization)).data)

    @describe(
        "Ask whether the plan includes a feature",
        description=f"Features: {', '.join(entitlements.Feature)}.",
        response=CanUseSerializer,
        example={"allowed": True, "currentPlan": "pro"},
        errors={404: "There is no such feature"},
    )
    def can_use(self, request: SignedInRequest, organization_id: str, feature: str) -> Response:
        organization = organization_for(request.user, organization_id)
        allowed = entitlements.allows(organization, feature)
        return Response(CanUseSerializer({"allowed": allowed, "currentPlan": organization.plan_id}).data)

    @describe(
        "Read active features, limits and what exceeds them",
        description="`exceeded` names the limits of which more is used than the plan allows, as after a downgrade.",
        response=EnforcementSerializer,
        example=examples.ENFORCEMENT,
        errors={404: UNKNOWN},
    )
    def enforcement(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id)
        use = selectors.plan_use(organization)
        summary = {
            "plan": use.plan,
            "features": selectors.features_of(organization),
            "use": use,
            "exceeded": selectors.exceeded_limits(use),
        }
        return Response(EnforcementSerializer(summary).data)


class CheckoutViewSet(ViewSet):
    """Buying a plan. For the owner."""

    @describe(
        "Buy a plan by card",
        description="The address of the hosted page where the buyer pays. The plan is given once the provider says so.",
        request=PlanChoiceSerializer,
        response=CheckoutUrlSerializer,
        request_example=examples.CHOICE,
        example={"checkoutUrl": "https://checkout.example.com/c/pay/cs_a1b2"},
        errors={
            400: BAD_CHOICE,
            403: NEEDS_OWNER,
            404: UNKNOWN,
            409: checkout.AlreadySubscribed.message,
            **FROM_PROVIDER,
        },
    )
    def cardpay(self, request: SignedInRequest) -> Response:
        return Response({"checkoutUrl": self._start(request, PaymentProvider.CARDPAY)})

    @describe(
        "Buy a plan by wallet",
        description="The address where the payer approves. The plan is given once the provider says so.",
        request=PlanChoiceSerializer,
        response=ApprovalUrlSerializer,
        request_example=examples.CHOICE,
        example={"approvalUrl": "https://wallet.example.com/approve?token=EC-1"},
        errors={
            400: BAD_CHOICE,
            403: NEEDS_OWNER,
            404: UNKNOWN,
            409: checkout.AlreadySubscribed.message,
            **FROM_PROVIDER,
        },
    )
    def walletpay(self, request: SignedInRequest) -> Response:
        return Response({"approvalUrl": self._start(request, PaymentProvider.WALLETPAY)})

    def _start(self, request: SignedInRequest, provider: PaymentProvider) -> str:
        organization, body = _choice(request, at_least=Role.OWNER)
        return checkout.start_checkout(organization=organization, buyer=request.user, provider=provider, **body)


class SubscriptionViewSet(ViewSet):
    """The subscription of an organization."""

    @describe(
        "Read the subscription",
        description="For every member. Without one: plan free, status inactive, and null for what does not exist.",
        response=SubscriptionSerializer,
        example=examples.SUBSCRIPTION,
        errors={404: UNKNOWN},
    )
    def retrieve(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id)
        return Response(SubscriptionSerializer(selectors.shown_subscription(organization)).data)

    @describe(
        "Open the customer portal",
        description="The provider's page with invoices and cards. For the owner of a paying organization.",
        request=OrganizationBodySerializer,
        response=PortalUrlSerializer,
        request_example={"orgId": examples.ORGANIZATION_ID},
        example={"portalUrl": "https://billing.example.com/p/session/bps_1"},
        errors={403: NEEDS_OWNER, 404: UNKNOWN, 409: changes.NoSubscription.message, **FROM_PROVIDER},
    )
    def portal(self, request: SignedInRequest) -> Response:
        return Response({"portalUrl": checkout.open_portal(organization=_owned(request))})

    @describe(
        "Cancel at the end of the period",
        description="The plan stays usable until then. Cancelling again changes nothing. For the owner.",
        request=OrganizationBodySerializer,
        response=CancelledSerializer,
        request_example={"orgId": examples.ORGANIZATION_ID},
        example={"status": "cancelling", "cancelAtPeriodEnd": True, "currentPeriodEnd": "2026-12-15T10:00:00.000Z"},
        errors={403: NEEDS_OWNER, 404: UNKNOWN, 409: changes.NoSubscription.message, **FROM_PROVIDER},
    )
    def cancel(self, request: SignedInRequest) -> Response:
        subscription = changes.cancel(organization=_owned(request), by=request.user)
        return Response(CancelledSerializer(subscription).data)

    @describe(
        "Take back a cancellation",
        description="Before the period ends. One that is unpaid goes on as past_due. For the owner.",
        request=OrganizationBodySerializer,
        response=ReactivatedSerializer,
        request_example={"orgId": examples.ORGANIZATION_ID},
        example={"status": "active", "cancelAtPeriodEnd": False},
        errors={
            400: changes.NotCancelling.message,
            403: NEEDS_OWNER,
            404: UNKNOWN,
            409: changes.EndsAlready.message,
            **FROM_PROVIDER,
        },
    )
    def reactivate(self, request: SignedInRequest) -> Response:
        subscription = changes.reactivate(organization=_owned(request), by=request.user)
        return Response(ReactivatedSerializer(subscription).data)

    @describe(
        "Change the plan",
        description="At once by card, prorated by the second; after the payer's approval by wallet, then `approvalUrl` "
        "says where. `proratedAmount` is negative on a downgrade. For the owner.",
        request=PlanChoiceSerializer,
        response=PlanMoveSerializer,
        request_example=examples.CHOICE,
        example=examples.MOVE,
        errors={
            400: changes.SamePlan.message,
            403: NEEDS_OWNER,
            404: UNKNOWN,
            409: changes.NoSubscription.message,
            **FROM_PROVIDER,
        },
    )
    def change_plan(self, request: SignedInRequest) -> Response:
        organization, body = _choice(request, at_least=Role.OWNER)
        move = changes.change_plan(organization=organization, by=request.user, **body)
        return Response(PlanMoveSerializer(move).data)

    @describe(
        "Preview a change of plan",
        description="What it would cost now; changes nothing. For admins and the owner.",
        request=PlanChoiceSerializer,
        response=PlanPreviewSerializer,
        request_example=examples.CHOICE,
        example=examples.PREVIEW,
        errors={
            400: changes.SamePlan.message,
            403: NEEDS_ADMIN,
            404: UNKNOWN,
            409: changes.NoSubscription.message,
        },
    )
    def preview_change(self, request: SignedInRequest) -> Response:
        organization, body = _choice(request, at_least=Role.ADMIN)
        return Response(PlanPreviewSerializer(changes.preview_change(organization=organization, **body)).data)


class InvoiceViewSet(ViewSet):
    """The billing history. For admins and the owner of a paying organization."""

    @describe(
        "List paid invoices",
        description="The newest first. While the plan is a paid one.",
        response=InvoiceSerializer(many=True),
        example=[examples.INVOICE],
        parameters=[count("limit", "How many, 1 to 100; more is taken as 100.", default=10)],
        errors={400: "limit: must be a whole number of at least 1", 403: NEEDS_ADMIN, 404: UNKNOWN},
    )
    def list(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id, at_least=Role.ADMIN)
        limit = limit_of(request, default=10)
        changes.require_paid_plan(organization)
        return Response(InvoiceSerializer(selectors.payments_of(organization, limit=limit), many=True).data)


def _owned(request: SignedInRequest) -> Organization:
    body = OrganizationBodySerializer(data=request.data)
    body.is_valid(raise_exception=True)
    return organization_for(request.user, body.validated_data["organization_id"], at_least=Role.OWNER)


def _choice(request: SignedInRequest, *, at_least: Role) -> tuple[Organization, dict[str, Any]]:
    """The organization, and the plan and cycle that were chosen."""
    body = PlanChoiceSerializer(data=request.data)
    body.is_valid(raise_exception=True)
    chosen = body.validated_data
    organization = organization_for(request.user, chosen["organization_id"], at_least=at_least)
    return organization, {"plan": selectors.plan_of(chosen["plan_id"]), "cycle": BillingCycle(chosen["cycle"])}
