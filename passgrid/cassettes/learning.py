"""What is seen to be volatile by recording twice: places that differ although everything around them is the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

import orjson

from passgrid.cassettes.calls import RecordedCall, recorded_calls
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.matching import MatchingRules
from passgrid.cassettes.volatile import rewritten
from passgrid.json_values import is_array, is_object


@dataclass(frozen=True, slots=True, order=True)
class Learned:
    """A place of a tool's arguments or results whose value differs from recording to recording."""

    tool: str
    side: Literal["arguments", "result"]
    path: str
    """As `volatile` and `ids` of the matching rules spell it, `*` for every item of a list."""
    examples: tuple[str, str]


def learned(pairs: Iterable[tuple[Cassette, Cassette]]) -> list[Learned]:
    """The places found by comparing two recordings of one scenario, pair by pair.

    Calls are laid side by side by their tools. A place is learned where both values are single and of one kind, and
    the calls differ in nothing else; what the built-in rules see to be volatile anyway is not told again.
    """
    found: dict[tuple[str, str, str], Learned] = {}
    for left, right in pairs:
        for one in _compared(left, right):
            found.setdefault((one.tool, one.side, one.path), one)
    return sorted(found.values())


def rules_of(places: Iterable[Learned]) -> MatchingRules:
    """The matching rules that say the same."""
    volatile: dict[str, tuple[str, ...]] = {}
    ids: dict[str, tuple[str, ...]] = {}
    for place in places:
        side = volatile if place.side == "arguments" else ids
        side[place.tool] = (*side.get(place.tool, ()), place.path)
    return MatchingRules(volatile=volatile, ids=ids)


def _compared(left: Cassette, right: Cassette) -> Iterator[Learned]:
    ours, theirs = ([call for call in recorded_calls(one) if call.library is None] for one in (left, right))
    matcher = SequenceMatcher(None, [call.tool for call in ours], [call.tool for call in theirs], autojunk=False)
    made: set[str] = set()
    for block in matcher.get_matching_blocks():
        for one, other in zip(ours[block.a :], theirs[block.b : block.b + block.size], strict=False):
            yield from _arguments(one, other, made)
            yield from _results(one, other, made)


def _arguments(one: RecordedCall, other: RecordedCall, made: set[str]) -> Iterator[Learned]:
    """Arguments that differ, except where a result before made the value: that one is followed, not forgotten."""
    for path, then, now in _differences(_plain(one.arguments), _plain(other.arguments), ""):
        if str(then) not in made:
            yield Learned(one.tool, "arguments", path, (str(then), str(now)))


def _results(one: RecordedCall, other: RecordedCall, made: set[str]) -> Iterator[Learned]:
    if (one.error is None) != (other.error is None):
        return
    for path, then, now in _differences(_plain(_parsed(one.result)), _plain(_parsed(other.result)), ""):
        made.add(str(then))
        if path:
            yield Learned(one.tool, "result", path, (str(then), str(now)))


def _parsed(result: Any) -> Any:
    """A result as JSON where its text holds some: places in it have paths then."""
    if isinstance(result, str) and result[:1] in {"{", "["}:
        try:
            return orjson.loads(result)
        except orjson.JSONDecodeError:
            return result
    return result


def _plain(value: Any) -> Any:
    return rewritten(value, lambda place, kind, token: f"<{kind}>")


def _differences(left: Any, right: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Where two values of one shape hold another number or text."""
    if is_object(left) and is_object(right):
        for key in left.keys() & right.keys():
            yield from _differences(left[key], right[key], f"{path}.{key}" if path else key)
    elif is_array(left) and is_array(right):
        if len(left) == len(right):
            for one, other in zip(left, right, strict=True):
                yield from _differences(one, other, f"{path}.*" if path else "*")
    elif type(left) is type(right) and left != right and isinstance(left, str | int | float):
        yield path, left, right
