"""What `--gate` asks: which figure, and how much worse it may be.

`pass@1:-5pt` tolerates five points, `pass^3:-0.02` two; `steps:+10%` ten percent more, `cost`, `tokens` and `duration`
likewise. Without a margin nothing is tolerated. `margin=0.05` is short for `pass@1:-5pt`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from passgrid.problems import InvalidInput, Problem
from passgrid.report.arms import ArmReport
from passgrid.report.comparison import ArmComparison
from passgrid.statistics import GateVerdict, Verdict, gate, gate_change, paired_difference, pass_at_k, pass_hat_k

USED = {"steps": "steps", "tokens": "tokens", "cost": "cost_usd", "duration": "duration_s"}
"""Gates on what attempts use, and the measure of each."""
_REMEDY = "write FIGURE:MARGIN, such as pass@1:-5pt, pass^3:-5pt, steps:+10% or cost:+20%"
_PASS = re.compile(r"pass([@^])([1-9]\d{0,3})")
_MARGIN = re.compile(r"([+-]?)(\d+(?:\.\d+)?)(pt|%|)")


@dataclass(frozen=True, slots=True)
class Gate:
    """One figure and its margin."""

    text: str
    """As it was written."""
    figure: Literal["at", "hat", "used"]
    k: int
    """Of pass@k and pass^k; 1 otherwise."""
    measure: str
    """Of what attempts use; empty otherwise."""
    margin: float
    """A proportion of attempts, or of the baseline's use."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What one gate says of one pair of arms."""

    gate: Gate
    comparison: ArmComparison
    verdict: GateVerdict


def read_gates(texts: Sequence[str]) -> list[Gate]:
    """The gates written so. Raises `InvalidInput` with every one that is not understood."""
    gates: list[Gate] = []
    problems: list[Problem] = []
    for text in texts:
        try:
            gates.append(_gate(text))
        except ValueError as error:
            problems.append(Problem(f"--gate {text}", str(error), _REMEDY))
    if problems:
        raise InvalidInput(problems)
    return gates


def _gate(text: str) -> Gate:
    figure, _, margin = text.partition(":")
    if figure.startswith("margin="):
        figure, margin = "pass@1", figure.removeprefix("margin=")
    if found := _PASS.fullmatch(figure):
        return Gate(text, "at" if found[1] == "@" else "hat", int(found[2]), "", _margin(margin, worse="-"))
    if figure in USED:
        return Gate(text, "used", 1, USED[figure], _margin(margin, worse="+"))
    raise ValueError(f"no such figure; there are: pass@K, pass^K, {', '.join(USED)}")


def _margin(text: str, worse: str) -> float:
    """The proportion that may be lost; its sign, where there is one, has to point to the worse."""
    if not text:
        return 0.0
    found = _MARGIN.fullmatch(text)
    if found is None:
        raise ValueError(f"{text} is no margin")
    sign, number, unit = found.groups()
    if sign and sign != worse:
        raise ValueError(f"the margin says how much worse it may be: {worse}{number}{unit}")
    if (unit == "pt") != (worse == "-") and unit:
        raise ValueError("pass rates have margins in points (pt), what attempts use in percent")
    margin = float(number) / (100 if unit else 1)
    if worse == "-" and margin > 1:
        raise ValueError(f"{text} is more than everything: write {number}pt for points")
    return margin


def judge(gates: Sequence[Gate], comparisons: Sequence[ArmComparison]) -> list[Judged]:
    """Every gate on every pair of arms."""
    return [Judged(one, pair, _verdict(one, pair)) for pair in comparisons for one in gates]


def overall(judged: Sequence[Judged]) -> Verdict:
    """The worst of all: a regression anywhere, else anything inconclusive; inconclusive where nothing was judged."""
    verdicts = {one.verdict.verdict for one in judged}
    if "regression" in verdicts:
        return "regression"
    return "pass" if verdicts == {"pass"} else "inconclusive"


def _verdict(one: Gate, pair: ArmComparison) -> GateVerdict:
    baseline, candidate = pair.baseline.coverage, pair.candidate.coverage
    if one.figure == "used":
        change = pair.changes[one.measure]
        return gate_change(change, margin=one.margin, baseline_coverage=baseline, candidate_coverage=candidate)
    difference = pair.difference
    if pair.same_attempts and baseline.enough and candidate.enough:
        reason = "the same recordings came to the same outcomes: there is no difference, so none is estimated"
        return GateVerdict("pass", reason, one.margin, difference)
    if one.k > 1:
        difference = paired_difference(_values(one, pair.baseline), _values(one, pair.candidate))
    return gate(difference, margin=one.margin, baseline_coverage=baseline, candidate_coverage=candidate)


def _values(one: Gate, arm: ArmReport) -> dict[str, float | None]:
    value = pass_at_k if one.figure == "at" else pass_hat_k
    return {found.key: value(found.valid, found.passed, one.k) for found in arm.scenarios}
