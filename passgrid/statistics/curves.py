"""The pass@k and pass^k curves of one arm."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from .aggregate import Kind, common_k, scenario_values
from .intervals import Interval, Method, mean_intervals, pass_at_1_interval, scenario_interval
from .tally import Tally


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve, with its 95 % interval."""

    #: Attempts drawn.
    k: int
    #: Mean over scenarios of pass@k or pass^k.
    value: float
    #: The interval, and how it was made.
    interval: Interval
    #: Some scenario has fewer than 2k valid attempts: drawn, but to be marked as resting on few.
    sparse: bool

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return self.interval.low

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self.interval.high

    @property
    def method(self) -> Method:
        """How the interval was made."""
        return self.interval.method


@dataclass(frozen=True, slots=True)
class Curve:
    """pass@k or pass^k over k of one arm; it stops where a scenario has too few valid attempts."""

    #: Which of the two.
    kind: Kind
    #: Scenarios behind every point.
    scenarios: int
    #: In rising order of k; none where a scenario has no valid attempt, or there is no scenario.
    points: tuple[CurvePoint, ...]


def curve(tallies: Sequence[Tally], kind: Kind, *, seed: int = 0, ks: Iterable[int] | None = None) -> Curve:
    """The curve of an arm.

    Args:
        tallies: one for each scenario wanted of the arm.
        kind: "at" for pass@k, "hat" for pass^k.
        seed: of the bootstrap.
        ks: the points wanted; all from 1 up by default. Those past the smallest count of valid attempts are left
            out, so curves to be compared take ``range(1, common_k(arms) + 1)``.

    Raises:
        ValueError: for a k below 1 or a kind other than the two.
    """
    if kind not in ("at", "hat"):
        raise ValueError(f'a curve is of kind "at" or "hat", not {kind!r}')
    fewest = common_k([tallies])
    wanted = sorted(set(range(1, fewest + 1) if ks is None else ks))
    if wanted and wanted[0] < 1:
        raise ValueError(f"need k >= 1, got k={wanted[0]}")
    shown = [k for k in wanted if k <= fewest]
    columns = {k: values for k in shown if (values := scenario_values(tallies, kind, k)) is not None}
    intervals = _intervals(tallies, kind, columns, seed)
    points = tuple(
        CurvePoint(k, fsum(values) / len(values), intervals[k], sparse=fewest < 2 * k) for k, values in columns.items()
    )
    return Curve(kind, len(tallies), points)


def _intervals(tallies: Sequence[Tally], kind: Kind, columns: dict[int, list[float]], seed: int) -> dict[int, Interval]:
    if len(tallies) == 1:
        found = {k: scenario_interval(tallies[0], kind, k) for k in columns}
    else:
        beyond_one = [k for k in columns if k > 1]
        drawn = mean_intervals([columns[k] for k in beyond_one], seed=seed)
        found = {1: pass_at_1_interval(tallies), **dict(zip(beyond_one, drawn, strict=True))}
    return {k: interval for k, interval in found.items() if interval is not None}
