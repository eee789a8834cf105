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


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("await fetch(url);", [1]),
        ("await fetch(url, { method: 'POST' });", [1]),
        ("import axios from 'axios';\naxios.get(url);", [2]),
        ("import axios from 'axios';\naxios.post(url, data, { headers });", [2]),
        ("await fetch(url, { signal });", []),
        ("await fetch(url, options);", []),
        ("await fetch(url, { ...options });", []),
        ("import axios from 'axios';\naxios.post(url, data, { timeout: 3 });", []),
        ("'use client';\nfetch(url);", []),
        ("function fetch(x) {}\nfetch(url);", []),
        ("api.get(url);", []),
    ],
)
def test_script(source, lines):
    assert [mark.line for mark in marks(source, "typescript")] == lines


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("var c = HttpClient.newHttpClient();", [5]),
        ("new URL(u).openStream();", [5]),
        ("var t = new RestTemplate();", [5]),
        ("var c = HttpClient.newHttpClient(); request.timeout(limit);", []),
        ("var t = new RestTemplate(factory);", []),
    ],
)
def test_java(body, lines):
    head = (
        "import java.net.http.HttpClient;\nimport java.net.URL;\n"
        "import org.springframework.web.client.RestTemplate;\nclass A { void f(String u) {\n"
    )
    assert [mark.line for mark in marks(head + body + " } }", "java")] == lines


def test_go():
    source = 'package a\nimport "net/http"\nfunc f(u string) {\nhttp.Get(u)\n}\n'
    assert [mark.line for mark in marks(source, "go")] == [4]
    assert marks(source.replace("http.Get(u)", "client.Get(u)"), "go") == []
    assert marks(source.replace("http.Get(u)", "c := &http.Client{Timeout: t}"), "go") == []
