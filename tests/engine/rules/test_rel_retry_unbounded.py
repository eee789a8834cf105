import pytest

from tests.engine.rules.reading import lines_of

RULE = "rel-retry-unbounded"


def retry(handler, call="return client.fetch(key)"):
    return (
        f"def load(client, key):\n    while True:\n        try:\n            {call}\n        except "
        f"OSError:\n            {handler}\n"
    )


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        (retry("continue"), [2]),
        (retry("pass"), [2]),
        (retry("raise"), []),
        (retry("time.sleep(2)"), []),
        (retry("continue", "return int(key)"), []),
        (retry("continue").replace("def load", "def worker_loop"), []),
        ("import tenacity\n@tenacity.retry\ndef f(): ...\n", [2]),
        ("from tenacity import retry\n@retry()\ndef f(): ...\n", [2]),
        ("from tenacity import retry\n@retry(stop=a, wait=b)\ndef f(): ...\n", []),
        ("from other import retry\n@retry()\ndef f(): ...\n", []),
    ],
)
def test_python(source, lines):
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("async function f() { while (true) { try { return await client.load(); } catch (e) { continue; } } }", [1]),
        ("for (let i = 0; i < 3; i++) { try { client.load(); } catch (e) { } }", []),
        ("const o = { retries: Infinity };", [1]),
        ("const o = { retries: 3 };", []),
    ],
)
def test_script(source, lines):
    assert lines_of(RULE, source, "typescript") == lines
