"""Which attempts a matrix wants: cells, samples and their content-addressed ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from passgrid.agent_axis import DEFAULT_AGENT, with_agent
from passgrid.agent_command import AgentCommand
from passgrid.identity import short_id
from passgrid.model_reference import ModelReference
from passgrid.scenario import Scenario
from passgrid.target import DEFAULT_TARGET, Target, on_target


class Mode(StrEnum):
    """What is live (design: words)."""

    REPLAY = "replay"
    SANDBOX = "sandbox"
    LIVE = "live"
    DRIFT = "drift"

    @property
    def needs_recorded_model(self) -> bool:
        """Whether the model's turns come from cassettes in this mode."""
        return self in {Mode.REPLAY, Mode.DRIFT}

    @property
    def has_live_tools(self) -> bool:
        """Whether tool calls reach real servers in this mode."""
        return self in {Mode.LIVE, Mode.DRIFT}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A named system prompt."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Harness:
    """The versions an attempt's course may depend on."""

    passgrid: str
    pydantic_ai: str
    mcp: str


@dataclass(frozen=True, slots=True)
class Arm:
    """What is compared: one combination of every axis but the scenario."""

    model: ModelReference
    prompt: Prompt
    target: str = DEFAULT_TARGET
    fault: str = "none"
    mitigation: str = "none"
    agent: str = DEFAULT_AGENT


@dataclass(frozen=True, slots=True)
class Cell:
    """One combination of all axes."""

    arm: Arm
    suite: str
    scenario: Scenario
    """With the servers of the arm's target."""
    cell_id: str
    """Hash of what decides the course of its attempts, sample and cassette aside."""

    def attempt_id(self, sample: int, cassette_hash: str | None) -> str:
        """The id of sample number `sample`; the cassette's hash belongs to it in replay and drift."""
        return short_id([self.cell_id, sample, cassette_hash])


@dataclass(frozen=True, slots=True)
class Attempt:
    """One of a cell's k samples."""

    attempt_id: str
    cell: Cell
    sample: int
    cassette_hash: str | None


@dataclass(frozen=True, slots=True)
class SuiteSlice:
    """The scenarios a matrix takes from one suite, and the prompts it meets them with."""

    suite: str
    scenarios: tuple[Scenario, ...]
    prompts: tuple[Prompt, ...]
    targets: Mapping[str, Target] = field(default_factory=dict[str, Target])
    """Those its suite declares, by name."""
    agents: Mapping[str, AgentCommand] = field(default_factory=dict[str, AgentCommand])
    """Likewise."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """model × prompt × scenario (× target, fault, mitigation), each k times."""

    slices: tuple[SuiteSlice, ...]
    models: tuple[ModelReference, ...]
    mode: Mode
    k: int
    label: str
    harness: Harness
    targets: tuple[str, ...] = (DEFAULT_TARGET,)
    agents: tuple[str, ...] = (DEFAULT_AGENT,)

    def cells(self) -> list[Cell]:
        """Every cell, scenarios outermost, in the order given."""
        return [
            self._cell(
                Arm(model, prompt, target, agent=agent),
                part.suite,
                with_agent(on_target(scenario, part.targets.get(target)), agent, part.agents),
            )
            for part in self.slices
            for scenario in part.scenarios
            for model in self.models
            for prompt in part.prompts
            for target in self.targets
            for agent in self.agents
        ]

    def _cell(self, arm: Arm, suite: str, scenario: Scenario) -> Cell:
        facts: dict[str, Any] = {
            "suite": suite,
            "scenario": scenario.name,
            **scenario.trajectory_facts(),
            "prompt": arm.prompt.text,
            "prompt_name": arm.prompt.name,
            "model": str(arm.model),
            "target": arm.target,
            "fault": arm.fault,
            "mitigation": arm.mitigation,
            "mode": self.mode,
        }
        if arm.agent != DEFAULT_AGENT:
            # Left out where none is chosen: ids of before there was a choice stay.
            facts["agent_name"] = arm.agent
        return Cell(arm, suite, scenario, short_id(facts))

    def run_id(self, cells: Sequence[Cell]) -> str:
        """The run this matrix is: k is not in it, so a larger k extends the same run.

        Label, target and harness are in it, so that another label, or an upgrade, measures again.
        """
        harness = {"passgrid": self.harness.passgrid, "pydantic_ai": self.harness.pydantic_ai, "mcp": self.harness.mcp}
        return short_id([sorted(cell.cell_id for cell in cells), self.label, harness])

    def attempts(self, cells: Sequence[Cell], cassette_of: Callable[[Cell, int], str | None]) -> Iterator[Attempt]:
        """Every attempt, sample by sample, so that a run broken off early has seen every cell.

        Args:
            cells: as `cells()` gave them.
            cassette_of: the hash of the recording that sample i of a cell replays; None when nothing is replayed.
        """
        for sample in range(self.k):
            for cell in cells:
                cassette_hash = cassette_of(cell, sample)
                yield Attempt(cell.attempt_id(sample, cassette_hash), cell, sample, cassette_hash)
