"""Reads about accounts for the apps above."""

from allauth.socialaccount.models import SocialAccount

from accounts.models import SignInProvider, User


def user_known_as(provider: SignInProvider, uid: str) -> User | None:
    """The user who has signed in through a provider as this person; None when nobody has."""
    linked = SocialAccount.objects.filter(provider=provider, uid=uid).select_related("user").first() if uid else None
    return linked.user if linked else None
