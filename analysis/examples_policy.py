"""Bodies of policies, packs and graphs that the OpenAPI document shows."""

from typing import Any

from analysis.examples import NOTICE, VIOLATION

POLICY: dict[str, Any] = {
    "stack": {"framework": "django", "orm": "django", "language": "python", "runtime": "python"},
    "architecture": "django-apps",
    "layers": [{"name": "views", "path": "views*"}, {"name": "data", "path": "models*"}],
    "gates": {
        "block_merge": [{"metric": "new_critical", "operator": ">", "value": 0}],
        "warn": [{"metric": "debt_delta_score", "operator": ">", "value": 20}],
    },
    "exceptions": [
        {
            "rule": "risk-http-no-timeout",
            "file": "shop/legacy/**",
            "expires": "2027-03-31",
            "reason": "Goes away with the old gateway",
        }
    ],
    "data_volumes": {"orders": "XL", "events": "XXL"},
}
POLICY_READ = POLICY | {
    "source": "api",
    "packs": ["django-drf"],
    "updatedAt": "2026-11-20T18:33:00.123Z",
    "updatedBy": "01997f1d-90aa-7c31-8b52-7d1e0f4a6c10",
    "notices": [NOTICE],
}
POLICY_PART = {"data_volumes": {"orders": "XL"}}
PREVIEW = {
    "current": {"totalViolations": 142, "critical": 9, "warning": 88, "healthScore": 78},
    "preview": {"totalViolations": 142, "critical": 12, "warning": 85, "healthScore": 74},
    "added": [VIOLATION],
    "removed": [VIOLATION],
    "recentPRs": [{"prNumber": 311, "currentResult": "pass", "previewResult": "fail"}],
}
BACKTEST = {
    "commitSha": "9fceb02d0ae598e95dc970b74767f19372d61af8",
    "evaluated": 1,
    "failed": 1,
    "warned": 0,
    "notEvaluated": 0,
    "pullRequests": [
        {
            "prNumber": 118,
            "title": "Merge pull request #118 from acme/monthly-report",
            "commitSha": "9fceb02d0ae598e95dc970b74767f19372d61af8",
            "mergedAt": "2026-11-18T09:12:44.000Z",
            "result": "fail",
            "currentResult": "pass",
            "score": 62.0,
            "blockingCount": 1,
            "warningCount": 0,
            "gates": [
                {
                    "metric": "debt_delta_score",
                    "operator": ">",
                    "value": 50,
                    "actual": 62,
                    "action": "block",
                    "message": "Debt score of the change: 62 (the policy blocks at > 50)",
                }
            ],
            "violations": [],
        }
    ],
}
PACK = {
    "name": "django-drf",
    "title": "Django with REST framework",
    "description": "Apps of views, serializers, services and models.",
    "framework": "django",
    "languages": ["python"],
    "version": "1.0.0",
    "ruleCount": 20,
    "tags": ["web", "api", "orm"],
}
PACK_DETAIL = PACK | {
    "rules": [
        {
            "id": "risk-http-no-timeout",
            "category": "runtime_risk",
            "severity": "warning",
            "title": "HTTP call without a timeout",
        }
    ],
    "policy": POLICY,
}
GRAPH = {
    "nodes": [
        {
            "id": "shop/views.py",
            "label": "views.py",
            "module": "shop",
            "layer": "views",
            "type": "file",
            "violations": 2,
            "complexity": 14,
            "linesOfCode": 120,
            "isHotspot": False,
        }
    ],
    "edges": [
        {
            "source": "shop/models.py",
            "target": "shop/views.py",
            "type": "import",
            "isViolation": True,
            "violationType": "layer_violation",
            "message": "Layer data may not import from layer views",
        }
    ],
    "modules": [{"name": "shop", "path": "shop", "nodeCount": 1, "violations": 2}],
    "layers": [{"name": "views", "color": "#3b82f6"}, {"name": "data", "color": "#0d9488"}],
    "cycles": [
        {
            "files": ["shop/models.py", "shop/views.py"],
            "modules": ["shop"],
            "edges": 2,
            "deferred": False,
            "cut": [{"source": "shop/models.py", "target": "shop/views.py", "line": 4}],
        }
    ],
    "stats": {
        "totalNodes": 1,
        "totalEdges": 1,
        "violationEdges": 1,
        "circularEdges": 2,
        "modules": 1,
        "layers": 2,
    },
}
