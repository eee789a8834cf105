"""Reading AI credits: balance, history, usage. For every member of the organization."""

from typing import Any

from django.http import HttpResponseBase
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from accounts.authentication import SignedInRequest
from config.api.conditional import answer_of_version
from config.api.pagination import limit_of, offset_of
from config.api.schema import count, describe, query
from credits import selectors
from credits.serializers import (
    CreditBalanceSerializer,
    CreditTransactionSerializer,
    CreditTransactionsSerializer,
    UsageByOperationSerializer,
)
from organizations.access import organization_for

UNKNOWN = "There is no such organization among yours"
BAD_MONTH = "month: must be a month such as 2026-11"
MONTH = query("month", {"type": "string", "pattern": r"^\d{4}-(0[1-9]|1[0-2])$"}, "A calendar month in UTC, YYYY-MM.")
TRANSACTION = {
    "id": "01997f22-6c8d-7e9f-9a01-3d4e5f6a7b8c",
    "type": "consumption",
    "operation": "ai_scan_summary",
    "amount": -5,
    "balance": 495,
    "description": "Summary of the scan of acme/shop",
    "createdAt": "2026-11-20T18:33:00.123Z",
}


class CreditViewSet(ViewSet):
    """The AI credits of an organization."""

    @describe(
        "Read the credit balance",
        description="Credits start anew on the billing day. Unlimited: balance and monthlyAllocation are -1.",
        response=CreditBalanceSerializer,
        example={"balance": 342, "monthlyAllocation": 500, "used": 158, "resetsAt": "2026-12-15T10:00:00.000Z"},
        errors={404: UNKNOWN},
    )
    def retrieve(self, request: SignedInRequest, organization_id: str) -> Response:
        organization = organization_for(request.user, organization_id)
        return Response(CreditBalanceSerializer(selectors.balance_of(organization)).data)

    @describe(
        "List credit transactions",
        description="The ledger, newest first. `amount` is negative for consumption; `balance` is the one after it.",
        response=CreditTransactionsSerializer,
        example={"transactions": [TRANSACTION], "total": 1},
        parameters=[
            count("limit", "How many, 1 to 100; more is taken as 100.", default=20),
            count("offset", "How many of the newest to leave out.", default=0, least=0),
            MONTH,
        ],
        errors={400: BAD_MONTH, 404: UNKNOWN},
    )
    def transactions(self, request: SignedInRequest, organization_id: str) -> HttpResponseBase:
        organization = organization_for(request.user, organization_id)
        limit, offset = limit_of(request, default=20), offset_of(request)
        month = selectors.month_named(request.query_params.get("month"))
        so_far = selectors.entries_so_far(organization)

        def make() -> Any:
            if month:
                total = selectors.entries_of_month(organization, month)
                entries = selectors.history_of_month(organization, month, limit=limit, offset=offset)
            else:
                total = so_far
                entries = selectors.history(organization, total=total, limit=limit, offset=offset)
            return {"transactions": CreditTransactionSerializer(entries, many=True).data, "total": total}

        return answer_of_version(request, so_far, make=make)

    @describe(
        "Read the credit usage by operation",
        description="What each AI operation took in a calendar month, by default the present one.",
        response=UsageByOperationSerializer,
        example={
            "operations": [{"operation": "ai_scan_summary", "creditsUsed": 15, "count": 3}],
            "totalUsed": 15,
            "period": "2026-11",
        },
        parameters=[MONTH],
        errors={400: BAD_MONTH, 404: UNKNOWN},
    )
    def usage_by_operation(self, request: SignedInRequest, organization_id: str) -> HttpResponseBase:
        organization = organization_for(request.user, organization_id)
        present = selectors.present_month()
        month = selectors.month_named(request.query_params.get("month")) or present

        def make() -> Any:
            operations = selectors.usage_by_operation(organization, month)
            total = sum(operation["used"] for operation in operations)
            return UsageByOperationSerializer({"operations": operations, "total": total, "period": month.name}).data

        entries = selectors.entries_so_far(organization)
        return answer_of_version(request, entries, month.name, make=make, keep=month == present)
