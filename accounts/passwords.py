"""How passwords are hashed and what they must contain."""

import os
from functools import cache
from threading import BoundedSemaphore

from django.contrib.auth.hashers import Argon2PasswordHasher, make_password
from django.core.exceptions import ValidationError

SHORTEST, LONGEST = 8, 128


def at_once(cores: int | None) -> int:
    """How many passwords may be hashed at the same time on a machine with so many cores; None when it does not tell."""
    return max(2, cores or 2)


AT_ONCE = BoundedSemaphore(at_once(os.cpu_count()))


class Hasher(Argon2PasswordHasher):
    """Argon2id with 19 MiB and two passes: the first choice of OWASP's password storage sheet.

    Django's own figures take 100 MiB a check, which a burst of sign-ins would turn into an outage. For the same reason
    no more checks run at once than there are cores.
    """

    time_cost = 2
    memory_cost = 19456
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with AT_ONCE:
            return str(super().encode(password, salt))

    def verify(self, password: str, encoded: str) -> bool:
        with AT_ONCE:
            return bool(super().verify(password, encoded))


class CharacterValidator:
    """8 to 128 characters with an upper-case letter, a lower-case letter and a number; no other rule."""

    def validate(self, password: str, user: object = None) -> None:
        """Raise ValidationError with the first rule that is broken."""
        if not SHORTEST <= len(password) <= LONGEST:
            raise ValidationError(f"must be {SHORTEST} to {LONGEST} characters long")
        if not any(character.isupper() for character in password):
            raise ValidationError("must contain an uppercase letter")
        if not any(character.islower() for character in password):
            raise ValidationError("must contain a lowercase letter")
        if not any(character.isdecimal() for character in password):
            raise ValidationError("must contain a number")

    def get_help_text(self) -> str:
        """The rules in one sentence, for the admin's forms."""
        return f"{SHORTEST} to {LONGEST} characters with an uppercase letter, a lowercase letter and a number."


@cache
def dummy_hash() -> str:
    """The hash that a password is checked against when there is no account, so that the answer takes as long."""
    return make_password("a password that nobody has")
