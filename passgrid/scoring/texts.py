"""Whether a text is what is asked."""

from __future__ import annotations

import re
from typing import Any, cast

import orjson
from jsonschema.exceptions import ValidationError, best_match  # pyright: ignore[reportUnknownVariableType]
from jsonschema.validators import validator_for

from passgrid.conditions import NumberMatch, TextMatch
from passgrid.differences import EXPECTATION, first_difference
from passgrid.scoring.verdict import Verdict

NUMBER = re.compile(r"(?<![\w.])[-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")


_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def match_text(match: TextMatch, text: str) -> Verdict:
    """Whether a text is what is asked, and if not, what is missing."""
    if match.plain_numbers:
        text = _THOUSANDS.sub("", text)
    folded = text.casefold() if match.ignore_case else text
    if match.equals is not None and folded != _folded(match.equals, match):
        return False, first_difference(match.equals, text, "text", EXPECTATION) or "the texts differ"
    wanted = (match.contains,) if isinstance(match.contains, str) else match.contains or ()
    for part in wanted:
        if _folded(part, match) not in folded:
            return False, f"does not contain {part!r}"
    if match.matches is not None and not re.search(match.matches, text, re.IGNORECASE if match.ignore_case else 0):
        return False, f"does not match {match.matches!r}"
    if match.number is not None and (wrong := _number_missing(match.number, text)):
        return False, wrong
    if match.json_schema is not None and (wrong := _schema_unsatisfied(match.json_schema, text)):
        return False, wrong
    return True, ""


def as_text(value: Any) -> str:
    """A value as a text to be matched: text as it is, all else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value, default=str).decode()


def numbers_in(text: str) -> list[float]:
    """Every number written in a text; 1,164 is one number."""
    return [float(match.replace(",", "").replace("−", "-")) for match in NUMBER.findall(text)]


def _folded(text: str, match: TextMatch) -> str:
    return text.casefold() if match.ignore_case else text


def _number_missing(wanted: NumberMatch, text: str) -> str | None:
    found = numbers_in(text)
    allowed = wanted.tolerance + wanted.relative * abs(wanted.value)
    # Binary fractions: 0.1 + 0.2 is within 0.3 ± 0.
    slack = 1e-9 * max(1.0, abs(wanted.value))
    if any(abs(number - wanted.value) <= allowed + slack for number in found):
        return None
    nearest = min(found, key=lambda number: abs(number - wanted.value), default=None)
    return f"holds no number {wanted.value:g} ± {allowed:g}; " + (
        "there is none at all" if nearest is None else f"the nearest is {nearest:g}"
    )


def _schema_unsatisfied(schema: dict[str, Any], text: str) -> str | None:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return "is no JSON"
    found = validator_for(schema)(schema).iter_errors(value)
    error = cast("ValidationError | None", best_match(found))  # pyright: ignore[reportUnknownMemberType]
    return None if error is None else f"{error.json_path}: {error.message}"
