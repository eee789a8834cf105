"""Sign-up, sign-in, rotation of refresh tokens and the end of sessions."""

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import tokens
from accounts.models import Session, SignInProvider, User
from accounts.passwords import dummy_hash
from config.errors import Conflict, NotAuthenticated


class EmailTaken(Conflict):
    message = "email: is already registered"


class WrongCredentials(NotAuthenticated):
    """Unknown address or wrong password; the caller does not learn which."""


def sign_up(*, email: str, password: str, name: str, address: str | None = None) -> tuple[User, tokens.Pair]:
    """A new account with its first session. EmailTaken when somebody has the address in any case."""
    user = User(email=email.lower(), name=name)
    if User.objects.filter(email=user.email).exists():
        raise EmailTaken
    user.set_password(password)  # before the transaction: hashing is slow on purpose
    try:
        with transaction.atomic():
            user.save()
            pair = open_session(user=user, provider=SignInProvider.EMAIL, address=address)
    except IntegrityError as error:
        raise EmailTaken from error
    return user, pair


def log_in(*, email: str, password: str, address: str | None = None) -> tuple[User, tokens.Pair]:
    """The account of an address and a new session; WrongCredentials after the same work whatever is wrong."""
    user = User.objects.filter(email=email.lower()).first()
    if user is None or not user.has_usable_password():
        check_password(password, dummy_hash())
        raise WrongCredentials
    if not user.check_password(password) or not user.is_active:
        raise WrongCredentials
    return user, _open_with_password(user, address)


@transaction.atomic
def open_session(*, user: User, provider: SignInProvider, address: str | None = None) -> tokens.Pair:
    """A new sign-in of an account that has proved itself. `address` is where the client calls from."""
    now = timezone.now()
    session = Session(
        user=user,
        provider=provider,
        address=address,
        rotated_at=now,
        expires_at=now + settings.REFRESH_LIFETIME,
    )
    token = tokens.new_refresh(session.pk, user.pk)
    session.current_jti = token["jti"]
    session.save()
    user.last_login = now
    user.save(update_fields=["last_login"])
    return tokens.pair_of(session, token)


@transaction.atomic
def _open_with_password(user: User, address: str | None) -> tokens.Pair:
    # Hashing takes a while, longer when many wait: whoever changed the password meanwhile also ended the sessions that
    # the old one had opened, and must not find a new one of it.
    unchanged = User.objects.select_for_update(no_key=True).filter(pk=user.pk, password=user.password, is_active=True)
    if not unchanged.exists():
        raise WrongCredentials
    return open_session(user=user, provider=SignInProvider.EMAIL, address=address)


def refresh(*, token: str) -> tokens.Pair:
    """A new pair for the session's current refresh token, which is thereby used up.

    A token that was used before ends its whole session: either its owner or a thief holds a copy, and nobody can tell
    which of the two is asking. Raises InvalidToken in that case and for every token that does not hold.
    """
    claims = tokens.read(tokens.Refresh, token)
    session = Session.objects.live().filter(pk=claims.session_id, user_id=claims.user_id).first()
    if session is None:
        raise tokens.InvalidToken
    fresh = tokens.new_refresh(session.pk, session.user_id)
    if not _rotate(session, claims.jti, fresh):
        _punish_reuse(session, claims.jti)
        raise tokens.InvalidToken
    return tokens.pair_of(session, fresh)


def log_out(*, session: Session) -> None:
    """End one session: its access and its refresh token are worth nothing from now on."""
    Session.objects.filter(pk=session.pk).revoke()


def revoke(*, sessions: QuerySet[Session]) -> int:
    """End the given sessions; how many of them were still open."""
    return Session.objects.filter(pk__in=sessions.values("pk")).revoke()


def revoke_sessions(*, user: User) -> int:
    """Sign an account out everywhere; how many sessions that ended."""
    return user.sessions.all().revoke()


@transaction.atomic
def disable(*, user: User) -> None:
    """Close an account: it is signed out everywhere and cannot come in again until staff enable it."""
    User.objects.filter(pk=user.pk).update(is_active=False, updated_at=timezone.now())
    user.sessions.all().revoke()


def _rotate(session: Session, jti: str, fresh: tokens.Refresh) -> bool:
    # One statement decides among any number of callers; its row count tells who won.
    now = timezone.now()
    current = Session.objects.filter(pk=session.pk, current_jti=jti, revoked_at=None)
    return bool(
        current.update(
            current_jti=fresh["jti"],
            previous_jti=jti,
            rotated_at=now,
            expires_at=now + settings.REFRESH_LIFETIME,
            updated_at=now,
        )
    )


def _punish_reuse(session: Session, jti: str) -> None:
    rows = Session.objects.filter(pk=session.pk)
    if settings.REFRESH_REUSE_GRACE:
        just_replaced = rows.filter(previous_jti=jti, rotated_at__gt=timezone.now() - settings.REFRESH_REUSE_GRACE)
        if just_replaced.exists():
            return
    rows.revoke()
