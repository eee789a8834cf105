"""The examples that pages about rules show: what they call flagged is flagged, and the rest is not."""

from datetime import date

import pytest

from analysis.engine.evaluate import evaluate
from analysis.engine.extract import extract
from analysis.engine.history import History
from analysis.engine.languages import reading_of
from analysis.engine.policy_file import load_policy
from analysis.engine.rulebook import explain
from analysis.engine.rules import all_rules

EXPLAINED = [explain(module.RULE.id) for module in all_rules()]
CASES = [
    pytest.param(each, sources, kind == "flagged", id=f"{each.rule.id}-{kind}-{index}")
    for each in EXPLAINED
    for kind in ("flagged", "fine")
    for index, sources in enumerate(getattr(each.guide, kind))
]


@pytest.mark.parametrize(("explained", "sources", "is_flagged"), CASES)
def test_an_example_shows_what_it_says(explained, sources, is_flagged):
    guide = explained.guide
    files = {
        path: extract(source.strip("\n").encode(), reading_of(path))
        for path, source in {**guide.given, **sources}.items()
    }
    policy = load_policy(guide.policy.encode())
    report = evaluate(files=files, history=History.empty(), policy=policy, today=date(2026, 1, 1))
    found = [finding for finding in report.findings if finding.rule_id == explained.rule.id]
    assert bool(found) is is_flagged, found


@pytest.mark.parametrize("explained", EXPLAINED, ids=lambda each: each.rule.id)
def test_every_rule_says_what_it_finds_why_it_matters_and_how_it_judges(explained):
    assert explained.what.endswith(".")
    assert explained.guide.why.endswith(".")
    assert explained.guide.flagged or explained.guide.grades
    assert explained.languages
