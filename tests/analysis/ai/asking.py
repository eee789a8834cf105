"""What the tests of the AI operations ask, and what they read of the ledger afterwards."""

from datetime import UTC, datetime
from typing import Any

from analysis.models import Repository, Violation
from credits import services as credits
from credits.models import CreditAccount

FIX = {
    "explanation": "The call can hang for ever.",
    "patch": """--- a/shop/client.py
+++ b/shop/client.py
@@ -1,3 +1,3 @@
     try:
-        return requests.get(f"https://rates.example.org/{region}").json()
+        return requests.get(f"https://rates.example.org/{region}", timeout=10).json()
     except Exception:
""",
}
REMARK = {
    "file": "shop/orders.py",
    "line": 7,
    "function": "total",
    "category": "reliability",
    "severity": "warning",
    "confidence": "medium",
    "message": "rates answers None after an error and total adds it up",
    "suggestion": "Let rates raise",
}


def give(organization: Any, amount: int) -> None:
    """A month of credits; -1 is without limit."""
    month = credits.Allocation(
        credits=amount,
        window="test:2026-11",
        starts_at=datetime(2026, 11, 1, tzinfo=UTC),
        ends_at=datetime(2036, 12, 1, tzinfo=UTC),
    )
    credits.allocate(organization=organization, allocation=month)


def address(repository: Repository, operation: str) -> str:
    """Where to ask for scan-summary, cross-file or ai-fix (of the call without a time-out)."""
    base = f"/v1/api/repos/{repository.pk}"
    if operation == "ai-fix":
        return f"{base}/violations/{violation_of(repository).pk}/ai-fix"
    return f"{base}/ai/{operation}"


def violation_of(repository: Repository) -> Violation:
    return repository.violations.get(rule_id="risk-http-no-timeout")


def ledger_of(repository: Repository) -> list[tuple[str, int]]:
    """What AI operations took, the oldest first."""
    entries = CreditAccount.objects.get(organization=repository.organization).entries.filter(cost__gt=0)
    return list(entries.order_by("number").values_list("operation", "amount"))


def credits_of(repository: Repository) -> tuple[int, int]:
    """The balance, and what of it is reserved."""
    account = CreditAccount.objects.get(organization=repository.organization)
    return account.balance, account.reserved
