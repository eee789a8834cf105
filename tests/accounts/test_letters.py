"""Letters leave once per fact, whatever happens on the way."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from django.core import mail
from django.db import connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from accounts import letters, tasks
from accounts.models import Letter, PasswordReset
from accounts.services import mint_reset
from config.models import first_id_at


@pytest.fixture
def kind(settings, tmp_path):
    """A kind of letter with templates of its own."""
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "hello.subject.txt").write_text("Hello {{ name }}\n")
    (folder / "hello.txt").write_text("Dear {{ name }}, see {{ app_url }} {{ secret }}\n")
    (folder / "hello.html").write_text("<p>Dear {{ name }}</p>\n")
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [tmp_path, *settings.TEMPLATES[0]["DIRS"]]}]
    yield "hello"
    letters.COMPOSERS.pop("hello", None)


def post(name="Dana", key="hello:1"):
    letters.post(kind="hello", key=key, to="dana@example.org", context={"name": name})
    return Letter.objects.get(key=key)


@pytest.fixture
def broken_mail(monkeypatch):
    def refuse(*_):
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
        yield patch


@pytest.mark.django_db
class TestLetters:
    def test_text_and_html_with_the_context(self, kind, postbox):
        post()

        (message,) = postbox()
        assert (message.subject, message.body) == ("Hello Dana", "Dear Dana, see http://127.0.0.1:8000 \n")
        assert message.alternatives[0].content == "<p>Dear Dana</p>\n"
        assert Letter.objects.get().sent_at is not None

    def test_the_same_fact_is_told_once(self, kind, postbox):
        post()
        post()

        assert len(postbox()) == 1
        assert len(postbox()) == 1

    def test_nothing_leaves_when_the_fact_is_rolled_back(self, kind, postbox):
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            post()
            _ = 1 / 0

        assert postbox() == []

    @pytest.mark.parametrize(
        "name", ["Eve\r\nBcc: all@example.org", "<script>alert(1)</script>", "{{ secret }}", "‮evil"]
    )
    def test_hostile_words_stay_words(self, kind, postbox, name):
        post(name)

        (message,) = postbox()
        assert "\n" not in message.subject
        assert message.bcc == []
        assert "<script>" not in message.alternatives[0].content
        assert message.message().as_bytes()

    def test_a_composer_adds_a_secret_that_is_not_stored(self, kind, postbox):
        letters.composer("hello")(lambda letter: {"secret": "s3cret"})
        post()

        assert "s3cret" in postbox()[0].body
        assert "s3cret" not in str(list(Letter.objects.values()))

    def test_a_composer_may_find_that_there_is_nothing_to_tell(self, kind, postbox):
        letters.composer("hello")(lambda letter: None)
        post()

        assert postbox() == []
        assert not Letter.objects.exists()

    def test_a_mail_server_that_is_away_costs_time_not_the_letter(self, kind, postbox, broken_mail):
        letter = post()
        with pytest.raises(ConnectionRefusedError):
            letters.send(letter.pk)
        broken_mail.undo()
        assert postbox() == []

        Letter.objects.update(due_at=timezone.now())

        assert len(postbox()) == 1

    def test_attempts_pause_longer_each_time_and_end(self, kind, broken_mail):
        letter, pauses = post(), []
        for _ in range(letters.MOST_ATTEMPTS):
            Letter.objects.update(due_at=timezone.now())
            with pytest.raises(ConnectionRefusedError):
                letters.send(letter.pk)
            letter.refresh_from_db()
            pauses.append(letter.due_at and round((letter.due_at - timezone.now()) / timedelta(minutes=1)))

        assert pauses == [1, 2, 4, 8, 16, 32, 64, None]
        assert letters.due() == []

    def test_staff_can_send_one_again(self, kind, postbox, broken_mail):
        letter = post()
        Letter.objects.update(attempts=8, due_at=None)
        broken_mail.undo()

        letters.send_again(letter.pk)

        assert len(postbox()) == 1

    def test_the_sweeper_finds_what_no_task_has_sent(self, kind, mailoutbox):
        post()

        tasks.send_due_letters()

        assert len(mailoutbox) == 1

    def test_a_broker_that_is_away_harms_no_request(
        self, kind, postbox, monkeypatch, django_capture_on_commit_callbacks
    ):
        def away(*_, **__):
            raise OperationalError

        monkeypatch.setattr(tasks.send_letter, "apply_async", away)
        with django_capture_on_commit_callbacks(execute=True):
            post()

        assert len(postbox()) == 1

    def test_every_kind_has_its_three_templates(self):
        from django.template.loader import get_template

        for kind in letters.COMPOSERS:
            for ending in ("subject.txt", "txt", "html"):
                assert get_template(f"letters/{kind}.{ending}")

    def test_mail_goes_into_files_when_nothing_is_configured(self, kind, settings, tmp_path):
        settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
        settings.EMAIL_FILE_PATH = tmp_path / "mail"
        letters.send(post().pk)

        (file,) = Path(settings.EMAIL_FILE_PATH).iterdir()
        assert "Subject: Hello Dana" in file.read_text()


@pytest.mark.django_db(transaction=True)
def test_of_eight_senders_one_sends(kind):
    letter = Letter.objects.create(kind="hello", key="k", recipient="dana@example.org", context={"name": "Dana"})
    barrier = threading.Barrier(8)

    def call(_):
        barrier.wait()
        try:
            letters.send(letter.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(call, range(8)))

    assert Counter(message.subject for message in mail.outbox) == {"Hello Dana": 1}


@pytest.mark.django_db
def test_what_has_ended_long_ago_is_cleared(kind, as_owner, owner):
    sent = post()
    Letter.objects.update(due_at=None, sent_at=timezone.now())
    fresh = post(key="hello:2")
    long_ago = timezone.now() - timedelta(days=31)
    Letter.objects.filter(pk=sent.pk).update(id=first_id_at(long_ago), updated_at=long_ago)
    owner.sessions.update(expires_at=long_ago)

    tasks.clear_ended()

    assert [letter.pk for letter in Letter.objects.all()] == [fresh.pk]
    assert not owner.sessions.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(("hours", "left"), [(-1, 1), (1, 0)], ids=["not yet", "over"])
def test_letters_links_and_sessions_stay_for_their_time(kind, as_owner, owner, settings, hours, left):
    def ended(what):
        return timezone.now() - settings.RETENTION[what] - timedelta(hours=hours)

    post()
    mint_reset(email=owner.email)
    Letter.objects.update(id=first_id_at(ended("letters")), due_at=None, updated_at=ended("letters"))
    PasswordReset.objects.update(id=first_id_at(ended("letters")), expires_at=ended("letters"))
    owner.sessions.update(expires_at=ended("sessions"))

    tasks.clear_ended()

    assert [Letter.objects.count(), PasswordReset.objects.count(), owner.sessions.count()] == [left] * 3
