"""Bodies that the OpenAPI document shows."""

from typing import Any

REPOSITORY_ID = "01997f20-5b1e-7d42-8f13-0c4e2a9d6b55"
RUN_ID = "01997f20-5c03-7e11-a2b7-4f8d1e6c9a30"
VIOLATION_ID = "01997f21-77aa-7b90-9c14-3e5d7f1a2b66"

REPOSITORY = {
    "id": REPOSITORY_ID,
    "name": "shop",
    "fullName": "acme/shop",
    "organizationId": "01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21",
    "platform": "codehost1",
    "healthScore": 78,
    "lastScanAt": "2026-11-20T18:33:00.123Z",
    "totalViolations": 142,
    "productionRisk": "MEDIUM",
}
CONNECTED = REPOSITORY | {"healthScore": None, "lastScanAt": None, "totalViolations": 0, "productionRisk": None}
CONNECT = {
    "orgId": "01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21",
    "fullName": "acme/shop",
    "platform": "codehost1",
    "defaultBranch": "main",
}
ANALYZE = {"runId": RUN_ID, "status": "queued", "message": "The analysis is queued; watch it at /api/runs/:runId"}
RUN: dict[str, Any] = {
    "id": RUN_ID,
    "repositoryId": REPOSITORY_ID,
    "kind": "scan",
    "status": "running",
    "commitSha": None,
    "prNumber": None,
    "queuedAt": "2026-11-20T18:33:00.123Z",
    "startedAt": "2026-11-20T18:33:00.401Z",
    "finishedAt": None,
    "durationMs": None,
    "progress": 43,
    "phase": "parsing",
    "filesAnalyzed": 0,
    "filesFromCache": 0,
    "notes": [],
    "error": None,
}
VIOLATION = {
    "id": VIOLATION_ID,
    "category": "runtime_risk",
    "type": "http_no_timeout",
    "ruleId": "risk-http-no-timeout",
    "severity": "critical",
    "source": "deterministic",
    "confidence": "high",
    "file": "shop/client.py",
    "line": 8,
    "function": "rates",
    "message": "`requests.get` has no timeout",
    "suggestion": "Pass an explicit timeout (connect and read) to this call.",
    "debtPoints": 0.5,
    "gateAction": "none",
}
VIOLATION_DETAIL = VIOLATION | {"status": "open", "suppressionReason": None}
SOURCE_LINES = {
    "file": "shop/client.py",
    "commitSha": "8d3f1c2b5a6978e0d1c2b3a4958677f0e1d2c3b4",
    "startLine": 6,
    "endLine": 10,
    "highlight": 8,
    "lines": [
        "    seen.append(region)",
        "    try:",
        '        return requests.get(f"https://rates.example.org/{region}").json()',
        "    except Exception:",
        "        pass",
    ],
}
CSV = (
    "id,ruleId,category,severity,confidence,file,line,function,message,suggestion,debtPoints,gateAction,module,"
    f"firstSeenAt\r\n{VIOLATION_ID},risk-http-no-timeout,runtime_risk,critical,high,shop/client.py,8,rates,"
    "`requests.get` has no timeout,Pass an explicit timeout (connect and read) to this call.,0.5,none,shop,"
    "2026-11-20T18:33:07.902Z\r\n"
)
SARIF = {
    "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "technical-debt", "rules": [{"id": "risk-http-no-timeout"}]}},
            "results": [
                {
                    "ruleId": "risk-http-no-timeout",
                    "ruleIndex": 0,
                    "level": "error",
                    "message": {"text": "`requests.get` has no timeout.\nPass an explicit timeout to this call."},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "shop/client.py", "uriBaseId": "%SRCROOT%"},
                                "region": {"startLine": 8},
                            }
                        }
                    ],
                    "partialFingerprints": {"primaryLocationLineHash": "7f0c4a1f5f1f4a7e9d2b6c3a8e5d4f10"},
                }
            ],
        }
    ],
}
FINDING = {
    "file": "shop/client.py",
    "line": 8,
    "rule": "risk-http-no-timeout",
    "message": "`requests.get` has no timeout",
}
HOTSPOT = {
    "file": "shop/orders.py",
    "complexity": 87,
    "churnCount": 14,
    "violationCount": 6,
    "riskScore": 73,
    "topAuthorShare": 0.57,
    "coupledFiles": ["billing/invoices.py"],
}
COUPLING = {
    "windowDays": 180,
    "commits": 412,
    "pairs": [
        {
            "files": ["billing/invoices.py", "shop/orders.py"],
            "modules": ["billing", "shop"],
            "acrossModules": True,
            "support": 9,
            "confidence": 0.64,
            "importsEachOther": False,
        }
    ],
    "files": [{"file": "shop/orders.py", "commits": 23, "authors": 4, "mainAuthor": "Dana", "mainAuthorShare": 0.57}],
    "modules": [{"module": "shop", "commits": 88, "authors": 7, "mainAuthor": "Dana", "mainAuthorShare": 0.41}],
}
PULL_REQUEST = {
    "prNumber": 311,
    "title": "Charge in one transaction",
    "author": "dana",
    "score": -4.5,
    "gateResult": "pass",
    "blockingCount": 0,
    "warningCount": 1,
    "date": "2026-11-19T09:12:44.000Z",
}
PULL_REQUEST_DETAIL = PULL_REQUEST | {
    "score": 6.5,
    "gateResult": "fail",
    "blockingCount": 1,
    "headSha": "8d3f1c2b5a6978e0d1c2b3a4958677f0e1d2c3b4",
    "judgedSha": "8d3f1c2b5a6978e0d1c2b3a4958677f0e1d2c3b4",
    "baseBranch": "main",
    "isOpen": True,
    "isDraft": False,
    "verdict": {
        "hash": "5f0c4a1f5f1f4a7e9d2b6c3a8e5d4f10",
        "mergeBase": "1c9f0c4a1f5f1f4a7e9d2b6c3a8e5d4f10aa77bb",
        "evaluated": True,
        "metrics": {"debt_delta_score": 6.5, "new_critical": 1},
        "gates": [
            {
                "metric": "new_critical",
                "operator": ">",
                "value": 0,
                "actual": 1,
                "action": "block",
                "message": "New critical findings: 1 (the policy blocks at > 0)",
            }
        ],
        "introduced": [VIOLATION | {"id": "b51d7c0e2f9a4836d1c0e5f7a2b49c68", "gateAction": "block"}],
        "introducedTotal": 1,
        "resolved": [],
        "resolvedTotal": 0,
        "exceptions": [
            {
                "rule": "risk-sql-string-building",
                "file": "shop/legacy/**",
                "reason": "Goes away with the old gateway",
                "expires": "2027-03-31",
                "expired": False,
                "covered": 2,
            }
        ],
        "notes": [],
    },
}
COUNTS = {"architecture": 12, "runtime_risk": 31, "performance": 24, "reliability": 40, "maintainability": 35}


def _category(count: int) -> dict[str, Any]:
    return {"count": count, "critical": [FINDING], "warning": []}


NOTICE = {
    "kind": "exception_expires",
    "rule": "risk-http-no-timeout",
    "file": "shop/legacy/**",
    "expires": "2026-11-24",
    "daysLeft": 4,
    "message": "exception expires: risk-http-no-timeout in shop/legacy/** is accepted until 2026-11-24 (Goes away with "
    "the old gateway)",
}
OVERVIEW = {
    "notices": [NOTICE],
    "healthScore": 78,
    "totalViolations": 142,
    "debtScoreAvg": 21.4,
    "productionRisk": "MEDIUM",
    "categoryBreakdown": COUNTS,
    "violationsTrend": [{"date": "2026-11-19", "count": 145}, {"date": "2026-11-20", "count": 142}],
    "recentPRs": [PULL_REQUEST],
    "topHotspots": [HOTSPOT],
    "categories": {
        "architecture": _category(12),
        "runtime_risk": _category(31),
        "performance": _category(24),
        "reliability": _category(40),
        "maintainability": {
            "count": 35,
            "hotspots": [{"file": "shop/orders.py", "complexity": 87, "churn": 14, "riskScore": 73}],
        },
    },
}
TRENDS = {
    "violations": [{"date": "2026-11-20", "total": 142, "critical": 9, "warning": 88}],
    "debtScores": [{"date": "2026-11-20", "score": 21.4}],
    "categoryTrends": {name: [count] for name, count in COUNTS.items()},
}
RUNTIME_RISKS = {
    "productionRisk": "MEDIUM",
    "total": 1,
    "critical": 1,
    "warning": 0,
    "byType": {"http_no_timeout": 1},
    "risks": [VIOLATION],
}
FIRST_SCAN = {
    "runId": RUN_ID,
    "status": "succeeded",
    "commitSha": "8d3f1c2b5a6978e0d1c2b3a4958677f0e1d2c3b4",
    "startedAt": "2026-11-20T18:33:00.401Z",
    "finishedAt": "2026-11-20T18:33:07.902Z",
    "durationMs": 7501,
    "filesAnalyzed": 412,
    "linesOfCode": 31870,
    "languages": {"Python": 27110, "TypeScript": 4760},
    "healthScore": 78,
    "totalViolations": 142,
    "debtScoreAvg": 21.9,
    "productionRisk": "MEDIUM",
    "categoryBreakdown": COUNTS,
    "topHotspots": [HOTSPOT],
    "topViolations": [VIOLATION],
}


SCORE_HISTORY = {
    "from": {
        "date": "2026-11-19",
        "commitSha": "9c1185a5c5e9fc54612808977ee8f548b2258d31",
        "healthScore": 74,
        "debtScore": 21.4,
        "linesOfCode": 90120,
    },
    "to": {
        "date": "2026-11-20",
        "commitSha": "5f3d1c0e6f0f8f8b5b4f0d6ce3c9f4b0a1c7d2e9",
        "healthScore": 73,
        "debtScore": 21.62,
        "linesOfCode": 90480,
    },
    "healthChange": -1,
    "debtScoreChange": 0.22,
    "entries": [
        {
            "cause": "finding_added",
            "health": -0.81,
            "debtScore": 0.3,
            "message": "`Order.objects.get` is queried once per row of `lines` (table `shop_order`, XL)",
            "ruleId": "perf-n-plus-one-query",
            "severity": "critical",
            "file": "shop/invoices.py",
            "line": 48,
            "violationId": "01a1f0c2-8d52-7c61-a4a4-5a5f3d1c0e6f",
            "count": 1,
        },
        {
            "cause": "code_size",
            "health": 0.09,
            "debtScore": -0.08,
            "message": "360 more lines of code, 90,480 now",
            "ruleId": None,
            "severity": None,
            "file": None,
            "line": None,
            "violationId": None,
            "count": 1,
        },
        {
            "cause": "rounding",
            "health": -0.28,
            "debtScore": 0.0,
            "message": "Health is shown as a whole number",
            "ruleId": None,
            "severity": None,
            "file": None,
            "line": None,
            "violationId": None,
            "count": 1,
        },
    ],
}


def a_page(item: dict[str, Any]) -> dict[str, Any]:
    """A page with one item."""
    return {"data": [item], "total": 1, "page": 1, "perPage": 20, "totalPages": 1}
