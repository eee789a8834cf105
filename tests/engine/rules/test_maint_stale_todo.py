import pytest

from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.history import History
from analysis.engine.policy import Policy
from tests.engine.building import TODAY, touch
from tests.engine.rules.reading import findings_of, lines_of, marks_of

RULE = "maint-stale-todo"

FLAGGED = [
    "# TODO: rename",
    "# TODO: remove what 2.0 brought",
    "# FIXME",
    "x = 1  # HACK around the cache",
    "# todo: rename",
    "# Slow. XXX measure it",
]
FINE = [
    "# the todo list of a user",
    "# mastodon",
    "todo = 'TODO: x'",
]
OWNED = [
    "# TODO(dana): rename",
    "# TODO: rename, see #123",
    "# TODO rename (ABC-12)",
    "# FIXME https://example.org/1",
    "# TODO @dana rename",
    "# TODO(0.19+): rename",
    "# TODO: remove the old name in v2.0",
    "# TODO: rename\n# when #123 is done",
]


@pytest.mark.parametrize("source", FLAGGED)
def test_a_todo_that_nobody_owns_is_marked(source):
    assert lines_of(RULE, source) == [1]


@pytest.mark.parametrize("source", FINE)
def test_prose_is_fine(source):
    assert lines_of(RULE, source) == []


@pytest.mark.parametrize("source", OWNED)
def test_owned_ones_are_fine(source):
    assert findings_of(RULE, {"a.py": source}) == []


@pytest.mark.parametrize(
    ("source", "days_ago", "severities"),
    [
        ("# TODO: rename\n", 179, ["info"]),
        ("# TODO: rename\n", 181, ["warning"]),
        ("# TODO(dana): rename\n", 179, []),
        ("# TODO(dana): rename\n", 181, ["warning"]),
    ],
)
def test_one_that_nobody_has_touched_for_180_days_is_a_warning(source, days_ago, severities):
    history = History.of([touch("b.py"), touch("a.py", days_ago=days_ago)])
    files = {"a.py": extract(source.encode(), "python")}
    report = evaluate(files=files, history=history, policy=Policy(), today=TODAY)
    assert [each.severity for each in report.findings if each.rule_id == RULE] == severities


@pytest.mark.parametrize("language", ["typescript", "java", "go"])
def test_every_language(language):
    assert lines_of(RULE, "// TODO rename\n", language) == [1]
    assert lines_of(RULE, "/*\n * TODO rename\n */\n", language) == [2]


def test_one_that_names_a_bug_costs_two_points():
    (finding,) = findings_of(RULE, {"a.py": "# TODO: this is a bug\n"})
    assert (finding.severity, finding.points) == ("info", 2.0)


def test_the_message_repeats_it():
    (mark,) = marks_of(RULE, "# TODO: rename\n")
    assert mark.message == "`TODO` without owner or issue: rename"


def test_each_of_several_lines_counts_for_itself():
    assert lines_of(RULE, "# TODO: rename\n# FIXME: never ends\n# TODO(dana): move\n# XXX measure it\n") == [1, 2, 3, 4]
    marks = marks_of(RULE, "# TODO: rename\n# TODO(dana): see #123\n")
    assert [mark.data.get("owned") for mark in marks] == [None, "yes"]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("# todo add paging", [1]),
        ("# hack to please the old client", [1]),
        ("# xxx: remove", [1]),
        ("# todo list of the user", []),
        ("# shows each todo once", []),
        ("# hack day projects", []),
    ],
)
def test_the_word_in_small_letters_at_the_start(source, lines):
    assert lines_of(RULE, source) == lines
