"""The formulas of rules.md section 8, on its worked example and by the laws that they promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.engine.metrics.hotspots import risk_score, violation_density
from analysis.engine.model import Category, Confidence, Finding, Severity, Volume
from analysis.engine.scoring import (
    ProductionRisk,
    Tally,
    debt_part,
    debt_ratio,
    debt_score,
    health_score,
    hotspot_part,
    production_risk,
    rating,
    severity_part,
    tally,
)
from analysis.engine.severity import REQUEST_PATH, round1


def finding(severity=Severity.WARNING, confidence=Confidence.HIGH, points=1.0, **fields):
    values = {"rule_id": "x", "file": "a.py", "line": 1, "message": "m", **fields}
    return Finding(severity=severity, confidence=confidence, points=points, **values)


def added(*findings, category=Category.MAINTAINABILITY, **flags) -> Tally:
    return tally([(entry, category) for entry in findings], **flags)


findings = st.builds(
    finding,
    severity=st.sampled_from(Severity),
    confidence=st.sampled_from(Confidence),
    points=st.integers(5, 600).map(lambda tenths: tenths / 10),
    volume=st.sampled_from([None, *Volume]),
    tags=st.sampled_from([frozenset(), frozenset({REQUEST_PATH})]),
)
entries = st.tuples(findings, st.sampled_from(Category))
risks = st.lists(st.integers(0, 100), max_size=8)


class TestTheWorkedExample:
    def the_tally(self) -> Tally:
        criticals = [finding(Severity.CRITICAL)] * 2 + [finding(Severity.CRITICAL, Confidence.MEDIUM)] * 2
        sums = added(*criticals, *[finding()] * 50, *[finding(Severity.INFO)] * 100)
        sums.points_tenths = 4200
        return sums

    def test_debt_and_its_ratio(self):
        assert debt_score(4200, 10_000) == 42
        assert debt_ratio(42) == pytest.approx(0.014)
        assert debt_part(0.014) == pytest.approx(88)

    def test_pressure_of_the_severities(self):
        assert self.the_tally().weight_hundredths == 7700
        assert severity_part(7700, 10_000) == pytest.approx(59.8, abs=0.1)

    def test_hotspots(self):
        assert hotspot_part([40, 82, 74, 66, 51]) == pytest.approx(37.4)

    def test_health(self):
        assert health_score(self.the_tally(), 10_000, [82, 74, 66, 51, 40]) == 67

    def test_risk_of_a_file(self):
        assert risk_score(180, 14, 12) == 73


class TestHealth:
    def test_an_empty_repository_scores_100(self):
        assert health_score(Tally(), 0, []) == 100

    def test_a_certain_critical_caps_it_at_89(self):
        assert health_score(added(finding(Severity.CRITICAL)), 1_000_000, []) == 89

    def test_critical_production_risk_caps_it_at_49(self):
        grave = finding(Severity.CRITICAL, tags=frozenset({REQUEST_PATH}))
        sums = added(grave, grave, grave, category=Category.RUNTIME_RISK)
        assert health_score(sums, 1_000_000, []) == 49

    @given(st.lists(entries, max_size=30), entries, st.integers(0, 200_000), risks)
    def test_adding_a_finding_never_raises_it_and_fixing_one_never_lowers_it(self, known, new, lines, worst):
        before = health_score(tally(known), lines, worst)
        assert health_score(tally([*known, new]), lines, worst) <= before

    @given(st.lists(entries, max_size=30), st.integers(1000, 200_000))
    def test_the_same_content_twice_scores_the_same_but_for_hotspots_and_caps(self, known, lines):
        once, twice = tally(known), tally([*known, *known])
        assert debt_score(twice.points_tenths, 2 * lines) == pytest.approx(debt_score(once.points_tenths, lines))
        assert severity_part(twice.weight_hundredths, 2 * lines) == pytest.approx(
            severity_part(once.weight_hundredths, lines)
        )

    def test_findings_in_tests_are_counted_but_do_not_score(self):
        sums = added(finding(Severity.CRITICAL, in_test=True), category=Category.RUNTIME_RISK)
        assert (sums.total, sums.critical, sums.runtime_risk) == (1, 1, 1)
        assert (sums.points_tenths, sums.weight_hundredths, sums.harm_thousandths) == (0, 0, 0)
        assert health_score(sums, 1000, []) == 100


class TestDebt:
    @pytest.mark.parametrize(
        ("ratio", "part"),
        [(0, 100), (0.005, 95), (0.01, 90), (0.05, 70), (0.1, 50), (0.2, 30), (0.5, 10), (1, 0), (7, 0)],
    )
    def test_the_knots(self, ratio, part):
        assert debt_part(ratio) == pytest.approx(part)

    @pytest.mark.parametrize(("ratio", "letter"), [(0.05, "A"), (0.06, "B"), (0.2, "C"), (0.5, "D"), (0.51, "E")])
    def test_the_letters(self, ratio, letter):
        assert rating(ratio) == letter

    def test_small_repositories_count_as_a_thousand_lines(self):
        assert debt_score(100, 10) == 10

    @pytest.mark.parametrize(("value", "rounded"), [(0.25, 0.3), (-0.25, -0.3), (1.04, 1.0), (0.35, 0.4), (0, 0)])
    def test_one_decimal_as_people_round(self, value, rounded):
        assert round1(value) == rounded


class TestProductionRisk:
    def risk(self, *found, lines=10_000, category=Category.RELIABILITY, **flags) -> ProductionRisk:
        return production_risk(added(*found, category=category, **flags), lines)

    def test_nothing_is_low(self):
        assert self.risk() is ProductionRisk.LOW

    def test_a_certain_critical_is_at_least_medium(self):
        assert self.risk(finding(Severity.CRITICAL), lines=10_000_000) is ProductionRisk.MEDIUM

    def test_warnings_add_up(self):
        assert self.risk(*[finding()] * 7) is ProductionRisk.LOW
        assert self.risk(*[finding()] * 8) is ProductionRisk.MEDIUM
        assert self.risk(*[finding()] * 30) is ProductionRisk.HIGH
        assert self.risk(*[finding()] * 90) is ProductionRisk.CRITICAL

    def test_a_larger_repository_bears_more(self):
        assert self.risk(*[finding()] * 30, lines=1_000_000) is ProductionRisk.LOW

    def test_hotspots_weigh_half_more(self):
        assert self.risk(*[finding()] * 5, is_hotspot=True) is ProductionRisk.MEDIUM

    def test_three_certain_criticals_on_large_tables_are_critical(self):
        grave = finding(Severity.CRITICAL, volume=Volume.XL)
        assert self.risk(grave, grave, lines=1_000_000) is ProductionRisk.MEDIUM
        assert self.risk(grave, grave, grave, lines=1_000_000) is ProductionRisk.CRITICAL

    @pytest.mark.parametrize("flags", [{"is_script": True}, {"category": Category.MAINTAINABILITY}])
    def test_scripts_and_other_categories_do_not_count(self, flags):
        assert self.risk(*[finding(Severity.CRITICAL)] * 50, **flags) is ProductionRisk.LOW

    def test_low_confidence_counts_nothing(self):
        assert self.risk(*[finding(confidence=Confidence.LOW)] * 500) is ProductionRisk.LOW


class TestTally:
    @given(st.lists(entries), st.lists(entries))
    def test_sums_can_be_added_and_taken_apart_exactly(self, one, other):
        total = tally(one)
        total.add(tally(other))
        assert total == tally([*other, *one])
        total.add(tally(one), -1)
        assert total == tally(other)


class TestRiskOfAFile:
    @given(st.integers(0, 5000), st.integers(0, 300), st.floats(0, 500))
    def test_lies_between_0_and_100(self, complexity, churn, density):
        assert 0 <= risk_score(complexity, churn, density) <= 100

    @given(st.integers(0, 5000), st.floats(0, 500))
    def test_violations_alone_make_no_hotspot(self, complexity, density):
        assert risk_score(complexity, 0, density) <= 30

    def test_short_files_are_not_dense_by_one_finding(self):
        assert violation_density(100, 3) == violation_density(100, 100) == 10
