"""Who is asking: a Bearer token that belongs to a living session."""

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from structlog.contextvars import bind_contextvars

from accounts import tokens
from accounts.models import Session, User
from config.compiled import CompiledQuery, Key

_SESSION = CompiledQuery(
    lambda: Session.objects.live().select_related("user").filter(pk=Key("session"), user=Key("user"))
)


class SignedInRequest(Request):
    """For annotations only: the request of a view that nobody reaches without an account."""

    user: User


class SessionTokenAuthentication(BaseAuthentication):
    """`request.user` is the account and `request.auth` its Session: one look-up by primary key brings both.

    A request without a Bearer token is anonymous; one with a token that does not hold is refused with 401.
    """

    def authenticate(self, request: Request) -> tuple[User, Session] | None:
        scheme, _, raw = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        session = session_of(raw.strip())
        bind_contextvars(user=str(session.user_id))
        return session.user, session

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


def session_of(raw: bytes) -> Session:
    """The living session of an access token, with its user; AuthenticationFailed when there is none."""
    try:
        claims = tokens.read_access(raw)
    except tokens.InvalidToken as error:
        raise AuthenticationFailed from error
    session = _SESSION.first(session=claims.session_id, user=claims.user_id)
    if session is None:
        raise AuthenticationFailed
    return session
