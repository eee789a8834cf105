"""What is noted of a test: its structure and what rules are heard on in tests, the same as of any other file."""

import pytest
from msgspec import structs

from analysis.engine.extract import extract
from analysis.engine.facts import FileFacts
from analysis.engine.languages import AS_TEST
from analysis.engine.rules import all_rules
from tests.engine.extract.test_gates import CORPUS, LANGUAGES

HEARD_IN_TESTS = {module.RULE.id for module in all_rules() if module.RULE.tests_too}
LEFT_OUT = ("loops", "queries", "models", "entries", "accesses", "constants")


def without_calls(facts: FileFacts) -> list[object]:
    """Functions, but for what follows from the calls in them: recursion counts for the cognitive complexity."""
    return [structs.replace(each, calls=(), handed=(), cognitive=0) for each in facts.functions]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_test_has_the_structure_imports_and_marks_of_the_same_source_elsewhere(language):
    for text in CORPUS:
        source, test = (extract(text.encode(), reading) for reading in (language, language + AS_TEST))
        assert without_calls(test) == without_calls(source), text
        for name in ("language", "lines", "code_lines", "classes", "imports", "exports", "suppressions", "is_entry"):
            assert getattr(test, name) == getattr(source, name), text
        assert test.marks == tuple(mark for mark in source.marks if mark.rule in HEARD_IN_TESTS), text


def test_what_a_test_does_is_not_noted():
    source = b"def test_orders():\n    for user in users:\n        assert Order.objects.filter(user=user).get()\n"
    facts = extract(source, "python" + AS_TEST)
    assert not any(getattr(facts, name) for name in LEFT_OUT)
    assert facts.functions[1].calls == ()
