"""Odd values in what tools answered: they came back, and mean nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.json_values import is_array, is_object
from passgrid.scoring.evidence import Evidence

LEAST_ROWS = 4
"""Fewer equal rows may be chance."""
LEAST_PROBABILITIES = 5
SATURATED_SHARE = 0.9
"""Of probabilities at 0 or 1."""
EDGE = 0.001
PROBABILITY_NAMES = ("prob", "score", "confidence", "likelihood", "propensity")
COST_NAMES = ("cost", "price", "total", "amount", "fee")
IMMUTABLE_NAMES = frozenset(
    {"created_at", "createdat", "created_on", "creation_date", "created_by", "createdby", "uuid", "date_of_birth"}
)
IDS = ("id", "uuid", "name", "key", "sku")


def identical_rows(evidence: Evidence) -> str | None:
    """A table whose rows are all the same: a model that predicts one thing, a join that went wrong."""
    for tool, value in evidence.answers:
        for path, rows in _lists(value, ""):
            if len(rows) < LEAST_ROWS:
                continue
            # Rows are told apart by what they are named; what is left must differ somewhere.
            told = [_unnamed(row) for row in rows if is_object(row)]
            whole = len(told) == len(rows) and all(told)
            if whole and len({canonical_arguments(row) for row in told}) == 1:
                return f"{tool}: all {len(told)} rows{_at(path)} are the same"
    return None


def saturated_probabilities(evidence: Evidence) -> str | None:
    """Probabilities that are nearly all 0 or 1: nothing was learned, or the answer leaked."""
    for (tool, _, name), numbers in _columns(evidence, PROBABILITY_NAMES).items():
        if len(numbers) < LEAST_PROBABILITIES or not all(0 <= number <= 1 for number in numbers):
            continue
        at_the_edge = sum(number <= EDGE or number >= 1 - EDGE for number in numbers)
        if at_the_edge >= SATURATED_SHARE * len(numbers):
            return f"{tool}: {at_the_edge} of {len(numbers)} values of {name} are 0 or 1"
    return None


def immutable_changed(evidence: Evidence) -> str | None:
    """What cannot change about a thing was answered in two ways: it is another thing, or was made anew."""
    fields = IMMUTABLE_NAMES | {name.lower() for name in evidence.scenario.detectors.immutable}
    seen: dict[tuple[str, str, str], Any] = {}
    for tool, _, thing in evidence.objects:
        here = [name for name in thing if name.lower() in fields and thing[name] is not None]
        named = _named(thing) if here else None
        if named is None:
            continue
        for field in here:
            before = seen.setdefault((*named, field), thing[field])
            if before != thing[field] and field != named[0]:
                return f"{tool}: {field} of {named[1]} was {_short(before)} and is {_short(thing[field])}"
    return None


def zero_cost_answers(evidence: Evidence) -> str | None:
    """Everything costs nothing: the sums were never made."""
    for (tool, _, name), numbers in _columns(evidence, COST_NAMES).items():
        if len(numbers) >= 2 and not any(numbers):
            return f"{tool}: all {len(numbers)} values of {name} are 0"
    return None


def _lists(value: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    if is_array(value):
        yield path, value
        for item in value:
            yield from _lists(item, path)
    elif is_object(value):
        for key, item in value.items():
            yield from _lists(item, f"{path}.{key}" if path else key)


def _columns(evidence: Evidence, words: tuple[str, ...]) -> dict[tuple[str, int, str], list[float]]:
    """Numbers by tool, answer and the name they stand under, over all rows: names with one of these words in them."""
    found: dict[tuple[str, int, str], list[float]] = {}
    for tool, answer, thing in evidence.objects:
        for name, item in thing.items():
            if isinstance(item, str) or not any(word in name.lower() for word in words):
                continue
            numbers = item if is_array(item) else [item]
            if numbers and all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
                found.setdefault((tool, answer, name), []).extend(numbers)
    return found


def _named(thing: dict[str, Any]) -> tuple[str, str] | None:
    """By what a thing is called, and how."""
    return next(((key, str(thing[key])) for key in IDS if isinstance(thing.get(key), str | int)), None)


def _unnamed(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key.lower() not in IDS and not key.lower().endswith("_id")}


def _at(path: str) -> str:
    return f" of {path}" if path else ""


def _short(value: Any) -> str:
    return repr(value)[:60]
