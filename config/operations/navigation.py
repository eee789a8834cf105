"""The side bar of the admin: what staff look for, grouped by what it is about."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

# Group, then per page: title, icon (of Material Symbols), app and model.
PAGES = {
    "People": [
        ("Accounts", "person", "accounts", "user"),
        ("Sessions", "devices", "accounts", "session"),
        ("Letters", "mail", "accounts", "letter"),
        ("Password resets", "lock_reset", "accounts", "passwordreset"),
    ],
    "Organizations": [
        ("Organizations", "corporate_fare", "organizations", "organization"),
        ("Members", "groups", "organizations", "membership"),
        ("Invitations", "outgoing_mail", "organizations", "invitation"),
        ("Audit trail", "history", "organizations", "auditentry"),
    ],
    "Money": [
        ("Subscriptions", "autorenew", "billing", "subscription"),
        ("Payments", "payments", "billing", "payment"),
        ("Credit accounts", "account_balance_wallet", "credits", "creditaccount"),
        ("Credit ledger", "receipt_long", "credits", "creditentry"),
        ("Cancellation orders", "cancel", "billing", "cancellationorder"),
        ("Repairs", "build", "billing", "repair"),
        ("Plans", "sell", "billing", "plan"),
        ("Prices", "price_change", "billing", "price"),
    ],
    "Analysis": [
        ("Repositories", "folder_data", "analysis", "repository"),
        ("Runs", "play_circle", "analysis", "run"),
        ("Pull requests", "merge", "analysis", "pullrequest"),
        ("Publications", "campaign", "analysis", "publication"),
    ],
    "Operations": [
        ("Provider events", "webhook", "webhooks", "webhookevent"),
        ("Farewells", "waving_hand", "organizations", "farewell"),
        ("What staff did", "fact_check", "admin", "logentry"),
    ],
}


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """Unfold's navigation: the start page, then every page that the member of staff may see."""
    start = {"title": "Start", "icon": "monitoring", "link": reverse("admin:index")}
    found = [{"title": title, "separator": True, "items": _items(request, pages)} for title, pages in PAGES.items()]
    return [{"items": [start]}, *(group for group in found if group["items"])]


def _items(request: HttpRequest, pages: list[tuple[str, str, str, str]]) -> list[dict[str, Any]]:
    return [
        {"title": title, "icon": icon, "link": reverse(f"admin:{app}_{model}_changelist")}
        for title, icon, app, model in pages
        if request.user.has_perm(f"{app}.view_{model}")
    ]
