"""When each task runs that nobody asks for."""

from datetime import timedelta

from celery.schedules import crontab

# What comes once an hour or a day has its minute: counted from the start of a worker it would never come where workers
# are replaced every day, with folders of their own.
TASKS: dict[str, dict[str, object]] = {
    "accounts-send-due-letters": {"task": "accounts.tasks.send_due_letters", "schedule": timedelta(seconds=30)},
    "webhooks-sweep": {
        "task": "webhooks.tasks.sweep_events",
        "schedule": timedelta(seconds=10),
        "options": {"expires": 10},
    },
    "webhooks-forget": {"task": "webhooks.tasks.forget_events", "schedule": crontab(minute=7)},
    "analysis-prune": {"task": "analysis.tasks.prune", "schedule": crontab(minute=17)},
    "analysis-prune-days": {"task": "analysis.tasks.prune_days", "schedule": crontab(hour=3, minute=12)},
    "organizations-prune": {"task": "organizations.tasks.prune", "schedule": crontab(minute=27)},
    "credits-prune": {"task": "credits.tasks.prune", "schedule": crontab(minute=32)},
    "billing-sweep-cancellations": {"task": "billing.tasks.sweep_cancellations", "schedule": timedelta(minutes=5)},
    "billing-renew-credits": {"task": "billing.tasks.renew_credits", "schedule": timedelta(minutes=1)},
    "billing-reconcile": {"task": "billing.tasks.reconcile", "schedule": crontab(hour=2, minute=42)},
    "billing-reconcile-overdue": {"task": "billing.tasks.reconcile_overdue", "schedule": crontab(minute=52)},
    "credits-lapse-reservations": {"task": "credits.tasks.lapse_reservations", "schedule": timedelta(minutes=1)},
    "organizations-settle-due-farewells": {
        "task": "organizations.tasks.settle_due_farewells",
        "schedule": timedelta(minutes=1),
    },
    "organizations-expire-invitations": {
        "task": "organizations.tasks.expire_invitations",
        "schedule": timedelta(minutes=10),
    },
    "accounts-clear-ended": {"task": "accounts.tasks.clear_ended", "schedule": crontab(minute=37)},
    "analysis-review-exceptions": {"task": "analysis.tasks.review_exceptions", "schedule": crontab(minute=2)},
    "analysis-sweep-runs": {
        "task": "analysis.tasks.sweep_runs",
        "schedule": timedelta(seconds=10),
        "options": {"expires": 10},
    },
    "analysis-sweep-publications": {
        "task": "analysis.tasks.sweep_publications",
        "schedule": timedelta(seconds=10),
        "options": {"expires": 10},
    },
    "analysis-sweep-polls": {
        "task": "analysis.tasks.sweep_polls",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
    "analysis-keep-workspaces": {
        "task": "analysis.tasks.sweep_workspaces",
        "schedule": timedelta(minutes=1),
        "options": {"expires": 60},
    },
}
