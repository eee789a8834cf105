import pytest

from analysis.engine.extract import extract


def marks(source, language="python"):
    return [mark for mark in extract(source.encode(), language).marks if mark.rule == "risk-http-no-timeout"]


PYTHON_FLAGGED = [
    "import requests\nrequests.get(url)",
    "import requests as r\nr.post(url, json={}, timeout=None)",
    "from requests import get as fetch\nfetch(url)",
    "import requests\nrequests.Session().get(url)",
    "from urllib.request import urlopen\nurlopen(url)",
    "import httpx\nhttpx.Client(timeout=None)",
]
PYTHON_FINE = [
    "import requests\nrequests.get(url, timeout=3)",
    "import requests\nrequests.get(url, **options)",
    "import httpx\nhttpx.get(url)",
    "requests = {}\nrequests.pop(url)",
    "cache.get(url)",
    "from urllib.request import urlopen\nurlopen(url, None, 3)",
]


@pytest.mark.parametrize("source", PYTHON_FLAGGED)
def test_python_calls_without_a_limit_are_marked(source):
    assert [mark.line for mark in marks(source, "python")] == [2]


@pytest.mark.parametrize("source", PYTHON_FINE)
def test_python_calls_with_a_limit_are_fine(source):
    assert marks(source, "python") == []
