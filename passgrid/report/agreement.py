"""How far verdicts agree with those of people, beyond chance."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from passgrid.problems import InvalidInput, Problem
from passgrid.statistics import Kappa, cohen_kappa

Place = tuple[str, int]
"""Scenario and sample."""

_TRUE, _FALSE = frozenset({"1", "true", "pass", "passed", "yes"}), frozenset({"0", "false", "fail", "failed", "no"})


@dataclass(frozen=True, slots=True)
class Agreement:
    """One rater beside the people."""

    rater: str
    kappa: Kappa
    both_pass: int
    both_fail: int
    only_rater_passes: int
    only_people_pass: int
    unrated: int
    """Labelled attempts the rater said nothing about."""


def read_labels(path: Path) -> dict[Place, bool]:
    """Labels of people: CSV with the columns scenario, sample and passed.

    Raises `InvalidInput` with every line that cannot be read.
    """
    try:
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput([Problem(str(path), f"cannot be read: {error}")]) from None
    missing = [name for name in ("scenario", "sample", "passed") if rows and name not in rows[0]]
    if missing or not rows:
        message = f"has no column {', '.join(missing)}" if missing else "holds no labels"
        raise InvalidInput([Problem(str(path), message, "the first line is scenario,sample,passed")])
    labels: dict[Place, bool] = {}
    problems: list[Problem] = []
    for number, row in enumerate(rows, 2):
        sample, word = (row["sample"] or "").strip(), (row["passed"] or "").strip().lower()
        place = ((row["scenario"] or "").strip(), int(sample) if sample.isdigit() else -1)
        if place[1] < 0 or word not in _TRUE | _FALSE:
            problems.append(Problem(f"{path}:{number}", "sample is a number from 0, passed is pass or fail"))
        elif place in labels:
            problems.append(Problem(f"{path}:{number}", f"{place[0]}, sample {place[1]} is labelled twice"))
        else:
            labels[place] = word in _TRUE
    if problems:
        raise InvalidInput(problems)
    return labels


def agreement(rater: str, verdicts: Mapping[Place, bool | None], labels: Mapping[Place, bool]) -> Agreement:
    """A rater's verdicts beside labels, over the attempts both speak of."""
    pairs = [(verdict, label) for place, label in labels.items() if (verdict := verdicts.get(place)) is not None]
    return Agreement(
        rater,
        cohen_kappa([verdict for verdict, _ in pairs], [label for _, label in pairs]),
        both_pass=_count(pairs, True, True),
        both_fail=_count(pairs, False, False),
        only_rater_passes=_count(pairs, True, False),
        only_people_pass=_count(pairs, False, True),
        unrated=len(labels) - len(pairs),
    )


def _count(pairs: Sequence[tuple[bool, bool]], verdict: bool, label: bool) -> int:
    return pairs.count((verdict, label))
