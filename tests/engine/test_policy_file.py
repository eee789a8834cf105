"""Policies as people write them: read exactly, refused with the place and what is allowed there."""

import time
import tracemalloc
from contextlib import contextmanager, suppress
from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from analysis.engine.gate_metrics import METRICS, OPERATORS
from analysis.engine.globs import GLOB_CHARACTERS, glob
from analysis.engine.model import Volume
from analysis.engine.policy import Exemption, Gate, Layer, Policy, Stack
from analysis.engine.policy_file import PolicyInvalid, default_policy, load_policy, parse_policy, to_mapping

WHOLE = b"""
stack: {framework: django, orm: django, language: python, runtime: "3.11"}
architecture: layered
layers:
  - {name: api, path: "shop/api/**"}
  - {name: domain, path: shop/domain}
gates:
  block_merge:
    - {metric: debt_delta_score, operator: ">", value: 50}
  warn:
    - {metric: health_delta, operator: "<", value: -2.5}
exceptions:
  - {rule: maint-large-file, file: "legacy/**", expires: 2027-01-31, reason: Rewritten in spring}
data_volumes: {orders: XL, on: S, 2024: M}
"""


def refusal(document) -> str:
    with pytest.raises(PolicyInvalid) as refused:
        load_policy(document) if isinstance(document, bytes) else parse_policy(document)
    return refused.value.message


def gates(**changes):
    return {"gates": {"block_merge": [{"metric": "new_critical", "operator": ">", "value": 0, **changes}]}}


def exception(**changes):
    entry = {"rule": "risk-x", "file": "a.py", "expires": "2027-01-31", "reason": "why", **changes}
    return {"exceptions": [{name: value for name, value in entry.items() if value is not None}]}


@contextmanager
def modest():
    """What happens inside takes less than a second of the processor and less than 100 MB."""
    tracemalloc.start()
    started = time.process_time()
    try:
        yield
        seconds, (_, most) = time.process_time() - started, tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (seconds < 1, most < 100_000_000) == (True, True), (seconds, most)


class TestReading:
    def test_every_field(self):
        assert load_policy(WHOLE) == Policy(
            stack=Stack("django", "django", "python", "3.11"),
            architecture="layered",
            layers=(Layer("api", "shop/api/**"), Layer("domain", "shop/domain")),
            block_merge=(Gate("debt_delta_score", ">", 50),),
            warn=(Gate("health_delta", "<", -2.5),),
            exemptions=(Exemption("maint-large-file", "legacy/**", date(2027, 1, 31), "Rewritten in spring"),),
            data_volumes={"orders": Volume.XL, "on": Volume.S, "2024": Volume.M},
        )

    @pytest.mark.parametrize("document", [b"", b"# nothing\n", b"{}", b"gates:\nlayers:\n", b"\xef\xbb\xbflayers: []"])
    def test_what_is_left_out_is_empty(self, document):
        assert load_policy(document) == Policy()

    def test_a_date_may_be_a_timestamp(self):
        parsed = parse_policy(exception(expires="2027-01-31T00:00:00.000Z"))
        assert parsed.exemptions[0].expires == date(2027, 1, 31)

    def test_the_default_stops_new_critical_findings(self):
        policy = default_policy(Stack(language="go"))
        assert policy.stack.language == "go"
        assert parse_policy(to_mapping(policy)) == policy

    words = st.text(st.characters(categories=["L", "Nd"]), min_size=1, max_size=20)
    policies = st.builds(
        Policy,
        stack=st.builds(Stack, words, words, words, words),
        architecture=words,
        layers=st.lists(st.builds(Layer, words, words), max_size=3, unique_by=lambda layer: layer.name).map(tuple),
        block_merge=st.lists(
            st.builds(Gate, st.sampled_from(sorted(METRICS)), st.sampled_from(sorted(OPERATORS)), st.floats(-1e9, 1e9)),
            max_size=3,
        ).map(tuple),
        exemptions=st.lists(st.builds(Exemption, words, words, st.dates(), words), max_size=3).map(tuple),
        data_volumes=st.dictionaries(words, st.sampled_from(Volume), max_size=3),
    )

    @given(policies)
    def test_what_is_written_is_read_back(self, policy):
        written = to_mapping(policy)
        assert parse_policy(written) == policy
        assert load_policy(yaml.safe_dump(written, allow_unicode=True).encode()) == policy


class TestRefusals:
    @pytest.mark.parametrize(
        ("document", "message"),
        [
            ([], "policy: must be an object"),
            ({"gate": {}}, "gate: is not a field of a policy; allowed: stack, architecture, layers, gates, exceptions, "
                           "data_volumes"),
            ({"stack": {"os": 1}}, "stack.os: is not a field of a policy; allowed: framework, orm, language, runtime"),
            ({"stack": {"orm": 3}}, "stack.orm: must be a string"),
            ({"stack": {"orm": False}}, "stack.orm: must be a string"),
            ({"stack": []}, "stack: must be an object"),
            ({"architecture": 0}, "architecture: must be a string"),
            ({"gates": []}, "gates: must be an object"),
            ({"gates": False}, "gates: must be an object"),
            ({"data_volumes": ""}, "data_volumes: must be an object of table names and sizes"),
            ({"layers": {}}, "layers: must be an array"),
            ({"layers": [{"name": "a"}]}, "layers[0].path: is required"),
            ({"layers": [{"name": "a", "path": "x"}] * 2}, "layers[1].name: there is a second 'a'"),
            ({"layers": [{"name": "a", "path": "x" * 257}]}, "layers[0].path: may have at most 256 characters"),
            ({"layers": [{"name": "a", "path": "!x"}]}, "layers[0].path: a glob may not begin with '!'"),
            (gates(operator="=>"), "gates.block_merge[0].operator: must be one of >, >=, <, <=, ==, !="),
            (gates(value="9"), "gates.block_merge[0].value: must be a number"),
            (gates(value=True), "gates.block_merge[0].value: must be a number"),
            (gates(value=float("nan")), "gates.block_merge[0].value: must be a number"),
            (gates(x=1), "gates.block_merge[0].x: is not a field of a policy; allowed: metric, operator, value"),
            (exception(reason=None), "exceptions[0].reason: is required"),
            (exception(reason=" "), "exceptions[0].reason: must not be empty"),
            (exception(expires="2024-13-45"), "exceptions[0].expires: must be a date such as 2027-01-31"),
            (exception(expires=20270131), "exceptions[0].expires: must be a date such as 2027-01-31"),
            (exception(reason="a\nb"), "exceptions[0].reason: may not contain control characters or line breaks"),
            ({"data_volumes": {"orders": "L"}}, "data_volumes.orders: must be one of S, M, XL, XXL"),
            ({"data_volumes": ["orders"]}, "data_volumes: must be an object of table names and sizes"),
            ({"layers": [{"name": "a", "path": "b"}] * 201}, "layers: may have at most 200 entries"),
        ],
    )  # fmt: skip
    def test_name_the_place_and_what_is_allowed(self, document, message):
        assert refusal(document) == message

    def test_an_unknown_metric_lists_the_known_ones(self):
        message = refusal(gates(metric="debt"))
        assert message.startswith("gates.block_merge[0].metric: must be one of debt_delta_score, ")
        assert all(metric in message for metric in METRICS)

    def test_an_exception_for_an_unknown_rule(self):
        with pytest.raises(PolicyInvalid, match=r"exceptions\[0\]\.rule: there is no rule 'risk-x'"):
            parse_policy(exception(), known_rules={"risk-y"})


class TestYaml:
    @pytest.mark.parametrize(
        ("document", "message"),
        [
            (b"on: 1", "on: is not a field"),
            (b"layers: &x []", "policy: line 1: anchors and aliases are not allowed"),
            (b"a: 1\nb: {<<: {c: 1}}", "policy: line 2: merge keys are not allowed"),
            (b"layers: []\nlayers: []", "policy: line 2: the key 'layers' stands twice"),
            (b"layers: !!python/object:os.system x", "policy: line 1: tags are not allowed"),
            (b"--- {}\n--- {}", "policy: line 2: only one document is allowed"),
            (b"[" * 33 + b"]" * 33, "policy: line 1: nested more than 32 deep"),
            (b"[" * 100_000, "policy: line 1: nested more than 32 deep"),
            (b"layers: []]", "policy: line 1: did not find"),
            (b"\xff\xfe", "policy: the file must be UTF-8"),
            (b"#" * (256 * 1024 + 1), "policy: the file may have at most 256 KB"),
            (b"? [a]\n: b", "policy: line 1: a key must be plain text"),
            (b"a: \x00", "policy: the file is not YAML"),
            (b"exceptions: [{rule: a, file: b, expires: 2024-13-45, reason: c}]", "exceptions[0].expires: must"),
            (b"gates: {warn: [{metric: a, operator: '>', value: " + b"9" * 5000 + b"}]}", "policy: the file contains"),
            (b"a: 1" + b":1" * 120_000, "policy: the file contains"),
            (b"a: 1" + b":1" * 200 + b".5", "policy: the file contains"),
            (b"a: 0x" + b"f" * 400, "policy: the file contains"),
            (b"a: 0x_", "policy: the file contains a number"),
        ],
    )  # fmt: skip
    def test_tricks_and_mistakes_are_refused(self, document, message):
        with modest():
            assert refusal(document).startswith(message)

    @given(st.binary(max_size=200))
    def test_any_bytes_are_read_or_refused(self, document):
        with suppress(PolicyInvalid):
            load_policy(document)

    def test_the_largest_file_is_read_in_a_moment(self):
        tables = b"data_volumes:\n" + b"".join(b"  table_number_%08d: XXL\n" % index for index in range(4999))
        with modest():
            assert len(load_policy(tables).data_volumes) == 4999


class TestGlobs:
    # What makes a matcher that goes back and tries again take for ever, in any mixture.
    PIECES = (
        "*",
        "**",
        "**/",
        "/**/",
        "/",
        "?",
        "a",
        "*a",
        "a*",
        "aa",
        "[a-z]",
        "[!b]",
        "[ab]",
        "[",
        "{a,b}",
        "(a|aa)+",
    )
    SECONDS = 0.5  # of the processor for 10,000 paths: ten times what one may take, as nobody else's work counts

    def nasty(self, dice):
        """A glob that matches almost all of many a's, and then wants something else."""
        pieces = dice.sample(self.PIECES, dice.randint(1, 4))
        return "".join(dice.choices(pieces, k=GLOB_CHARACTERS))[: dice.randint(5, GLOB_CHARACTERS - 1)] + "b"

    @pytest.mark.filterwarnings("ignore:Possible nested set")
    def test_nasty_ones_take_no_time(self, dice):
        paths = ["a" * 100 + str(number) for number in range(5_000)] + [
            "a/" * 50 + str(number) for number in range(5_000)
        ]
        for nasty in ("*a*a*a*a*ab", *(self.nasty(dice) for _ in range(200))):
            started = time.process_time()
            compiled = glob(nasty)
            assert not any(compiled.matches(path) for path in paths), nasty
            assert time.process_time() - started < self.SECONDS, nasty

    @pytest.mark.filterwarnings("ignore:Possible nested set")
    @pytest.mark.parametrize("pattern", ["[z-a]", "src/[z-a]*.py", "[[:alpha:]]", "\\", "a\\"])
    def test_one_that_means_nothing_is_refused(self, pattern):
        document = {"layers": [{"name": "a", "path": pattern}]}

        assert refusal(document) == "layers[0].path: is not a glob that can be matched"


class TestOperatorsWithoutQuotes:
    @pytest.mark.parametrize("operator", [">", ">=", "!="])
    @pytest.mark.parametrize(
        "gate", ["\n    - metric: new_critical\n      operator: {}\n      value: 0\n",
                 " [{{metric: new_critical, operator: {}, value: 0}}]\n"]
    )  # fmt: skip
    def test_are_told_to_stand_in_quotes(self, operator, gate):
        source = ("gates:\n  block_merge:" + gate.format(operator)).encode()
        with pytest.raises(PolicyInvalid, match="write operators in quotes"):
            load_policy(source)
        quoted = ("gates:\n  block_merge:" + gate.format(f'"{operator}"')).encode()
        assert load_policy(quoted).block_merge == (Gate("new_critical", operator, 0),)

    def test_a_mistake_elsewhere_is_told_alone(self):
        with pytest.raises(PolicyInvalid) as refused:
            load_policy(b'gates: {warn: [{metric: new_info, operator: ">", value: x}]}\n')
        assert str(refused.value) == "gates.warn[0].value: must be a number"
