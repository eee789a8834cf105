"""Background work of billing. Rows are the truth; a task that is lost is found again by the next sweep."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from config.background import nudge

# A worker asks the providers for so long, then what came meanwhile has its turn: an event, a letter.
TURN_SECONDS = 2.0


@shared_task(soft_time_limit=60, time_limit=90)
def carry_out_cancellation(order_id: str) -> None:
    """Ask the provider to end one subscription."""
    from billing.services import cancellations

    cancellations.carry_out(UUID(order_id))


@shared_task(soft_time_limit=240, time_limit=270, expires=300)
def sweep_cancellations() -> None:
    """Every five minutes: order what runs out soon, and queue what is due."""
    from billing.services import cancellations

    now = timezone.now()
    cancellations.order_due_wallet_cancellations(now=now)
    for order_id in cancellations.due_cancellations(now=now):
        carry_out_cancellation.delay(str(order_id))


@shared_task(soft_time_limit=540, time_limit=570, expires=60)
def renew_credits() -> None:
    """Every minute: start the month of annual plans whose billing day has come."""
    from billing.services import renewals

    renewals.renew_due_credits(now=timezone.now())


@shared_task(soft_time_limit=240, time_limit=270, expires=3600)
def reconcile(after: str | None = None) -> None:
    """Every night: compare all subscriptions that are not over with their providers, turn by turn."""
    from billing.services import reconciliation

    outcome = reconciliation.reconcile(after=UUID(after) if after else None, seconds=TURN_SECONDS)
    if outcome.cut_after:
        nudge("billing.tasks.reconcile", str(outcome.cut_after))


@shared_task(soft_time_limit=240, time_limit=270, expires=1800)
def reconcile_overdue(after: str | None = None) -> None:
    """Every hour: ask after the subscriptions whose period ended without a word, turn by turn."""
    from billing.services import reconciliation

    outcome = reconciliation.reconcile(only_overdue=True, after=UUID(after) if after else None, seconds=TURN_SECONDS)
    if outcome.cut_after:
        nudge("billing.tasks.reconcile_overdue", str(outcome.cut_after))
