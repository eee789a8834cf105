"""Where a provider's page sends people back to: the plan page of the front end, which says what came of it."""

from django.conf import settings

from organizations.models import Organization


def plan_page(organization: Organization, *, after: str = "") -> str:
    """The address of the page; `after` is paid, approved or left, for people who come from a purchase or a change."""
    page = f"{settings.APP_URL}/orgs/{organization.pk}/plan"
    return f"{page}?checkout={after}" if after else page
