"""What can be done with accounts and their sessions."""

from accounts.services.linking import AccountDisabled, EmailUnverified, Profile, sign_in_with_provider
from accounts.services.passwords import forgot_password, mint_reset, reset_password
from accounts.services.sessions import (
    disable,
    log_in,
    log_out,
    open_session,
    refresh,
    revoke,
    revoke_sessions,
    sign_up,
)

__all__ = [
    "AccountDisabled",
    "EmailUnverified",
    "Profile",
    "disable",
    "forgot_password",
    "log_in",
    "log_out",
    "mint_reset",
    "open_session",
    "refresh",
    "reset_password",
    "revoke",
    "revoke_sessions",
    "sign_in_with_provider",
    "sign_up",
]
