import pytest

from analysis.engine.extract import extract


def marks(source, language="python"):
    return [mark for mark in extract(source.encode(), language).marks if mark.rule == "rel-swallowed-exception"]


def handled(header, body, guarded="x()"):
    return f"try:\n    {guarded}\n{header}\n    {body}\n"


FLAGGED = [
    ("except Exception:", "pass"),
    ("except:", "..."),
    ("except ValueError as e:", "pass"),
    ("except Exception:", "return None"),
    ("except Exception:", "pass  # ignore"),
]
FINE = [
    ("except Exception:", "log.warning('x')"),
    ("except Exception:", "raise"),
    ("except KeyError:", "pass"),
    ("except ImportError:", "pass"),
    ("except ValueError:", "return None"),
    ("except Exception:", "pass  # the server may be gone already"),
    ("except Exception:", "found = False"),
    ("except Exception as ignored:", "pass"),
]


@pytest.mark.parametrize(("header", "body"), FLAGGED)
def test_a_handler_that_does_nothing_is_marked_at_its_line(header, body):
    assert [mark.line for mark in marks(handled(header, body))] == [3]


@pytest.mark.parametrize(("header", "body"), FINE)
def test_handlers_that_do_or_say_something_are_fine(header, body):
    assert marks(handled(header, body)) == []


def test_around_a_write_it_is_critical():
    (mark,) = marks(handled("except Exception:", "pass", "order.save()"))
    assert mark.severity == "critical"


def test_closing_may_fail():
    assert marks(handled("except Exception:", "pass", "connection.close()")) == []


def test_suppressing_everything_is_marked():
    assert len(marks("from contextlib import suppress\nwith suppress(Exception):\n    x()\n")) == 1
    assert marks("from contextlib import suppress\nwith suppress(KeyError):\n    x()\n") == []
