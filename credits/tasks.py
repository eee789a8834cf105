"""Background work of credits."""

from celery import shared_task
from django.utils import timezone


@shared_task(soft_time_limit=60, time_limit=90, expires=60)
def lapse_reservations() -> None:
    """Every minute: free what was reserved for work that never reported back."""
    from credits import services

    services.lapse_overdue_reservations(now=timezone.now())
