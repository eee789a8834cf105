"""E-mail that is sent exactly for the facts it tells of, through the worker, and never forgotten.

To send a letter from any app above this one:

1. Call `letters.post(kind="invitation", key=f"invitation:{pk}", to=email, context={"invitation": str(pk)})` in the
   transaction that makes the fact. The row is stored with the fact; a task is nudged after the commit; a sweeper
   (`accounts.tasks.send_due_letters`, by beat) sends what no task has sent. A second post with the same key does
   nothing. `context` is JSON and holds no secret.
2. Put three templates into `templates/letters/`: `<kind>.subject.txt`, `<kind>.txt`, `<kind>.html`. They see the
   context plus `app_url` and `recipient`.
3. When the letter needs more than what was stored (a secret token, fresh names), write a composer in
   `<app>/emails.py`, which is imported at start-up:

       @letters.composer("invitation")
       def compose(letter: Letter) -> dict[str, Any] | None:
           ...mint the token, store its hash, return {"link": ...}

   It runs in a transaction in the worker, once per attempt, just before the mail leaves. None means that there is
   nothing to tell any more: the row is removed.

A letter may leave twice when the worker dies between sending and writing that down; it never leaves zero times. After
`MOST_ATTEMPTS` it is given up and stays visible in the admin, where staff can send it again.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import F
from django.template import Context, loader
from django.utils import timezone

from accounts.models import Letter
from config.background import nudge

MOST_ATTEMPTS = 8
FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(hours=2)

Composer = Callable[[Letter], dict[str, Any] | None]
COMPOSERS: dict[str, Composer] = {}

log = structlog.get_logger("letters")


def composer(kind: str) -> Callable[[Composer], Composer]:
    """Register the function that completes letters of a kind when they leave."""

    def register(function: Composer) -> Composer:
        COMPOSERS[kind] = function
        return function

    return register


@transaction.atomic
def post(*, kind: str, key: str, to: str, context: dict[str, Any] | None = None) -> None:
    """Store a letter, unless one with this key exists, and have it sent after the commit."""
    letter = Letter(kind=kind, key=key, recipient=to, context=context or {})
    Letter.objects.bulk_create([letter], ignore_conflicts=True)
    nudge("accounts.tasks.send_letter", str(letter.pk))


def send(letter_id: UUID) -> None:
    """Send one letter if it is due and nobody else is sending it. Safe to call any number of times."""
    letter = _claim(letter_id)
    if letter is None:
        return
    compose = COMPOSERS.get(letter.kind)
    with transaction.atomic():
        more = compose(letter) if compose else {}
        if more is None:
            letter.delete()
            return
    message_of(letter, more).send()
    Letter.objects.filter(pk=letter.pk).update(sent_at=timezone.now(), due_at=None)


def due() -> list[UUID]:
    """Ids of the letters whose next attempt may start, oldest first."""
    return list(Letter.objects.filter(due_at__lte=timezone.now()).order_by("due_at").values_list("pk", flat=True)[:500])


def send_again(letter_id: UUID) -> None:
    """Give a letter that was given up, or that got lost on its way, a new set of attempts."""
    Letter.objects.filter(pk=letter_id).update(due_at=timezone.now(), attempts=0, sent_at=None)
    nudge("accounts.tasks.send_letter", str(letter_id))


def message_of(letter: Letter, more: dict[str, Any]) -> EmailMultiAlternatives:
    """The mail in text and HTML. Values are escaped in the HTML part and stand as they are in the text."""
    values = {"app_url": settings.APP_URL, "recipient": letter.recipient, **letter.context, **more}
    name = f"letters/{letter.kind}"
    subject = " ".join(_render(f"{name}.subject.txt", values, escape=False).split())
    message = EmailMultiAlternatives(subject, _render(f"{name}.txt", values, escape=False), to=[letter.recipient])
    message.attach_alternative(_render(f"{name}.html", values, escape=True), "text/html")
    return message


def _claim(letter_id: UUID) -> Letter | None:
    # The update is claim and retry timer in one: if this process dies, the letter is due again after the pause.
    now = timezone.now()
    letter = Letter.objects.filter(pk=letter_id, due_at__lte=now).first()
    if letter is None:
        return None
    last = letter.attempts + 1 >= MOST_ATTEMPTS
    pause = min(FIRST_PAUSE * 2**letter.attempts, LONGEST_PAUSE)
    claimed = Letter.objects.filter(pk=letter_id, attempts=letter.attempts, due_at=letter.due_at).update(
        attempts=F("attempts") + 1, due_at=None if last else now + pause, updated_at=now
    )
    return letter if claimed else None


def _render(name: str, values: dict[str, Any], *, escape: bool) -> str:
    template: Any = loader.get_template(name)
    return str(template.template.render(Context(values, autoescape=escape)))
