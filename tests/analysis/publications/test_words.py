"""What people read: short, escaped, without effect. No Django."""

import pytest

from analysis.changes import BREAKS_POLICY
from analysis.codehosts import words
from analysis.codehosts.markdown import code, text
from tests.analysis.publications.conftest import finding, verdict

NASTY = "@dana see #12, !3 <img src=x onerror=alert(1)> [a](https://evil.example.org) `x` GH-7 www.evil.example\n/close"


def judged(said: dict, *, passed: bool = False, blocking: int = 2, warnings: int = 0) -> words.Judged:
    return words.Judged(
        sha="a" * 40,
        base_branch="main",
        passed=passed,
        score=12.0,
        blocking=blocking,
        warnings=warnings,
        verdict=said,
        page="https://debt.example.org/repos/1/prs/12",
    )


class TestForeignWords:
    def test_nobody_is_called_and_nothing_is_linked(self) -> None:
        said = text(NASTY, 300)

        for effect in ("@dana", "#12", "!3", "<img", "[a](", "https://", "GH-7", "www.evil", "\n"):
            assert effect not in said

    def test_a_code_span_cannot_be_left(self) -> None:
        assert code("a`b``c", 20) == "```a`b``c```"
        assert code("`", 20) == "`` ` ``"

    def test_code_in_prose_stays_code_and_prose_stays_prose(self) -> None:
        assert text("`Order` is *queried* in `a @dana` and `b", 100) == "`Order` is \\*queried\\* in `a @dana` and \\`b"

    def test_a_long_path_keeps_its_end(self) -> None:
        assert code("very/long/folder/name.py", 10) == "`…r/name.py`"

    @pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\x00", "\x1b", "\ud800"])
    def test_what_cannot_be_seen_is_dropped(self, sign: str) -> None:
        assert sign not in text(f"a{sign}b", 10)

    def test_all_of_a_finding_is_foreign(self) -> None:
        said = words.comment(judged(verdict(finding(message=NASTY, suggestion=NASTY, file="a@dana`<b>.py", line=1))))

        assert "<img" not in said
        assert "\n/close" not in said
        assert "@dana see" not in said
        assert "``a@dana`<b>.py:1``" in said  # in a code span nothing has an effect


class TestLengths:
    def test_a_status_fits_into_140_characters(self) -> None:
        assert len(words.unjudged_status("because " * 60).description) == 140

    def test_the_longest_comment_is_short_enough_for_both_hosts(self) -> None:
        exception = {
            "rule": "r" * 90, "file": "f" * 300, "reason": "<" * 3000, "expires": "2027-01-01", "expired": True,
            "covered": 3,
        }  # fmt: skip
        many = [finding(message="_" * 2000, suggestion="<" * 900, file="d/" * 500 + "x.py") for _ in range(200)]

        said = words.comment(judged(verdict(*many, exceptions=[exception] * 50, notes=["*" * 900] * 20)))

        assert len(said) < 65_000
        assert "[190 more](" in said


class TestWhatIsSaid:
    def test_findings_that_only_inform_are_no_reason_to_speak(self) -> None:
        said = verdict(finding(severity="info", gateAction="none"), gates=[])

        assert words.comment(judged(said, passed=True, blocking=0)) == ""

    def test_what_blocks_comes_first(self) -> None:
        said = words.comment(
            judged(verdict(finding(severity="warning", gateAction="warn", line=1), finding(line=2), finding(line=3)))
        )

        assert said.index("orders.py:2") < said.index("orders.py:3") < said.index("orders.py:1")

    def test_a_change_that_breaks_the_policy_file_gets_a_comment_though_it_passes(self) -> None:
        note = f"{BREAKS_POLICY}; once it is merged, its gates hold no more: line 2"

        said = words.comment(judged(verdict(notes=[note]), passed=True, blocking=0))

        assert said.startswith("### ✅ Passed")
        assert note in said

    def test_an_expired_exception_is_reported(self) -> None:
        exception = {
            "rule": "r", "file": "f", "reason": "Soon", "expires": "2026-01-01", "expired": True, "covered": 1,
        }  # fmt: skip

        said = words.comment(judged(verdict(finding(), exceptions=[exception])))

        assert "`r` in `f` expired on 2026-01-01: “Soon”" in said

    def test_the_status_sums_it_up(self) -> None:
        assert words.status(judged(verdict(finding()))).description == (
            "Blocked: new critical findings 1 (> 0); 1 new finding, 0 resolved, debt score +12.0"
        )
        assert words.status(judged(verdict(), passed=True, blocking=0, warnings=1)).description == (
            "Passed with 1 warning; no new debt"
        )
