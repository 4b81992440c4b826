"""Whether the agents of a matrix fit its suites and scenarios."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from passgrid.agent_axis import BUILT_IN_AGENT, DEFAULT_AGENT
from passgrid.agent_command import AgentCommand
from passgrid.matrix import Cell, SuiteSlice
from passgrid.problems import Problem

_SUITE = "${suite}/"


def agent_problems(
    slices: Sequence[SuiteSlice], cells: Sequence[Cell], agents: Sequence[str], files: Mapping[str, Collection[str]]
) -> list[Problem]:
    """Agents that no suite declares, whose files are not there, or that do not fit a scenario.

    files: the paths of each suite's files, by its name.
    """
    problems = [problem for part in slices for name in agents for problem in _unknown(part, name)]
    for cell in cells:
        if cell.scenario.agent is not None:
            problems += [*_unfit(cell), *_missing(cell, cell.scenario.agent, files.get(cell.suite, ()))]
    return sorted(set(problems))


def _unknown(part: SuiteSlice, name: str) -> Iterator[Problem]:
    if name not in {DEFAULT_AGENT, BUILT_IN_AGENT} | part.agents.keys():
        there = ", ".join([DEFAULT_AGENT, BUILT_IN_AGENT, *sorted(part.agents)])
        remedy = f"declare it under `agents` in {part.suite}/suite.yaml"
        yield Problem(f"--agent {name}", f"suite {part.suite} has no such agent; there are: {there}", remedy)


def _missing(cell: Cell, agent: AgentCommand, files: Collection[str]) -> Iterator[Problem]:
    named = (text.removeprefix(_SUITE) for text in (agent.command, *agent.args) if text.startswith(_SUITE))
    for path in named:
        if path not in files and not any(file.startswith(f"{path.rstrip('/')}/") for file in files):
            place = f"{cell.suite} --agent {cell.arm.agent}"
            yield Problem(place, f"the suite has no {path}", "build it first: only files of the suite travel")


def _unfit(cell: Cell) -> Iterator[Problem]:
    scenario = cell.scenario
    if scenario.user_turns is None:
        message = "takes its user turns from recordings, and an agent that is a command is given all of them at once"
        yield Problem(f"{cell.suite}/{scenario.name} --agent {cell.arm.agent}", message, "use the built-in agent")
    if scenario.files_in_memory and scenario.agent is not None and "${workspace}" in " ".join(scenario.agent.args):
        message = "the built-in file server keeps the workspace in memory: there is no ${workspace} folder"
        yield Problem(f"{cell.suite}/{scenario.name} --agent {cell.arm.agent}", message)
