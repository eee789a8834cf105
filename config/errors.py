"""Kinds of refusal, without HTTP.

A service refuses by raising a subclass that carries the sentence the caller will read; `config.api.errors` turns each
kind into its status code.
"""


class Refusal(Exception):
    """The service will not do what was asked, and says why in one sentence."""

    message = "The request was refused"

    def __init__(self, message: str | None = None) -> None:
        self.message = message or type(self).message
        super().__init__(self.message)


class InvalidInput(Refusal):
    """What was sent makes no sense."""

    message = "The request is not valid"


class NotAuthenticated(Refusal):
    """Nobody, or somebody unknown, is asking."""

    message = "Unauthorized"


class NotAllowed(Refusal):
    """The caller is known but may not do this: role too low, plan too small, limit reached."""

    message = "You may not do this"


class NotFound(Refusal):
    """The thing does not exist for this caller."""

    message = "Not found"


class Conflict(Refusal):
    """The thing is already there, or in a state that forbids the change."""

    message = "The request conflicts with the present state"


class OutOfDate(Refusal):
    """The change was made from a state that is no longer the present one."""

    message = "It was changed meanwhile; read it again"


class ProviderFailed(Refusal):
    """Another company's service failed or did not answer in time; nothing was changed here."""

    message = "The provider did not answer; nothing was changed, try again"


class Unavailable(Refusal):
    """Not set up here, or not reachable at the moment."""

    message = "This is not available here"
