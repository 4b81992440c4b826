"""Where two answers of a tool differ: in structure, or in values apart from volatile ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from passgrid.drift.findings import Severity
from passgrid.drift.projection import as_json
from passgrid.drift.volatile import is_moment, steady
from passgrid.json_values import is_array, is_object

_ID = re.compile(r"\d{3}|^[0-9a-f]{8}-[0-9a-f]{4}-", re.IGNORECASE)
"""Keys like `credit_card_4421486` are data, not names of members."""
_SAYS_ERROR = re.compile(r"^\W*(?:error|exception|traceback|failed)\b", re.IGNORECASE)
"""Recordings by tools that mark no errors hold them as texts that begin like this."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered: a value, and whether it was marked as an error."""

    value: Any
    error: bool = False

    @property
    def failed(self) -> bool:
        """Marked as an error, or a text that says it is one."""
        return self.error or (isinstance(self.value, str) and _SAYS_ERROR.match(self.value) is not None)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two answers differ."""

    place: str
    change: str
    severity: Severity
    recorded: Any = None
    live: Any = None


def answer_differences(recorded: Answer, live: Answer) -> list[Difference]:
    """Where a live answer differs from the recorded one, each place and change once; as JSON where both are JSON.

    Elements of arrays are one place (`[]`), and so are members whose names are ids (`{}`).
    """
    before, after = as_json(recorded.value), as_json(live.value)
    if recorded.failed != live.failed and not _same("", before, after):
        severity = Severity.BREAKING if live.failed else Severity.COMPATIBLE
        change = "is an error now" if live.failed else "is no error any more"
        return [Difference("", change, severity, before, after)]
    found: dict[tuple[str, str], Difference] = {}
    for one in _differences("", "", before, after):
        found.setdefault((one.place, one.change), one)
    return list(found.values())


def _differences(place: str, name: str, recorded: Any, live: Any) -> Iterator[Difference]:
    if is_object(recorded) and is_object(live):
        yield from _object_differences(place, recorded, live)
    elif is_array(recorded) and is_array(live):
        if len(recorded) != len(live):
            change = "has another number of elements"
            yield Difference(place, change, Severity.VALUE_ONLY, len(recorded), len(live))
        for before, after in zip(recorded, live, strict=False):
            yield from _differences(f"{place}[]", name, before, after)
    elif not _same(name, recorded, live):
        before, after = json_type(recorded), json_type(live)
        if before == after or "null" in (before, after):
            yield Difference(place, "has another value", Severity.VALUE_ONLY, recorded, live)
        else:
            yield Difference(place, f"is {after} instead of {before}", Severity.BREAKING, recorded, live)


def _object_differences(place: str, recorded: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[Difference]:
    gone = [name for name in recorded if name not in live]
    new = [name for name in live if name not in recorded]
    renamed = renames({name: recorded[name] for name in gone}, {name: live[name] for name in new})
    for name in gone:
        where = _member(place, name)
        if name in renamed:
            now = renamed[name]
            yield Difference(where, f"renamed to {now}", Severity.BREAKING, {name: recorded[name]}, {now: live[now]})
        elif _is_id(name):
            yield Difference(where, "is not there", Severity.VALUE_ONLY, {name: recorded[name]}, None)
        else:
            yield Difference(where, "removed", Severity.BREAKING, recorded[name], None)
    for name in new:
        if name not in renamed.values():
            severity = Severity.VALUE_ONLY if _is_id(name) else Severity.COMPATIBLE
            yield Difference(_member(place, name), "added", severity, None, live[name])
    for name in recorded:
        if name in live:
            yield from _differences(_member(place, name), name, recorded[name], live[name])


def renames(gone: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """Members that only changed their name: what is gone and what is new hold the same, and nothing else does."""
    found: dict[str, str] = {}
    for name, value in gone.items():
        after = [other for other in new if _same("", value, new[other])]
        before = [other for other in gone if _same("", value, gone[other])]
        if len(after) == len(before) == 1 and value not in (None, "", [], {}) and not _is_id(name):
            found[name] = after[0]
    return found


def _same(name: str, recorded: Any, live: Any) -> bool:
    """Whether two values are the same but for what is volatile; `1` is `1.0`, and `true` is no number."""
    if isinstance(recorded, str) and isinstance(live, str):
        return recorded == live or steady(recorded) == steady(live)
    if is_object(recorded) and is_object(live):
        return recorded.keys() == live.keys() and all(_same(key, recorded[key], live[key]) for key in recorded)
    if is_array(recorded) and is_array(live):
        return len(recorded) == len(live) and all(_same(name, *pair) for pair in zip(recorded, live, strict=True))
    if json_type(recorded) != json_type(live):
        return False
    if isinstance(recorded, int | float) and isinstance(live, int | float):
        return recorded == live or (is_moment(name, recorded) and is_moment(name, live))
    return recorded == live


def json_type(value: Any) -> str:
    """The JSON type of a value; integers are numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "object" if is_object(value) else "array"


def _member(place: str, name: str) -> str:
    shown = "{}" if _is_id(name) else name
    return f"{place}.{shown}" if place else shown


def _is_id(name: str) -> bool:
    return _ID.search(name) is not None
