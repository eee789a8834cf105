import pytest

from tests.engine.rules.reading import lines_of

RULE = "risk-lock-held-across-io"
GO = 'package a\nimport "net/http"\n\nfunc (s *Store) load() {\n\ts.mu.Lock()\n\t%s\n}\n'


@pytest.mark.parametrize(
    ("source", "language", "lines"),
    [
        ("import requests\nwith lock:\n    rows = 1\n    requests.get(url, timeout=5)\n", "python", [4]),
        (
            "import time\nclass A:\n    def f(self):\n        with self._lock:\n            time.sleep(1)\n",
            "python",
            [5],
        ),
        ("import requests\nwith lock:\n    rows = list(seen)\nrequests.get(url, timeout=5)\n", "python", []),
        ("import requests\nwith connection_lock:\n    requests.get(url, timeout=5)\n", "python", []),
        ("import requests\nwith lock:\n    def later():\n        requests.get(url, timeout=5)\n", "python", []),
        (GO % "http.Get(u)\n\ts.mu.Unlock()", "go", [6]),
        (GO % "defer s.mu.Unlock()\n\thttp.Get(u)", "go", [7]),
        (GO % "s.rows = 1\n\ts.mu.Unlock()\n\thttp.Get(u)", "go", []),
        ("class A { void f() {\n  synchronized (this) {\n    Thread.sleep(5);\n  }\n} }\n", "java", [3]),
        ("class A { void f() {\n  synchronized (this) {\n    rows.add(5);\n  }\n} }\n", "java", []),
    ],
)
def test_slow_calls_under_a_lock(source, language, lines):
    assert lines_of(RULE, source, language) == lines
