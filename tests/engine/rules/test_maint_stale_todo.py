import pytest

from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "maint-stale-todo"

FLAGGED = ["# TODO: rename", "# FIXME", "x = 1  # HACK around the cache", "# todo: rename", "# Slow. XXX measure it"]
FINE = [
    "# TODO(dana): rename",
    "# TODO: rename, see #123",
    "# TODO rename (ABC-12)",
    "# FIXME https://example.org/1",
    "# TODO @dana rename",
    "# the todo list of a user",
    "# mastodon",
    "todo = 'TODO: x'",
    "# TODO: rename\n# when #123 is done",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_a_todo_that_nobody_owns_is_marked(source):
    assert lines_of(RULE, source) == [1]


@pytest.mark.parametrize("source", FINE)
def test_owned_ones_and_prose_are_fine(source):
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize("language", ["typescript", "java", "go"])
def test_every_language(language):
    assert lines_of(RULE, "// TODO rename\n", language) == [1]
    assert lines_of(RULE, "/*\n * TODO rename\n */\n", language) == [1]


def test_one_that_names_a_bug_costs_two_points():
    (finding,) = findings_of(RULE, {"a.py": "# TODO: this is a bug\n"})
    assert (finding.severity, finding.points) == ("info", 2.0)


def test_the_message_repeats_it():
    (mark,) = marks_of(RULE, "# TODO: rename\n")
    assert mark.message == "`TODO` without owner or issue: rename"
