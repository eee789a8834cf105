"""From a provider's profile to an account: the one it is linked to, the one with its address, or a new one."""

from dataclasses import dataclass

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.db import IntegrityError, transaction

from accounts import tokens
from accounts.models import SignInProvider, User
from accounts.services.sessions import open_session
from config.errors import NotAllowed
from config.names import honest

LONGEST_NAME, LONGEST_ADDRESS = 100, 500


class EmailUnverified(NotAllowed):
    message = "The provider reports no verified address"


class AccountDisabled(NotAllowed):
    message = "The account is disabled"


@dataclass(frozen=True)
class Profile:
    """What a provider says of somebody. `emails` are the verified ones in lower case, the primary one first."""

    provider: SignInProvider
    uid: str
    emails: list[str]
    name: object
    avatar_url: object


def sign_in_with_provider(*, profile: Profile, address: str | None = None) -> tokens.Pair:
    """A new session for the person a provider vouches for.

    EmailUnverified when the person is not linked yet and no address is verified; AccountDisabled when staff have
    disabled the account.
    """
    try:
        return _sign_in(profile, address)
    except IntegrityError:  # the same person came in through another door a moment ago: now there is an account
        return _sign_in(profile, address)


@transaction.atomic
def _sign_in(profile: Profile, address: str | None) -> tokens.Pair:
    linked = SocialAccount.objects.filter(provider=profile.provider, uid=profile.uid).select_related("user").first()
    user = linked.user if linked else _link(profile)
    if not user.is_active:
        raise AccountDisabled
    return open_session(user=user, provider=profile.provider, address=address)


def _link(profile: Profile) -> User:
    if not profile.emails:
        raise EmailUnverified
    found = {user.email: user for user in User.objects.select_for_update().filter(email__in=profile.emails)}
    user = next((found[email] for email in profile.emails if email in found), None)
    if user is None:
        user = _create(profile)
    else:
        _take_over(user, profile)
    EmailAddress.objects.update_or_create(user=user, email=user.email, defaults={"verified": True, "primary": True})
    extra = {"name": user.name, "avatar_url": user.avatar_url}
    SocialAccount.objects.create(user=user, provider=profile.provider, uid=profile.uid, extra_data=extra)
    return user


def _create(profile: Profile) -> User:
    email = profile.emails[0]
    return User.objects.create_user(
        email=email,
        name=_printable(profile.name) or email.partition("@")[0][:LONGEST_NAME],
        avatar_url=_web_address(profile.avatar_url),
        provider=profile.provider,
    )


def _take_over(user: User, profile: Profile) -> None:
    # Somebody may have signed up with an address that is not theirs and now waits for its owner to come in. Unless the
    # address was proved before, whoever knows the old password or holds an old session or link is locked out.
    if not EmailAddress.objects.filter(user=user, email=user.email, verified=True).exists():
        user.set_unusable_password()
        user.sessions.all().revoke()
        user.password_resets.all().delete()
    user.avatar_url = user.avatar_url or _web_address(profile.avatar_url)
    user.save(update_fields=["password", "avatar_url", "updated_at"])


def _printable(name: object) -> str:
    return honest(name)[:LONGEST_NAME] if isinstance(name, str) else ""


def _web_address(value: object) -> str:
    fits = isinstance(value, str) and value.startswith(("https://", "http://")) and len(value) <= LONGEST_ADDRESS
    return str(value) if fits else ""
