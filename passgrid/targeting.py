"""Whether the targets of a matrix fit its suites and scenarios."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from passgrid.matrix import Cell, Matrix, Mode, SuiteSlice
from passgrid.problems import Problem
from passgrid.target import DEFAULT_TARGET


def target_problems(slices: Sequence[SuiteSlice], cells: Sequence[Cell], matrix: Matrix) -> list[Problem]:
    """Targets no suite knows or that change nothing for a scenario, and drift without a server to ask."""
    problems = [problem for part in slices for target in matrix.targets for problem in _of_slice(part, target)]
    if matrix.mode is Mode.DRIFT and not problems:
        problems += [_nothing_to_ask(cell) for cell in cells if not cell.scenario.mcp_servers]
    return sorted(set(problems))


def _of_slice(part: SuiteSlice, name: str) -> Iterator[Problem]:
    if name == DEFAULT_TARGET:
        return
    target = part.targets.get(name)
    if target is None:
        there = ", ".join([DEFAULT_TARGET, *sorted(part.targets)])
        remedy = f"declare it under `targets` in {part.suite}/suite.yaml"
        yield Problem(f"--target {name}", f"suite {part.suite} has no such target; there are: {there}", remedy)
        return
    for scenario in part.scenarios:
        if not target.covers(scenario):
            theirs, ours = ", ".join(scenario.mcp_servers), ", ".join(target.mcp_servers)
            message = f"its servers are {theirs}, and the target declares only {ours}"
            place = f"{part.suite}/{scenario.name} --target {name}"
            yield Problem(place, message, "leave it out with --scenario or --tag, or declare its servers")


def _nothing_to_ask(cell: Cell) -> Problem:
    place = f"{cell.suite}/{cell.scenario.name} --mode drift"
    return Problem(place, "declares no server, so there is nothing to compare with", "choose one with --target")
