"""An agent as an axis of a matrix: a scenario's own, the built-in one, or one that a suite declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from passgrid.agent_command import AgentCommand
from passgrid.scenario import Scenario

DEFAULT_AGENT = "default"
"""A scenario's own agent, or the built-in one where it declares none."""

BUILT_IN_AGENT = "built-in"
"""The agent loop of Passgrid itself, also for scenarios that declare another."""


def with_agent(scenario: Scenario, name: str, declared: Mapping[str, AgentCommand]) -> Scenario:
    """The scenario with the agent of an arm; itself where that changes nothing, or nobody declares it."""
    if name == DEFAULT_AGENT or (name != BUILT_IN_AGENT and name not in declared):
        return scenario
    changed: Mapping[str, Any] = {"agent": declared.get(name)}
    return scenario.model_copy(update=changed)
