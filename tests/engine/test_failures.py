"""A rule that raises costs its own findings, and nobody takes the rest for the whole."""

import logging

import pytest

from analysis.engine.changes import ChangedFiles
from analysis.engine.evaluate import report_of
from analysis.engine.evaluator import Evaluator
from analysis.engine.facts import PARSER_FAILED, TOOK_TOO_LONG, FileFacts
from analysis.engine.gates import compare, judge
from analysis.engine.history import History
from analysis.engine.policy import Policy
from tests.engine.building import TODAY, a_rule, function, judged, mark, source

FILES = {
    "app/a.py": source(function(), marks=[mark(), mark("risk-sound", line=12)]),
    "app/b.py": source(function(), marks=[mark(), mark("risk-sound", line=12)]),
}
SOUND = a_rule("risk-sound")


def fails_on(*paths):
    def judge_mark(seen, place, codebase, policy):
        if place.path in paths:
            raise KeyError(place.path)
        return place.finding(seen)

    return judge_mark


def fails_after_one(codebase, policy):
    for place, seen in codebase.marks("risk-x"):
        yield place.finding(seen)
        raise ZeroDivisionError


def fails_on_a_file(path, facts):
    raise AttributeError(path)


def found(report):
    return sorted((each.rule_id, each.file) for each in report.findings)


ALL_OF_SOUND = [("risk-sound", "app/a.py"), ("risk-sound", "app/b.py")]
SOME = "The rule risk-x failed on 1 file and was left out there (app/a.py); whatever it would have found is missing."
WHOLE = "The rule risk-x failed and was left out; whatever it would have found is missing."


class TestFilesThatNoParserGotThrough:
    def test_are_named_with_what_became_of_them(self):
        lost = {f"app/{name}.py": FileFacts("python", skipped=TOOK_TOO_LONG) for name in "fecd"}
        report = judged({**FILES, **lost, "web/x.go": FileFacts("go", skipped=PARSER_FAILED)}, SOUND)

        assert report.notes == (
            "4 files took too long to parse (app/c.py, app/d.py, app/e.py, ...); "
            "whatever would have been found there is missing.",
            "The parser failed on 1 file (web/x.go); whatever would have been found there is missing.",
        )
        assert found(report) == ALL_OF_SOUND

    def test_what_is_left_out_on_purpose_is_not_told(self):
        generated = FileFacts("python", lines=9, skipped="generated")
        assert judged({**FILES, "app/made.py": generated}, SOUND).notes == ()


class TestTheReport:
    def test_lacks_what_the_rule_would_have_found_in_the_file(self):
        report = judged(FILES, a_rule(judge=fails_on("app/a.py")), SOUND)
        assert found(report) == [*ALL_OF_SOUND, ("risk-x", "app/b.py")]
        assert report.notes == (SOME,)

    @pytest.mark.parametrize("hooks", [{}, {"AFTER_HOTSPOTS": True}])
    def test_lacks_all_that_a_check_gives_that_fails_half_way(self, hooks):
        report = judged(FILES, a_rule(check=fails_after_one, **hooks), SOUND)
        assert found(report) == ALL_OF_SOUND
        assert report.notes == (WHOLE,)

    def test_counts_the_files_and_names_a_few(self):
        files = {f"app/{name}.py": source() for name in "abcde"}
        report = judged(files, a_rule(check_file=fails_on_a_file))
        assert "failed on 5 files and was left out there (app/a.py, app/b.py, app/c.py, ...)" in report.notes[0]

    def test_is_whole_again_with_the_next_state(self):
        def judge_mark(seen, place, codebase, policy):
            if len(codebase.files) > 1:
                raise KeyError
            return place.finding(seen)

        evaluator = Evaluator(Policy(), [a_rule(judge=judge_mark)])
        evaluator.judge(FILES, History.empty(), TODAY)
        assert report_of(evaluator).failed == {"risk-x": {"app/a.py", "app/b.py"}}
        evaluator.judge({"app/a.py": FILES["app/a.py"]}, History.empty(), TODAY)
        assert report_of(evaluator).failed == {}
        assert found(report_of(evaluator)) == [("risk-x", "app/a.py")]

    def test_keeps_what_is_missing_in_a_file_that_did_not_change(self):
        evaluator = Evaluator(Policy(), [a_rule(judge=fails_on("app/a.py"))])
        evaluator.judge(FILES, History.empty(), TODAY)
        evaluator.judge(FILES, History.empty(), TODAY)
        assert report_of(evaluator).notes == (SOME,)

    def test_is_not_written_without_memory(self):
        def judge_mark(seen, place, codebase, policy):
            raise MemoryError

        with pytest.raises(MemoryError):
            judged(FILES, a_rule(judge=judge_mark))


def test_the_first_failure_of_a_rule_is_logged_with_its_place(caplog):
    with caplog.at_level(logging.ERROR):
        judged(FILES, a_rule(judge=fails_on("app/a.py", "app/b.py")))
    assert [each.message for each in caplog.records] == ["The rule risk-x failed on app/a.py"]


class TestAChange:
    def delta(self, before, after):
        return compare(judged(FILES, before, SOUND), judged(FILES, after, SOUND), ChangedFiles())

    def test_does_not_resolve_what_a_rule_could_not_look_for(self):
        delta = self.delta(a_rule(), a_rule(judge=fails_on("app/a.py")))
        assert (delta.introduced, delta.resolved) == ((), ())

    def test_does_not_bring_what_a_rule_could_not_see_before(self):
        delta = self.delta(a_rule(check=fails_after_one), a_rule())
        assert (delta.introduced, delta.resolved) == ((), ())

    def test_is_judged_visibly_without_the_rule(self):
        delta = self.delta(a_rule(judge=fails_on("app/b.py")), a_rule(judge=fails_on("app/a.py")))
        assert judge(delta, Policy()).notes == (
            SOME,
            SOME.replace("failed", "failed before this change").replace("/a.", "/b."),
        )
