"""Entries that explain the way from one score to another."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.engine.score_change import Cause, explain_change
from analysis.engine.scoring import debt_score
from analysis.engine.standing import EXPIRED_AGAIN, OPEN, SUPPRESSED, Scored, Standing

NO_FINDING = {"points": 0, "weight": 0}
WARNING = Scored("perf-x", "warning", "shop/a.py", 3, "`a` is slow", OPEN, 40, 100, "", "")
WORSE = WARNING._replace(severity="critical", points=80, weight=500)
HUSHED = WARNING._replace(state=SUPPRESSED, **NO_FINDING)


def entries(before, after, limit=50):
    return explain_change(before, after, limit=limit)


def causes(before, after):
    return {entry.cause for entry in entries(before, after)} - {Cause.ROUNDING}


def with_finding(finding, **fields):
    return Standing(findings={"f": finding} if finding else {}, lines_of_code=2000, **fields)


findings = st.builds(
    Scored,
    rule=st.sampled_from(["perf-x", "arch-layer-violation", "maint-y"]),
    severity=st.just("warning"),
    file=st.sampled_from(["a.py", "b.py", "c.py"]),
    line=st.integers(1, 9),
    message=st.sampled_from(["one", "two"]),
    state=st.sampled_from([OPEN, EXPIRED_AGAIN]),
    points=st.integers(5, 600),
    weight=st.sampled_from([3, 10, 70, 100, 350, 500]),
    table=st.sampled_from(["", "orders"]),
    volume=st.sampled_from(["", "M", "XL"]),
)
hushed = findings.map(lambda finding: finding._replace(state=SUPPRESSED, **NO_FINDING))
standings = st.builds(
    Standing,
    findings=st.dictionaries(st.integers(0, 30).map(str), findings | hushed, max_size=25),
    lines_of_code=st.integers(0, 40_000),
    worst=st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 100), max_size=5).map(
        lambda found: tuple(found.items())
    ),
    cap=st.sampled_from([100, 89, 49]),
    rules=st.sampled_from([{"perf-x": 1}, {"perf-x": 2, "maint-y": 1}]),
    policy=st.sampled_from([{}, {"data_volumes": {"orders": "XL"}}, {"architecture": "hexagonal"}]),
)  # fmt: skip


def apart(standing, other):
    """With the sums of what another one has alike instead of the findings."""
    alike = [each for print_, each in standing.findings.items() if other.findings.get(print_) == each]
    return replace(
        standing,
        findings={print_: each for print_, each in standing.findings.items() if other.findings.get(print_) != each},
        other_points=sum(each.points for each in alike),
        other_weight=sum(each.weight for each in alike),
    )


class TestTheSum:
    @settings(max_examples=400)
    @given(standings, standings, st.integers(1, 40))
    def test_is_the_change_of_both_scores_to_the_last_digit(self, before, after, limit):
        found = entries(before, after, limit)
        assert len(found) <= limit + 2
        health = sum(Decimal(str(entry.health)) for entry in found)
        debt = sum(Decimal(str(entry.debt_score)) for entry in found)
        assert health == after.health - before.health
        old, new = (round(debt_score(each.points_tenths, each.lines_of_code), 2) for each in (before, after))
        assert debt == Decimal(str(new)) - Decimal(str(old))

    @settings(max_examples=200)
    @given(standings, standings)
    def test_turns_its_sign_on_the_way_back(self, before, after):
        there = sum(Decimal(str(entry.health)) for entry in entries(before, after))
        back = sum(Decimal(str(entry.health)) for entry in entries(after, before))
        assert there == -back

    @settings(max_examples=200)
    @given(standings, standings)
    def test_and_the_entries_are_the_same_without_the_findings_that_both_have_alike(self, before, after):
        assert entries(apart(before, after), apart(after, before)) == entries(before, after)

    @settings(max_examples=100)
    @given(standings)
    def test_of_no_change_is_no_entry(self, standing):
        assert entries(standing, standing) == []


class TestFairness:
    def test_equal_findings_get_equal_shares_and_twice_the_debt_costs_twice(self):
        light = WARNING._replace(weight=0)
        found = {"a": light, "b": light, "c": light._replace(points=80)}
        shares = {each.fingerprint: each for each in entries(Standing(lines_of_code=900), Standing(found, 900))}
        assert shares["a"].debt_score == shares["b"].debt_score == 4.0
        assert shares["c"].debt_score == 8.0
        assert abs(shares["c"].health - 2 * shares["a"].health) <= 0.02

    def test_a_new_finding_lowers_health_and_a_fixed_one_raises_it_as_much(self):
        (added, *_) = entries(with_finding(None), with_finding(WORSE))
        (fixed, *_) = entries(with_finding(WORSE), with_finding(None))
        assert added.health < 0 < fixed.health == -added.health

    def test_the_largest_come_first_and_the_rest_is_one_entry(self):
        found = {str(n): WARNING._replace(points=10 * n, weight=0) for n in range(1, 11)}
        listed = entries(Standing(lines_of_code=5000), Standing(found, 5000), limit=3)
        assert [entry.debt_score for entry in listed[:3]] == [2.0, 1.8, 1.6]
        assert listed[3].cause == Cause.OTHER and listed[3].count >= 7


class TestTheCause:
    @pytest.mark.parametrize(
        ("before", "after", "cause"),
        [
            (None, WARNING, Cause.FINDING_ADDED),
            (WARNING, None, Cause.FINDING_FIXED),
            (WARNING, WORSE, Cause.FINDING_CHANGED),
            (WARNING, HUSHED, Cause.SUPPRESSED),
            (HUSHED, WARNING, Cause.SUPPRESSION_LIFTED),
            (HUSHED, WARNING._replace(state=EXPIRED_AGAIN), Cause.EXCEPTION_EXPIRED),
            (WARNING, WORSE._replace(volume="XL"), Cause.POLICY_CHANGE),
        ],
    )
    def test_of_a_finding_is_what_happened_to_it(self, before, after, cause):
        assert causes(with_finding(before), with_finding(after)) == {cause}

    def test_is_the_policy_where_it_decides_about_the_finding(self):
        on_orders = WARNING._replace(table="orders")
        volumes, layers = {"data_volumes": {"Orders": "XL"}}, {"layers": [{"name": "a", "path": "a/**"}]}
        exception = {"exceptions": [{"rule": "perf-x", "file": "shop/**", "expires": "2027-01-01", "reason": "x"}]}
        layered = WARNING._replace(rule="arch-layer-violation")
        assert causes(with_finding(None), with_finding(on_orders, policy=volumes)) == {Cause.POLICY_CHANGE}
        assert causes(with_finding(None), with_finding(layered, policy=layers)) == {Cause.POLICY_CHANGE}
        assert causes(with_finding(WARNING), with_finding(HUSHED, policy=exception)) == {Cause.POLICY_CHANGE}
        assert causes(with_finding(None), with_finding(WARNING, policy=layers)) == {Cause.FINDING_ADDED}

    @pytest.mark.parametrize("name", ["Order", "order", "public.shop_order"])
    def test_is_the_policy_by_whatever_name_it_declares_the_table(self, name):
        on_orders = WARNING._replace(table="shop_order", volume="XL")
        before = with_finding(None)
        after = with_finding(on_orders, policy={"data_volumes": {name: "XL"}}, models={"shop_order": "Order"})
        assert causes(before, after) == causes(after, before) == {Cause.POLICY_CHANGE}

    def test_is_not_the_policy_where_the_table_keeps_its_size(self):
        on_orders = WARNING._replace(table="orders")
        before = with_finding(None, policy={"data_volumes": {"Orders": "XL"}})
        assert causes(before, with_finding(on_orders, policy={"data_volumes": {"orders": "XL"}})) == {
            Cause.FINDING_ADDED
        }

    def test_is_the_engine_where_the_rule_is_new_or_changed(self):
        after = with_finding(WARNING, rules={"perf-x": 2})
        assert causes(with_finding(None, rules={"perf-x": 1}), after) == {Cause.ENGINE_UPGRADE}
        assert causes(with_finding(None), after) == {Cause.ENGINE_UPGRADE}

    def test_is_the_size_of_the_code_when_nothing_else_changed(self):
        before = with_finding(WARNING)
        (entry, *_) = entries(before, replace(before, lines_of_code=1500))
        assert (entry.cause, entry.message) == (Cause.CODE_SIZE, "500 fewer lines of code, 1,500 now")
        assert entry.debt_score == pytest.approx(0.67)

    def test_is_a_hotspot_by_file(self):
        before = Standing(lines_of_code=2000, worst=(("a.py", 50), ("b.py", 40)))
        found = entries(before, replace(before, worst=(("c.py", 70), ("a.py", 50))))
        assert [(entry.file, entry.health) for entry in found] == [("c.py", -2.8), ("b.py", 1.6), ("", 0.2)]

    def test_is_a_cap_that_holds_or_lets_go(self):
        before = Standing(lines_of_code=2000)
        found = entries(before, replace(before, cap=89))
        assert [(entry.cause, entry.health) for entry in found] == [(Cause.CAP, -11.0)]
        assert found[0].message == "Health is held at 89 while such grave findings are open; without them 100"
