"""What a call in a loop gives to the function that it calls, and how many rounds there are, as far as names tell."""

import re
from collections.abc import Iterator

from analysis.engine.calls import OWN_RECEIVERS
from analysis.engine.facts import Function, Loop, LoopCall
from analysis.engine.queries import FEW, QuerySite
from analysis.engine.readers.sizes import Size, size_by_name

_NAMES = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]*")
_KEYWORD = re.compile(r"(\w+)=(?!=)")
_ITERABLE = re.compile(  # the last name of what a loop goes through, without what gives or lists it
    r"(?:^|[\w\])]\.|[(\s.])(?:get(?=[A-Z])|get_(?:all_)?)?(\w+?)\??(?:\(\))?(?:\.(?:items|values|keys|entries|stream)\(\))?\)?$"
)
_OPENING, _CLOSING = "([{", ")]}"


def changing_parameters(call: LoopCall, loop: Loop, target: Function) -> frozenset[str]:
    """The parameters that get something else in each round, and `self` for a method of the loop's variable. Empty where
    nobody can see it: the call is too long, is given a whole object, or a name that the loop's body assigned."""
    variables = frozenset(loop.variables)
    head, bracket, rest = call.anchor.partition("(")
    if not bracket:
        return frozenset()
    if not variables.isdisjoint(_NAMES.findall(head)):
        return OWN_RECEIVERS
    return frozenset(
        name
        for name, text in _given(rest, target)
        if not (text.startswith("{") or variables.isdisjoint(_NAMES.findall(text)))
    )


def unchanged_parameters(call: LoopCall, loop: Loop, caller: Function, target: Function) -> frozenset[str]:
    """The parameters that get the same in each round: what the function around the loop was given itself."""
    kept = {each.name.lstrip("*&") for each in caller.parameters} - {*loop.variables, *OWN_RECEIVERS}
    _, bracket, rest = call.anchor.partition("(")
    given = _given(rest, target) if bracket else ()
    return frozenset(name for name, text in given if (named := set(_NAMES.findall(text))) and named <= kept)


def _given(rest: str, target: Function) -> Iterator[tuple[str, str]]:
    """The parameters that a call gives something, each with that."""
    names = [each.name.lstrip("*&") for each in target.parameters if each.name not in OWN_RECEIVERS]
    for position, text in enumerate(_arguments(rest)):
        named = _KEYWORD.match(text)
        if named is not None:
            yield named[1], text[named.end() :]
        elif position < len(names):
            yield names[position], text


def rounds_of(loop: Loop, driver: QuerySite | None) -> Size:
    """How many rounds a loop has: by the query that gives its rows, else by the name of what it goes through. What it
    takes tells of few only: everything is a `row`."""
    if driver is not None:
        return Size.FEW if driver.looks_small else Size.MANY
    named = _ITERABLE.search(loop.iterable)
    size = size_by_name(named[1]) if named is not None else Size.UNKNOWN
    if size is Size.UNKNOWN and len(loop.variables) == 1:
        is_few = size_by_name(f"{loop.variables[0]}s") is Size.FEW
        return Size.FEW if is_few else size
    return size


def _arguments(text: str) -> list[str]:
    """The arguments of a call, whose text begins behind its bracket."""
    parts, level = [""], 0
    for letter in text:
        level += (letter in _OPENING) - (letter in _CLOSING)
        if level < 0:
            break
        if letter == "," and level == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def goes_through_few(loop: Loop, driver: QuerySite | None) -> bool:
    """Whether the loop goes through a query with a small limit, or through one by a key, written out in its head: it
    has one round at most."""
    if driver is not None and 1 < driver.query.limit <= FEW:
        return True  # of a single row the loop goes through something that it has
    if driver is None or driver.query.terminal != "iter" or not driver.has_key:
        return False
    return driver.query.model in loop.iterable and ".any(" not in loop.iterable
