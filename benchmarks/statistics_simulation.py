"""The simulation behind ``benchmarks/statistics.py``: arms whose truth is known, and what is said of them."""

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from passgrid.statistics import Tally, advised_scenarios, coverage, gate, paired_difference, pass_at_1_interval

Rates = NDArray[np.float64]

#: The drop to be found, in proportion.
DROP = 0.15

#: What a gate tolerates, in proportion.
MARGIN = 0.05


@dataclass(frozen=True, slots=True)
class Check:
    """One simulated share and the bounds it has to keep."""

    what: str
    scenarios: int
    attempts: int
    rate: float
    spread: str
    share: float
    at_least: float
    at_most: float

    @property
    def kept(self) -> bool:
        return self.at_least <= self.share <= self.at_most


#: How scenarios differ in difficulty: the concentration of the Beta distribution their pass rates come from.
SPREADS = {"all alike": None, "some": 10.0, "wide": 2.0}


def rates(rng: np.random.Generator, scenarios: int, mean: float, spread: str) -> Rates:
    concentration = SPREADS[spread]
    if concentration is None:
        return np.full(scenarios, mean)
    return rng.beta(mean * concentration, (1 - mean) * concentration, scenarios)


def measure(rng: np.random.Generator, true: Rates, attempts: int) -> list[Tally]:
    return [Tally(attempts, int(passed)) for passed in rng.binomial(attempts, true)]


def covered(rng: np.random.Generator, runs: int, scenarios: int, attempts: int, mean: float, spread: str) -> float:
    """How often the interval of pass@1 holds the mean rate of the population of scenarios."""
    hits = 0
    for _ in range(runs):
        interval = pass_at_1_interval(measure(rng, rates(rng, scenarios, mean, spread), attempts))
        assert interval is not None
        hits += interval.low <= mean <= interval.high
    return hits / runs


def regressions(rng: np.random.Generator, runs: int, before: Rates, after: Rates, attempts: int) -> float:
    """How often the gate calls the candidate worse."""
    hits = 0
    for run in range(runs):
        arms = [measure(rng, true, attempts) for true in (before, after)]
        full = [coverage(arm, [attempts] * len(arm)) for arm in arms]
        values = [{str(i): tally.passed / attempts for i, tally in enumerate(arm)} for arm in arms]
        verdict = gate(
            paired_difference(*values, seed=run),
            margin=MARGIN,
            baseline_coverage=full[0],
            candidate_coverage=full[1],
        )
        hits += verdict.verdict == "regression"
    return hits / runs


def checks(runs: int, seed: int) -> Iterator[Check]:
    rng = np.random.default_rng(seed)
    for scenarios in (30, 120):
        for attempts in (1, 5):
            for mean in (0.2, 0.5, 0.8):
                for spread in SPREADS:
                    share = covered(rng, runs, scenarios, attempts, mean, spread)
                    yield Check("pass@1 covered", scenarios, attempts, mean, spread, share, 0.92, 0.98)
    for scenarios in (12, 30):
        for attempts in (1, 5):
            for mean in (0.02, 0.98) if scenarios == 30 else (0.02, 0.2, 0.5, 0.8, 0.98):
                for spread in SPREADS:
                    share = covered(rng, runs, scenarios, attempts, mean, spread)
                    yield Check("pass@1 covered", scenarios, attempts, mean, spread, share, 0.93, 1.0)
    for scenarios, attempts in ((12, 1), (12, 5), (30, 1), (30, 5)):
        for mean in (0.5, 0.7, 0.95):
            true = rates(rng, scenarios, mean, "some")
            share = regressions(rng, runs, true, true, attempts)
            yield Check("identical arms called a regression", scenarios, attempts, mean, "some", share, 0.0, 0.05)
    for attempts in (3, 5, 10):
        for mean in (0.5, 0.7):
            yield power(rng, runs, attempts, mean)


def power(rng: np.random.Generator, runs: int, attempts: int, mean: float) -> Check:
    """A drop of 15 points in every scenario, with as many scenarios as the planning advises."""
    many = np.clip(rates(rng, 100_000, mean, "some"), DROP, 1)
    scenarios = advised_scenarios(
        DROP,
        between=0,
        within_baseline=float(np.mean(many * (1 - many))),
        within_candidate=float(np.mean((many - DROP) * (1 - many + DROP))),
        attempts=attempts,
    )
    true = rng.choice(many, (runs, scenarios))
    found = [regressions(rng, 1, row, row - DROP, attempts) for row in true]
    return Check("drop found", scenarios, attempts, mean, "some", float(np.mean(found)), 0.8, 1.0)


def main() -> int:
    parser = argparse.ArgumentParser(description="Simulate what the intervals, the gate and the planning promise.")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("--runs", type=int, default=2000, help="simulated runs of each setting")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found: list[Check] = []
    for check in checks(options.runs, options.seed):
        found.append(check)
        print(
            f"{'ok  ' if check.kept else 'FAIL'} {check.what}: {check.share:.1%} ({check.at_least:.0%} to"
            f" {check.at_most:.0%}), {check.scenarios} scenarios x {check.attempts}, rate {check.rate:.0%},"
            f" scenarios differ: {check.spread}",
            file=sys.stderr if options.json else sys.stdout,
            flush=True,
        )
    kept = all(check.kept for check in found)
    if options.json:
        results = [{**asdict(check), "kept": check.kept} for check in found]
        print(json.dumps({"runs": options.runs, "seed": options.seed, "kept": kept, "checks": results}))
    return 0 if kept else 1
