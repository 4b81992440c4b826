"""Odd values in what tools answered: they came back, and mean nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

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
    for tool, value in _answers(evidence):
        for path, rows in _lists(value, ""):
            # Rows are told apart by what they are named; what is left must differ somewhere.
            told = [_unnamed(row) for row in rows if is_object(row)]
            whole = len(told) >= LEAST_ROWS and len(told) == len(rows) and all(told)
            if whole and len({canonical_arguments(row) for row in told}) == 1:
                return f"{tool}: all {len(told)} rows{_at(path)} are the same"
    return None


def saturated_probabilities(evidence: Evidence) -> str | None:
    """Probabilities that are nearly all 0 or 1: nothing was learned, or the answer leaked."""
    for tool, value in _answers(evidence):
        for name, numbers in _columns(value).items():
            if not any(part in name.lower() for part in PROBABILITY_NAMES):
                continue
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
    for tool, value in _answers(evidence):
        for thing in _objects(value):
            named = next(((key, str(thing[key])) for key in IDS if isinstance(thing.get(key), str | int)), None)
            for field, found in thing.items():
                if named is None or field.lower() not in fields or field == named[0] or found is None:
                    continue
                before = seen.setdefault((*named, field), found)
                if before != found:
                    return f"{tool}: {field} of {named[1]} was {_short(before)} and is {_short(found)}"
    return None


def zero_cost_answers(evidence: Evidence) -> str | None:
    """Everything costs nothing: the sums were never made."""
    for tool, value in _answers(evidence):
        for name, numbers in _columns(value).items():
            if any(part in name.lower() for part in COST_NAMES) and len(numbers) >= 2 and not any(numbers):
                return f"{tool}: all {len(numbers)} values of {name} are 0"
    return None


def _answers(evidence: Evidence) -> Iterator[tuple[str, Any]]:
    for call in evidence.tool_calls:
        if not call.error and call.result is not None:
            yield call.tool, _parsed(call.result)


def _parsed(result: Any) -> Any:
    if isinstance(result, str) and result[:1] in {"{", "["}:
        try:
            return orjson.loads(result)
        except orjson.JSONDecodeError:
            return result
    return result


def _lists(value: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    if is_array(value):
        yield path, value
        for item in value:
            yield from _lists(item, path)
    elif is_object(value):
        for key, item in value.items():
            yield from _lists(item, f"{path}.{key}" if path else key)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if is_object(value):
        yield value
        for item in value.values():
            yield from _objects(item)
    elif is_array(value):
        for item in value:
            yield from _objects(item)


def _columns(value: Any) -> dict[str, list[float]]:
    """Numbers by the name they stand under, over all rows."""
    found: dict[str, list[float]] = {}
    for thing in _objects(value):
        for name, item in thing.items():
            numbers = item if is_array(item) else [item]
            if numbers and all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
                found.setdefault(name, []).extend(numbers)
    return found


def _unnamed(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key.lower() not in IDS and not key.lower().endswith("_id")}


def _at(path: str) -> str:
    return f" of {path}" if path else ""


def _short(value: Any) -> str:
    return repr(value)[:60]
