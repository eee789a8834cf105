"""YAML of policy files, read without the parts of the language that are dangerous or surprising.

No anchors, aliases, merge keys, tags, duplicate keys or second documents; a limited size and depth. `on`, `yes` and
`true` are words, since a policy holds no truth values.
"""

from typing import Any

import yaml

MOST_BYTES = 256 * 1024
MOST_DEPTH = 32
LONGEST_NUMBER = 40
OUT_OF_RANGE = "the file contains a number that is out of range"
# Left to the policy, which can name the place of a word or date that is wrong.
_KEPT_AS_TEXT = ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")


class PolicyInvalid(ValueError):
    """A policy that cannot be used: `path` says where, `problem` what is wrong and what is allowed;
    `message` is both."""

    def __init__(self, path: str, problem: str) -> None:
        self.path, self.problem = path, problem
        self.message = f"{path}: {problem}" if path else f"policy: {problem}"
        super().__init__(self.message)


def read_yaml(source: bytes) -> Any:
    """The single document in `source`. Raises PolicyInvalid, naming the line where there is one."""
    if len(source) > MOST_BYTES:
        raise PolicyInvalid("", f"the file may have at most {MOST_BYTES // 1024} KB")
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PolicyInvalid("", "the file must be UTF-8") from None
    try:
        _refuse_tricks(text)
        return yaml.load(text, Loader=_PlainLoader)  # noqa: S506 - a subclass of SafeLoader
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise PolicyInvalid("", f"line {line}: {error.problem or 'is not YAML'}") from None
    except PolicyInvalid:
        raise
    except yaml.YAMLError:
        raise PolicyInvalid("", "the file is not YAML") from None
    except ValueError:  # no digits behind 0x
        raise PolicyInvalid("", OUT_OF_RANGE) from None


class _PlainLoader(yaml.CSafeLoader):
    """Knows numbers, but no dates and no truth values; a key is text and stands once."""


_PlainLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _KEPT_AS_TEXT]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _mapping(loader: _PlainLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _refused(key_node, "a key must be plain text")
        if key_node.value in found:
            raise _refused(key_node, f"the key {key_node.value[:80]!r} stands twice")
        found[key_node.value] = loader.construct_object(value_node, deep=True)
    return found


def _number(loader: _PlainLoader, node: yaml.ScalarNode) -> Any:
    """YAML 1.1 has numbers to the base of 60: `1:1:1...` takes seconds to compute, and with a fraction it overflows."""
    if len(node.value) > LONGEST_NUMBER:
        raise PolicyInvalid("", OUT_OF_RANGE)
    whole = node.tag.endswith(":int")
    return loader.construct_yaml_int(node) if whole else loader.construct_yaml_float(node)


_PlainLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
_PlainLoader.add_constructor("tag:yaml.org,2002:int", _number)
_PlainLoader.add_constructor("tag:yaml.org,2002:float", _number)


def _refuse_tricks(text: str) -> None:
    """Look at the events first: they cost linear time, whatever the anchors would have expanded to."""
    depth = documents = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused(event, "anchors and aliases are not allowed")
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None):
            raise _refused(event, "tags are not allowed")
        if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and not event.style:
            raise _refused(event, "merge keys are not allowed")
        documents += isinstance(event, yaml.DocumentStartEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if documents > 1:
            raise _refused(event, "only one document is allowed")
        if depth > MOST_DEPTH:
            raise _refused(event, f"nested more than {MOST_DEPTH} deep")


def _refused(place: yaml.Event | yaml.Node, problem: str) -> PolicyInvalid:
    mark = place.start_mark
    return PolicyInvalid("", f"line {mark.line + 1}: {problem}" if mark else problem)
