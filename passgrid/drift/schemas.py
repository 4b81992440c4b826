"""Where two JSON Schemas of a tool differ, and what that means: for what is given to it, and for what it gives.

A narrower schema breaks who gives arguments; a wider one breaks who reads results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passgrid.drift.findings import Severity
from passgrid.drift.results import Difference
from passgrid.json_values import is_array, is_object

BREAKING, COMPATIBLE, VALUE_ONLY = Severity.BREAKING, Severity.COMPATIBLE, Severity.VALUE_ONLY
_TEXTS = frozenset({"title", "description", "examples", "default", "$schema", "$defs", "definitions", "$id"})
_LOOKED_AT = frozenset({"type", "enum", "const", "properties", "required", "items", "anyOf", "oneOf", "$ref"})
DEEPEST = 12
"""Schemas may refer to themselves; what lies deeper is not compared."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two schemas at one place, with the documents they may refer into."""

    place: str
    recorded: Mapping[str, Any]
    live: Mapping[str, Any]
    roots: tuple[Mapping[str, Any], Mapping[str, Any]]
    given: bool
    """Whether it describes arguments; else results."""
    depth: int = 0

    def below(self, name: str, recorded: Any, live: Any) -> _Pair:
        """The pair of two schemas inside of these."""
        joined = name if not self.place or name.startswith("[") else f".{name}"
        return _pair(self.place + joined, recorded, live, self.roots, self.given, self.depth + 1)

    def narrower(self) -> Severity:
        """What it means that fewer values are allowed now."""
        return BREAKING if self.given else COMPATIBLE

    def wider(self) -> Severity:
        """What it means that more values are allowed now."""
        return COMPATIBLE if self.given else BREAKING


def schema_differences(recorded: Mapping[str, Any], live: Mapping[str, Any], *, given: bool) -> list[Difference]:
    """Where a schema differs. given: it describes arguments; else results."""
    return list(_differences(_pair("", recorded, live, (recorded, live), given, 0)))


def _pair(
    place: str, recorded: Any, live: Any, roots: tuple[Mapping[str, Any], Mapping[str, Any]], given: bool, depth: int
) -> _Pair:
    return _Pair(place, _followed(recorded, roots[0]), _followed(live, roots[1]), roots, given, depth)


def _followed(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema a reference leads to, and the only other one where null is allowed beside it."""
    for _ in range(DEEPEST):
        if not is_object(schema):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found: Any = root
        for step in reference[2:].split("/"):
            found = found.get(step) if is_object(found) else None
        schema = {**(found if is_object(found) else {}), **{key: schema[key] for key in schema if key != "$ref"}}
    return schema if is_object(schema) else {}


def _differences(pair: _Pair) -> Iterator[Difference]:
    if pair.depth > DEEPEST:
        return
    yield from _type_differences(pair)
    yield from _enum_differences(pair)
    yield from _member_differences(pair)
    if is_object(pair.recorded.get("items")) and is_object(pair.live.get("items")):
        yield from _differences(pair.below("[]", pair.recorded["items"], pair.live["items"]))
    yield from _constraint_differences(pair)
    before, after = pair.recorded.get("description"), pair.live.get("description")
    if pair.depth and before is not None and before != after:
        yield Difference(pair.place, "is described differently", VALUE_ONLY, before, after)


def _type_differences(pair: _Pair) -> Iterator[Difference]:
    before, after = allowed_types(pair.recorded), allowed_types(pair.live)
    if before == after:
        return
    shown = f"is {_joined(after)} instead of {_joined(before)}"
    if after is None or (before is not None and _covers(after, before)):
        yield Difference(pair.place, shown, pair.wider(), _joined(before), _joined(after))
    elif before is None or _covers(before, after):
        yield Difference(pair.place, shown, pair.narrower(), _joined(before), _joined(after))
    else:
        yield Difference(pair.place, shown, BREAKING, _joined(before), _joined(after))


def allowed_types(schema: Mapping[str, Any]) -> frozenset[str] | None:
    """The JSON types a schema allows; None where it allows any, or does not say."""
    given: Any = schema.get("type")
    if isinstance(given, str):
        return frozenset({given})
    if is_array(given):
        return frozenset(map(str, given))
    choices: Any = schema.get("anyOf") or schema.get("oneOf")
    if not is_array(choices):
        return None
    found = [allowed_types(choice) for choice in choices if is_object(choice)]
    return None if None in found else frozenset[str]().union(*(types for types in found if types is not None))


def _covers(wide: frozenset[str], narrow: frozenset[str]) -> bool:
    return narrow <= (wide | {"integer"} if "number" in wide else wide)


def _joined(types: frozenset[str] | None) -> str:
    return "anything" if types is None else " or ".join(sorted(types)) or "nothing"


def _enum_differences(pair: _Pair) -> Iterator[Difference]:
    before, after = _enum(pair.recorded), _enum(pair.live)
    if before is None and after is None:
        return
    if before is None or after is None:
        severity = pair.narrower() if before is None else pair.wider()
        yield Difference(
            pair.place, "allows only these" if before is None else "allows others", severity, before, after
        )
        return
    if gone := [value for value in before if value not in after]:
        yield Difference(pair.place, f"no longer allows {_shown(gone)}", pair.narrower(), before, after)
    if new := [value for value in after if value not in before]:
        yield Difference(pair.place, f"allows {_shown(new)} too", pair.wider(), before, after)


def _enum(schema: Mapping[str, Any]) -> Sequence[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values: Any = schema.get("enum")
    return values if is_array(values) else None


def _shown(values: Sequence[Any]) -> str:
    return ", ".join(map(str, values[:5])) + (", …" if len(values) > 5 else "")


def _member_differences(pair: _Pair) -> Iterator[Difference]:
    before, after = _members(pair.recorded), _members(pair.live)
    must_before, must_after = _required(pair.recorded), _required(pair.live)
    gone = {name: schema for name, schema in before.items() if name not in after}
    new = {name: schema for name, schema in after.items() if name not in before}
    renamed = _renamed(gone, new, must_before, must_after)
    for name, schema in gone.items():
        change = f"renamed to {renamed[name]}" if name in renamed else "removed"
        yield Difference(_at(pair, name), change, BREAKING, schema, new.get(renamed.get(name, "")))
    for name, schema in new.items():
        if name in renamed.values():
            continue
        demanded = pair.given and name in must_after
        change = "added, and required" if demanded else "added"
        yield Difference(_at(pair, name), change, BREAKING if demanded else COMPATIBLE, None, schema)
    for name in before:
        if name in after:
            if (name in must_before) != (name in must_after):
                severity = pair.narrower() if name in must_after else pair.wider()
                change = "is required now" if name in must_after else "is not required any more"
                yield Difference(_at(pair, name), change, severity)
            yield from _differences(pair.below(name, before[name], after[name]))


def _members(schema: Mapping[str, Any]) -> dict[str, Any]:
    members: Any = schema.get("properties")
    return members if is_object(members) else {}


def _required(schema: Mapping[str, Any]) -> frozenset[str]:
    names: Any = schema.get("required")
    return frozenset(map(str, names)) if is_array(names) else frozenset()


def _at(pair: _Pair, name: str) -> str:
    return f"{pair.place}.{name}" if pair.place else name


def _renamed(
    gone: Mapping[str, Any], new: Mapping[str, Any], before: frozenset[str], after: frozenset[str]
) -> dict[str, str]:
    """Members that only changed their name: the one that is gone and the one that is new take the same."""
    found: dict[str, str] = {}
    for name, schema in gone.items():
        same = [other for other in new if _plain(new[other]) == _plain(schema) and (other in after) == (name in before)]
        rivals = [other for other in gone if _plain(gone[other]) == _plain(schema)]
        if len(same) == len(rivals) == 1:
            found[name] = same[0]
    return found


def _plain(schema: Any) -> Any:
    """A schema without its texts."""
    return {key: value for key, value in schema.items() if key not in _TEXTS} if is_object(schema) else schema


def _constraint_differences(pair: _Pair) -> Iterator[Difference]:
    """Keywords of which only equality can be told: a new or another one is taken for narrower, a lost one for wider."""
    names = [name for name in {**pair.recorded, **pair.live} if name not in _TEXTS | _LOOKED_AT]
    for name in names:
        if name.startswith("x-"):
            continue
        before, after = pair.recorded.get(name), pair.live.get(name)
        if name == "additionalProperties":
            before, after = (None if value is True else value for value in (before, after))
        if before != after:
            severity = pair.wider() if after is None else pair.narrower()
            yield Difference(pair.place, f"has another {name}", severity, before, after)
