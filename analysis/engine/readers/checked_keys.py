"""Keys of Redis that Go asks for and then sets, as `risk-check-then-act` sees them."""

import re

from tree_sitter import Node

from analysis.engine.extract.source import SourceFile
from analysis.engine.readers.checked_maps import MapAct
from analysis.engine.readers.reading import followed, text_before

_MISSING = re.compile(rb"if\s+(?:[^\n{]*;\s*)?(?P<count>\w+)\s*==\s*0\s*\{")
_ASKED = re.compile(
    r"\s*(?:,\s*\w+)?\s*:?=\s*(?P<client>[\w.]+)\.Exists\(\s*\w+,\s*(?P<key>[^,()\n]+(?:\([^()\n]*\))?)\)"
    r"\.(?:Result|Val)\(\)"
)


def go_act(branch: Node, file: SourceFile) -> MapAct | None:
    """`n, err := rdb.Exists(ctx, key).Result()` and then `if n == 0 { rdb.Set(ctx, key, ...) }`."""
    missing, body = _MISSING.match(file.source, branch.start_byte), branch.child_by_field_name("consequence")
    if missing is None or body is None or not file.mentions(b".Exists("):
        return None
    head = file.source[branch.start_byte : body.start_byte].decode("utf-8", "replace")
    before = text_before(branch, file) + head
    asked = list(followed(missing["count"].decode(), before, _ASKED, "_."))[-1:]
    if not asked:
        return None
    client, key = re.escape(asked[0]["client"]), asked[0]["key"]
    text = file.text(body)
    put = re.search(rf"(?<![\w.]){client}\.(?:Set|SetEx|HSet)\(\s*\w+,\s*{re.escape(key)}\s*,", text)
    if put is None:
        return None
    return MapAct(
        line=file.line(body) + text[: put.start()].count("\n"),
        message=f"`{key}` is looked for on line {file.line(branch)} and set here: two at once both find nothing",
        fix="Use `SetNX`, which sets the key only where it is missing, and look at its answer.",
        is_sure=True,
    )
