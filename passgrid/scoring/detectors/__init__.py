"""Failures that look like a success: each detector looks at what was answered and said, and says what is odd.

A detector's word stands beside the verdict and is never part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from passgrid.scoring.detectors.answers import error_ignored, unsupported_answer
from passgrid.scoring.detectors.calls import endless_polling, repeated_call
from passgrid.scoring.detectors.values import (
    identical_rows,
    immutable_changed,
    saturated_probabilities,
    zero_cost_answers,
)
from passgrid.scoring.evidence import Evidence
from passgrid.suite_code import SuiteCode

DETECTOR_MARK = "passgrid_detector"
CHECKS_FILE = "checks.py"

Detector = Callable[[Evidence], str | None]
_Function = TypeVar("_Function", bound=Detector)


@dataclass(frozen=True, slots=True)
class Flag:
    """What a detector found."""

    name: str
    detail: str
    """One line: what is odd."""


DETECTORS: Mapping[str, Detector] = {
    "identical_rows": identical_rows,
    "saturated_probabilities": saturated_probabilities,
    "immutable_changed": immutable_changed,
    "zero_cost_answers": zero_cost_answers,
    "endless_polling": endless_polling,
    "repeated_call": repeated_call,
    "error_ignored": error_ignored,
    "unsupported_answer": unsupported_answer,
}
"""The built-in ones by name."""


def detector(name: str) -> Callable[[_Function], _Function]:
    """Mark a function of a suite's `checks.py`: it gets the evidence of every attempt, and returns what is odd."""

    def mark(function: _Function) -> _Function:
        setattr(function, DETECTOR_MARK, name)
        return function

    return mark


def detected(evidence: Evidence, code: SuiteCode) -> tuple[Flag, ...]:
    """What the built-in detectors and the suite's own find. One that raises says so instead."""
    own: Mapping[str, Detector] = code.marked(CHECKS_FILE, DETECTOR_MARK)
    flags: list[Flag] = []
    for name, function in {**DETECTORS, **own}.items():
        if name in evidence.scenario.detectors.off:
            continue
        try:
            detail = function(evidence)
        except Exception as error:  # noqa: BLE001 - a suite's own code may raise anything; that is its result
            detail = f"the detector itself failed: {type(error).__name__}: {error}"
        if detail is not None:
            flags.append(Flag(name, str(detail)[:500]))
    return tuple(flags)
