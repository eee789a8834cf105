"""Bodies of the AI operations that the OpenAPI document shows."""

from analysis import examples

SCAN_SUMMARY = {
    "summary": "The code is in fair shape; most debt sits in shop/orders.py. Give the calls in shop/client.py a "
    "time-out first: one slow partner stops every order.",
    "creditsUsed": 5,
}
CROSS_FILE_REQUEST = {"files": ["shop/client.py", "shop/orders.py"]}
AI_VIOLATION = examples.VIOLATION | {
    "id": "01997f25-10bb-7c31-b0a4-8e2f6d9c5a10",
    "category": "reliability",
    "type": "ai_cross_file",
    "ruleId": "ai-cross-file",
    "severity": "warning",
    "source": "ai",
    "confidence": "medium",
    "message": "`rates` answers None after an error, and shop/orders.py adds up what it answers",
    "suggestion": "Let `rates` raise, and decide in `total` what a missing rate means.",
    "debtPoints": 0.0,
}
CROSS_FILE = {"findings": [AI_VIOLATION], "creditsUsed": 10}
FIX = {
    "explanation": "Without a time-out a silent partner holds the caller for ever; now it gives up after ten seconds.",
    "patch": "--- a/shop/client.py\n+++ b/shop/client.py\n@@ -5,4 +5,4 @@\n def rates(region):\n"
    "-    return requests.get(url(region)).json()\n+    return requests.get(url(region), timeout=10).json()\n",
    "creditsUsed": 3,
}
OFFER = {
    "setUp": True,
    "balance": 332,
    "operations": [
        {"operation": "ai_scan_summary", "credits": 5, "usable": True},
        {"operation": "ai_fix_suggestion", "credits": 3, "usable": True},
        {"operation": "ai_cross_file", "credits": 10, "usable": True},
    ],
}
