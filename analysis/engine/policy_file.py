"""Reads a policy from a mapping or a YAML file, and writes it back.

Whatever somebody wrote is answered with a `PolicyInvalid` that names the place (`gates.block_merge[0].operator`) and
what is allowed there. Unknown fields are refused: a gate that is misspelled must not be a gate that never fires.
"""

import re
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from typing import Any, TypeVar

from analysis.engine.gate_metrics import METRICS, OPERATORS
from analysis.engine.globs import GLOB_CHARACTERS, glob
from analysis.engine.model import Volume
from analysis.engine.policy import Exemption, Gate, Layer, Policy, Stack
from analysis.engine.policy_yaml import PolicyInvalid, read_yaml

__all__ = ["PolicyInvalid", "default_policy", "load_policy", "parse_policy", "to_mapping"]

TEXT_CHARACTERS = 200
REASON_CHARACTERS = 500
MOST_GLOBS = 200
MOST_GATES = 100
MOST_TABLES = 5000
LARGEST_THRESHOLD = 1e15
FIELDS = ("stack", "architecture", "layers", "gates", "exceptions", "data_volumes")
STACK_FIELDS = ("framework", "orm", "language", "runtime")
IN_QUOTES = 'write operators in quotes, such as ">": without them >, >= and != mean something else in YAML'
_BARE_OPERATOR = re.compile(rb"\boperator: *[>!]")
_Entry = TypeVar("_Entry")


def load_policy(source: bytes, *, known_rules: Collection[str] = ()) -> Policy:
    """The policy of a YAML file. Raises PolicyInvalid."""
    try:
        document = read_yaml(source)
        return parse_policy({} if document is None else document, known_rules=known_rules)
    except PolicyInvalid as refused:
        if _BARE_OPERATOR.search(source):
            raise PolicyInvalid(refused.path, f"{refused.problem}; {IN_QUOTES}") from None
        raise


def parse_policy(mapping: Any, *, known_rules: Collection[str] = ()) -> Policy:
    """The policy of decoded JSON or YAML; fields left out are empty. Raises PolicyInvalid.

    With `known_rules`, an exception for any other rule is refused.
    """
    fields = _object(mapping, "", FIELDS)
    gates = _object(_given(fields, "gates", {}), "gates", ("block_merge", "warn"))
    exemptions = _entries(
        fields.get("exceptions"), "exceptions", lambda entry, path: _exemption(entry, path, known_rules), MOST_GLOBS
    )
    layers = _entries(fields.get("layers"), "layers", _layer, MOST_GLOBS)
    _refuse_twice([layer.name for layer in layers], "layers", "name")
    return Policy(
        stack=_stack(_given(fields, "stack", {})),
        architecture=_text(_given(fields, "architecture", ""), "architecture"),
        layers=layers,
        block_merge=_entries(gates.get("block_merge"), "gates.block_merge", _gate, MOST_GATES),
        warn=_entries(gates.get("warn"), "gates.warn", _gate, MOST_GATES),
        exemptions=exemptions,
        data_volumes=_volumes(_given(fields, "data_volumes", {})),
    )


def to_mapping(policy: Policy) -> dict[str, Any]:
    """The writable shape of a policy, ready for JSON; `parse_policy` of it gives the same policy."""
    return {
        "stack": {name: getattr(policy.stack, name) for name in STACK_FIELDS},
        "architecture": policy.architecture,
        "layers": [{"name": layer.name, "path": layer.path} for layer in policy.layers],
        "gates": {
            "block_merge": [_written(gate) for gate in policy.block_merge],
            "warn": [_written(gate) for gate in policy.warn],
        },
        "exceptions": [
            {"rule": entry.rule, "file": entry.file, "expires": entry.expires.isoformat(), "reason": entry.reason}
            for entry in policy.exemptions
        ],
        "data_volumes": {table: volume.value for table, volume in sorted(policy.data_volumes.items())},
    }


def exemptions_of(mapping: Mapping[str, Any]) -> list[Exemption]:
    """The exceptions of a policy that was validated before, such as a stored one."""
    return [_exemption(entry, f"exceptions[{index}]", ()) for index, entry in enumerate(mapping["exceptions"])]


def default_policy(stack: Stack) -> Policy:
    """What applies when nobody wrote a policy: new critical findings and large additions of debt stop a merge."""
    return Policy(
        stack=stack,
        block_merge=(Gate("new_critical", ">", 0), Gate("debt_delta_score", ">", 50)),
        warn=(Gate("debt_delta_score", ">", 20), Gate("new_violations", ">", 10)),
    )


def _stack(value: Any) -> Stack:
    fields = _object(value, "stack", STACK_FIELDS)
    return Stack(**{name: _text(_given(fields, name, ""), f"stack.{name}") for name in STACK_FIELDS})


def _layer(value: Any, path: str) -> Layer:
    fields = _object(value, path, ("name", "path"), required=True)
    return Layer(name=_text(fields["name"], f"{path}.name", filled=True), path=_glob(fields["path"], f"{path}.path"))


def _gate(value: Any, path: str) -> Gate:
    fields = _object(value, path, ("metric", "operator", "value"), required=True)
    metric = _choice(fields["metric"], f"{path}.metric", METRICS)
    operator = _choice(fields["operator"], f"{path}.operator", OPERATORS)
    threshold = fields["value"]
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not abs(threshold) < LARGEST_THRESHOLD:
        raise PolicyInvalid(f"{path}.value", "must be a number")
    return Gate(metric, operator, threshold)


def _exemption(value: Any, path: str, known_rules: Collection[str]) -> Exemption:
    fields = _object(value, path, ("rule", "file", "expires", "reason"), required=True)
    rule = _text(fields["rule"], f"{path}.rule", filled=True)
    if known_rules and rule not in known_rules:
        raise PolicyInvalid(f"{path}.rule", f"there is no rule {rule!r}; a violation names its rule as ruleId")
    return Exemption(
        rule=rule,
        file=_glob(fields["file"], f"{path}.file"),
        expires=_date(fields["expires"], f"{path}.expires"),
        reason=_text(fields["reason"], f"{path}.reason", filled=True, limit=REASON_CHARACTERS),
    )


def _volumes(value: Any) -> dict[str, Volume]:
    if not isinstance(value, Mapping):
        raise PolicyInvalid("data_volumes", "must be an object of table names and sizes")
    if len(value) > MOST_TABLES:
        raise PolicyInvalid("data_volumes", f"may have at most {MOST_TABLES} tables")
    volumes = {}
    for table, size in value.items():
        name = _text(table, "data_volumes", filled=True)
        volumes[name] = Volume(_choice(size, f"data_volumes.{name}", [volume.value for volume in Volume]))
    return volumes


def _object(value: Any, path: str, names: Collection[str], *, required: bool = False) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise PolicyInvalid(path, "must be an object")
    for name in value:
        if name not in names:
            where = f"{path}.{_key(name)}" if path else _key(name)
            raise PolicyInvalid(where, f"is not a field of a policy; allowed: {', '.join(names)}")
    for name in names:
        if required and value.get(name) is None:
            raise PolicyInvalid(f"{path}.{name}", "is required")
    return value


def _given(fields: Mapping[str, Any], name: str, empty: Any) -> Any:
    """The field as it was written, `empty` where it was left out."""
    value = fields.get(name)
    return empty if value is None else value


def _entries(value: Any, path: str, read: Callable[[Any, str], _Entry], most: int) -> tuple[_Entry, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise PolicyInvalid(path, "must be an array")
    if len(value) > most:
        raise PolicyInvalid(path, f"may have at most {most} entries")
    return tuple(read(entry, f"{path}[{index}]") for index, entry in enumerate(value))


def _text(value: Any, path: str, *, filled: bool = False, limit: int = TEXT_CHARACTERS) -> str:
    if not isinstance(value, str):
        raise PolicyInvalid(path, "must be a string")
    if filled and not value.strip():
        raise PolicyInvalid(path, "must not be empty")
    if len(value) > limit:
        raise PolicyInvalid(path, f"may have at most {limit} characters")
    if not value.isprintable():
        raise PolicyInvalid(path, "may not contain control characters or line breaks")
    return value.strip()


def _glob(value: Any, path: str) -> str:
    pattern = _text(value, path, filled=True, limit=GLOB_CHARACTERS)
    if pattern[0] in "!#":
        raise PolicyInvalid(path, f"a glob may not begin with {pattern[0]!r}")
    try:
        glob(pattern)
    except ValueError:
        raise PolicyInvalid(path, "is not a glob that can be matched") from None
    return pattern


def _date(value: Any, path: str) -> date:
    """A date, or the date of a timestamp: `2027-01-31`, `2027-01-31T00:00:00.000Z`."""
    if isinstance(value, date):
        return value.date() if isinstance(value, datetime) else value
    try:
        return datetime.fromisoformat(value).date()
    except (TypeError, ValueError):
        raise PolicyInvalid(path, "must be a date such as 2027-01-31") from None


def _choice(value: Any, path: str, allowed: Collection[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise PolicyInvalid(path, f"must be one of {', '.join(allowed)}")
    return value


def _refuse_twice(names: list[str], path: str, field: str) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise PolicyInvalid(f"{path}[{index}].{field}", f"there is a second {name!r}")


def _key(name: Any) -> str:
    """An unknown key, as YAML reads it: `on:` without quotes is the truth value."""
    return str(name)[:80]


def _written(gate: Gate) -> dict[str, Any]:
    return {"metric": gate.metric, "operator": gate.operator, "value": gate.value}
