"""Bodies that the OpenAPI document shows."""

ORGANIZATION_ID = "01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21"
LIMITS = {"maxRepos": -1, "maxMembers": -1, "aiCreditsPerMonth": 500, "maxOrgs": 3}
PLAN = {
    "id": "pro",
    "name": "Pro",
    "description": "Everything for a team: architecture graph, policies and AI",
    "priceMonthly": 29,
    "priceAnnual": 290,
    "priceMonthlyIfAnnual": 24.17,
    "limits": LIMITS,
    "features": {
        "cliScan": True,
        "prGate": True,
        "dashboard": True,
        "architectureGraph": True,
        "aiCrossFile": True,
    },
}
SUBSCRIPTION = {
    "planId": "pro",
    "planName": "Pro",
    "status": "active",
    "provider": "cardpay",
    "billingCycle": "monthly",
    "currentPeriodStart": "2026-11-15T10:00:00.000Z",
    "currentPeriodEnd": "2026-12-15T10:00:00.000Z",
    "cancelAtPeriodEnd": False,
    "priceMonthly": 29,
    "priceAnnual": 290,
    "limits": LIMITS,
}
CHOICE = {"orgId": ORGANIZATION_ID, "planId": "team", "billingCycle": "monthly"}
MOVE = {"previousPlan": "pro", "newPlan": "team", "effectiveImmediately": True, "proratedAmount": 35}
PREVIEW = {
    "currentPlan": "pro",
    "newPlan": "team",
    "currentPrice": 29,
    "newPrice": 99,
    "proratedCredit": 14.5,
    "amountDue": 84.5,
    "billingCycle": "monthly",
}
INVOICE = {
    "id": "in_1PqLrT2eZvKYlo2C",
    "date": "2026-11-15T10:00:00.000Z",
    "amount": 29,
    "currency": "usd",
    "status": "paid",
    "planName": "Pro (Monthly)",
    "pdfUrl": "https://pay.example.com/invoice/in_1PqLrT2eZvKYlo2C/pdf",
}
USAGE = {
    "planId": "pro",
    "period": "2026-11",
    "repos": {"used": 7, "limit": -1},
    "members": {"used": 4, "limit": -1},
    "credits": {"used": 158, "limit": 500},
}
ENFORCEMENT = {
    "planId": "pro",
    "planName": "Pro",
    "features": {"cliScan": True, "dashboard": True, "prGate": True, "architectureGraph": True},
    "limits": LIMITS,
    "usage": {"repos": 7, "members": 4, "credits": 158},
    "exceeded": [],
}
