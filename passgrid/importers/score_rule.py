"""When a score of another tool is a pass: from a number on, and one score decides.

    1, C (correct), yes, true   → 1      0, I (incorrect), N (no answer), no, false → 0      P (partial) → 0.5

A number is itself. What reaches `--pass-at` (1 where it is not given) is a pass. Where the values go beyond 0 to 1, the
bound has to be given: nobody can guess it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from passgrid.json_values import is_object
from passgrid.problems import InvalidInput, Problem

_WORDS = {"c": 1.0, "yes": 1.0, "true": 1.0, "i": 0.0, "n": 0.0, "no": 0.0, "false": 0.0, "p": 0.5}


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """What the user chose."""

    score: str | None = None
    """Name of the score that decides, or `name.key` of one that holds several values; None: the only one there is."""
    pass_at: float | None = None
    """From where on it is a pass; None: 1."""

    def passes(self, value: float) -> bool:
        """Whether a value is a pass."""
        return value >= (1.0 if self.pass_at is None else self.pass_at)


def as_number(value: Any) -> float | None:
    """A value as a number; None where it is none: unscored, NaN, or another word."""
    if isinstance(value, bool | int | float):
        return float(value) if isfinite(value) else None
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _WORDS:
            return _WORDS[word]
        try:
            number = float(word)
        except ValueError:
            return None
        return number if isfinite(number) else None
    return None


def flat_scores(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Scores by name; of one that holds several values, each as `name.key`."""
    flat: dict[str, Any] = {}
    for name, value in scores.items():
        flat |= {f"{name}.{key}": one for key, one in value.items()} if is_object(value) else {name: value}
    return flat


def deciding_score(place: str, rule: ScoreRule, scored: Iterable[Mapping[str, Any]]) -> str:
    """The name of the score that decides, for scores as `flat_scores` makes them; empty where there is none at all.

    Raises:
        InvalidInput: several scores and none chosen, an unknown one, or values that need `--pass-at`.
    """
    of_samples = list(scored)
    names = list(dict.fromkeys(name for scores in of_samples for name in scores))
    if rule.score is None and len(names) > 1:
        message = f"has {len(names)} scores: {', '.join(names[:12])}"
        raise InvalidInput([Problem(place, message, f"choose the one that decides: --score '{names[0]}'")])
    if rule.score is not None and names and rule.score not in names:
        message = f"has no score {rule.score}; there are: {', '.join(names[:12])}"
        raise InvalidInput([Problem(place, message, f"--score '{names[0]}'")])
    name = rule.score or (names[0] if names else "")
    numbers = [number for scores in of_samples if (number := as_number(scores.get(name))) is not None]
    beyond = [number for number in numbers if not 0 <= number <= 1]
    if beyond and rule.pass_at is None:
        message = f"score {name} has values such as {beyond[0]:g}, beyond 0 to 1"
        raise InvalidInput([Problem(place, message, "say from where on it is a pass: --pass-at NUMBER")])
    return name
