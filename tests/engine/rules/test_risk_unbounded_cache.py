import pytest

from tests.engine.rules.reading import lines_of

RULE = "risk-unbounded-cache"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("_cache = {}\ndef load(x):\n    _cache[x] = read(x)\n", [1]),
        ("_cache = {}\ndef load(x):\n    _cache['a'] = read(x)\n", []),
        ("_cache = {}\ndef load(x):\n    _cache[x] = read(x)\n    if len(_cache) > 9: drop()\n", []),
        ("_cache = {}\ndef load(x):\n    _cache[x] = read(x)\ndef drop(x):\n    _cache.pop(x)\n", []),
        ("HANDLERS = {}\ndef register(x):\n    HANDLERS[x.name] = x\n", []),
        ("def load(x):\n    cache = {}\n    cache[x] = 1\n", []),
        ("_cache = WeakKeyDictionary()\ndef load(x):\n    _cache[x] = 1\n", []),
    ],
)
def test_a_dictionary_of_the_module(source, lines):
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("decorators", "head", "lines"),
    [
        ("@lru_cache(maxsize=None)", "def f(self, x): ...", [3]),
        ("@lru_cache", "def f(self): ...", [3]),
        ("@lru_cache", "def f(x): ...", []),
        ("@cached_property", "def f(self): ...", []),
    ],
)
def test_a_cached_method(decorators, head, lines):
    source = f"from functools import lru_cache, cached_property\nclass A:\n    {decorators}\n    {head}\n"
    assert lines_of(RULE, source) == lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("const cache = new Map();\nfunction load(k) {\n  cache.set(k, 1);\n}", [1]),
        ("const cache = new Map<string, number>();\nfunction load(k) {\n  cache.set(k, 1);\n}", [1]),
        ("const cache = new Map();\nfunction load(k) {\n  cache.set(k, 1);\n  cache.delete(k);\n}", []),
        ("const cache = new WeakMap();\nfunction load(k) {\n  cache.set(k, 1);\n}", []),
        ("function load(k) {\n  const cache = new Map();\n  cache.set(k, 1);\n}", []),
    ],
)
def test_script(source, lines):
    assert lines_of(RULE, source, "typescript") == lines
