"""Everything a report says, before it is written in any format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from passgrid.problems import InvalidInput, Problem
from passgrid.report.arms import ArmReport
from passgrid.report.comparison import ADVISED_DELTA, ArmComparison, arms_by_name, compare_arms
from passgrid.report.gates import Gate, Judged, judge, overall
from passgrid.report.matching import AXES, match_arms
from passgrid.statistics import EXIT_CODES, Verdict

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Report:
    """What runs say, alone and against a baseline."""

    runs: tuple[str, ...]
    """Those asked for; the baseline's, where it is another, comes first."""
    arms: tuple[ArmReport, ...]
    """The baseline's first."""
    comparisons: tuple[ArmComparison, ...] = ()
    unmatched: tuple[str, ...] = ()
    """Arms that are compared with none, and why."""
    gated: bool = False
    judged: tuple[Judged, ...] = ()

    @property
    def gate(self) -> Verdict | None:
        """What all gates say together; None where none was asked."""
        return overall(self.judged) if self.gated else None

    @property
    def exit_code(self) -> int:
        """0 all is well, 3 regression, 4 inconclusive, or an arm's coverage is below 95 %."""
        code = EXIT_CODES[self.gate] if self.gate else 0
        return code or (0 if all(arm.coverage.enough for arm in self.arms) else EXIT_CODES["inconclusive"])

    def letter(self, arm: ArmReport) -> str:
        """A short name for an arm: A, B, …, Z, A2, …"""
        place = next(i for i, one in enumerate(self.arms) if one.name == arm.name)
        return LETTERS[place % 26] + (str(place // 26 + 1) if place >= 26 else "")


IsBaseline = Callable[[ArmReport], bool]


def baseline_axis(text: str) -> IsBaseline | None:
    """Whether an arm is of the baseline, where that is written `AXIS=VALUE`; None where it names a run."""
    axis, sign, value = text.partition("=")
    if not sign or axis not in AXES:
        return None
    return lambda arm: getattr(arm.name, axis) == value


def of_run(run_id: str) -> IsBaseline:
    """Whether an arm is of this run."""
    return lambda arm: arm.name.run == run_id


def make_report(
    runs: Sequence[str],
    arms: Sequence[ArmReport],
    is_baseline: IsBaseline | None = None,
    gates: Sequence[Gate] = (),
) -> Report:
    """Compare the arms with those of the baseline; without one, all others with the first.

    Raises:
        InvalidInput: no arm is of the baseline, or all are; or there are gates and no baseline.
    """
    if gates and is_baseline is None:
        remedy = "add --baseline RUN, or --baseline model=NAME to compare arms of one run"
        raise InvalidInput([Problem(f"--gate {gates[0].text}", "has nothing to compare with", remedy)])
    if is_baseline is None:
        base, others = list(arms[:1]), list(arms[1:])
        pairs, unmatched = [(base[0], other) for other in others], ()
    else:
        base = [arm for arm in arms if is_baseline(arm)]
        others = [arm for arm in arms if not is_baseline(arm)]
        _check_sides(base, others)
        matched = match_arms([arm.name for arm in base], [arm.name for arm in others])
        named, unmatched = arms_by_name(arms), matched.unmatched
        pairs = [(named[one], named[other]) for one, other in matched.pairs]
    delta = min((one.margin for one in gates if one.figure != "used" and one.margin), default=ADVISED_DELTA)
    comparisons = compare_arms(pairs, delta)
    judged = judge(gates, comparisons)
    return Report(tuple(runs), (*base, *others), tuple(comparisons), tuple(unmatched), bool(gates), tuple(judged))


def _check_sides(base: Sequence[ArmReport], others: Sequence[ArmReport]) -> None:
    if not base:
        raise InvalidInput(
            [Problem("--baseline", "no arm of these runs is of the baseline", "see `passgrid report RUN`")]
        )
    if not others:
        remedy = "name another run, or another baseline"
        raise InvalidInput([Problem("--baseline", "every arm of these runs is of the baseline", remedy)])
