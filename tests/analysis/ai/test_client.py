"""One call of the chat endpoint: what is sent, and how it ends when the other side misbehaves."""

import time
from typing import Any

import pytest

from analysis.ai import client
from tests.providers.chat import Chat

HELLO = [{"role": "user", "content": "Hello"}]


@pytest.fixture(autouse=True)
def bare_settings(chat: Chat, settings: Any) -> None:
    """The least that can be set: an address."""
    settings.AI_MODEL = settings.AI_API_KEY = ""


def test_it_answers_what_the_model_says(chat: Chat) -> None:
    chat.says = "Hello yourself."

    assert client.complete(HELLO) == "Hello yourself."


def test_model_and_key_are_sent_only_when_set(chat: Chat, settings: Any) -> None:
    client.complete(HELLO)
    settings.AI_MODEL, settings.AI_API_KEY = "small-1", "key-1"
    client.complete(HELLO)

    bare, full = chat.asked
    assert bare.body == {"messages": HELLO, "stream": False}
    assert "Authorization" not in bare.headers
    assert full.body["model"] == "small-1"
    assert full.headers["Authorization"] == "Bearer key-1"


def test_a_slash_at_the_end_of_the_address_does_no_harm(chat: Chat, settings: Any) -> None:
    settings.AI_BASE_URL += "/"

    client.complete(HELLO)

    assert chat.asked[0].path == "/v1/chat/completions"


@pytest.mark.parametrize("mood", ["hangs", "drips"])
def test_the_time_limit_covers_the_whole_call(chat: Chat, settings: Any, mood: str) -> None:
    chat.mood, settings.AI_TIMEOUT_SECONDS = mood, 0.3
    started = time.monotonic()

    with pytest.raises(client.AiTooSlow):
        client.complete(HELLO)

    assert time.monotonic() - started < 5


@pytest.mark.parametrize(
    ("mood", "error"),
    [
        ("fails", client.AiFailed),
        ("refuses", client.AiFailed),
        ("floods", client.AiFailed),
        ("redirects", client.AiFailed),
        ("lies", client.AiNonsense),
        ("mumbles", client.AiNonsense),
        ("is silent", client.AiNonsense),
    ],
)
def test_a_bad_answer_is_asked_for_once(chat: Chat, mood: str, error: type[Exception]) -> None:
    chat.mood = mood

    with pytest.raises(client.AiFailed) as raised:
        client.complete(HELLO)

    assert type(raised.value) is error
    assert len(chat.asked) <= 1


def test_an_address_that_is_none_is_a_failure(chat: Chat, settings: Any) -> None:
    settings.AI_BASE_URL = "models.example.org/v1"

    with pytest.raises(client.AiFailed):
        client.complete(HELLO)


def test_a_failed_call_makes_room_for_the_next(chat: Chat, settings: Any) -> None:
    settings.AI_CALLS_AT_ONCE = 1
    chat.mood = "fails"
    with pytest.raises(client.AiFailed):
        client.complete(HELLO)
    chat.mood = "well"

    assert client.complete(HELLO) == "All is well."


def test_without_an_address_it_is_off(settings: Any) -> None:
    settings.AI_BASE_URL = ""

    with pytest.raises(client.AiOff):
        client.complete(HELLO)
