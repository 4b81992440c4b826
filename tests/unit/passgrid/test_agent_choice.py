"""An agent as an axis: which one a scenario gets, what its ids are, and which choices are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from passgrid.agent_axis import BUILT_IN_AGENT, DEFAULT_AGENT, with_agent
from passgrid.agent_command import AgentCommand
from passgrid.plan import make_plan
from passgrid.problems import InvalidInput
from passgrid.request import Request
from passgrid.scenario import Scenario
from tests.unit.passgrid.suites import write_suite

SHELL = AgentCommand(command="sh")
OTHER = AgentCommand(command="other")


def scenario(**more: Any) -> Scenario:
    return Scenario.model_validate({"name": "count", "task": "How many bolts?", **more})


def test_an_arm_decides_which_agent_a_scenario_gets() -> None:
    own, plain, declared = scenario(agent={"command": "sh"}), scenario(), {"other": OTHER}
    assert [with_agent(own, name, declared).agent for name in (DEFAULT_AGENT, BUILT_IN_AGENT, "other")] == [
        SHELL, None, OTHER,
    ]  # fmt: skip
    assert [with_agent(plain, name, declared).agent for name in (DEFAULT_AGENT, BUILT_IN_AGENT, "other")] == [
        None, None, OTHER,
    ]  # fmt: skip


def test_what_an_agent_is_decides_the_course_and_nothing_changes_where_there_is_none() -> None:
    assert "agent" not in scenario().trajectory_facts()
    assert scenario(agent={"command": "sh"}).trajectory_facts()["agent"] == {"command": "sh"}


def planned(suite: Path, **changes: Any) -> Any:
    return make_plan(Request(suites=(str(suite),), models=("recorded:gpt",), k=1, **changes))


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    made = write_suite(tmp_path)
    (made / "agent.sh").write_text("true\n")
    agents = {"mine": {"command": "sh", "args": ["${suite}/agent.sh"]}, "unbuilt": {"command": "${suite}/dist/agent"}}
    (made / "suite.yaml").write_text(yaml.safe_dump({"prompt": "plain", "agents": agents}))
    return made


def test_every_agent_is_an_arm_with_ids_of_its_own_and_the_default_keeps_those_it_had(suite: Path) -> None:
    before = planned(suite)
    both = planned(suite, agents=("default", "mine"))
    assert [cell.arm.agent for cell in both.cells] == ["default", "mine"]
    assert before.cells[0].cell_id == both.cells[0].cell_id != both.cells[1].cell_id
    assert [cell.scenario.agent is None for cell in both.cells] == [True, False]


def test_every_problem_with_agents_is_told_at_once(suite: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        planned(suite, agents=("nobody", "unbuilt", "mine"))
    told = [str(problem) for problem in caught.value.problems]
    assert any("no such agent; there are: default, built-in, mine, unbuilt" in text for text in told)
    assert any("the suite has no dist/agent" in text for text in told)
    assert len(told) == 2


def test_turns_from_recordings_are_for_the_built_in_agent(suite: Path) -> None:
    (suite / "count.yaml").write_text("turns: recorded\n")
    with pytest.raises(InvalidInput, match="takes its user turns from recordings"):
        planned(suite, agents=("mine",))
    assert planned(suite, agents=("built-in",)).wanted == 1


@pytest.mark.parametrize("name", ["default", "built-in"])
def test_names_with_a_meaning_of_their_own_cannot_be_declared(suite: Path, name: str) -> None:
    (suite / "suite.yaml").write_text(yaml.safe_dump({"agents": {name: {"command": "sh"}}}))
    with pytest.raises(InvalidInput, match=f"an agent cannot be called {name}"):
        planned(suite)


def test_a_scenario_with_recorded_turns_cannot_declare_an_agent() -> None:
    with pytest.raises(ValueError, match="they cannot be recorded"):
        Scenario.model_validate({"name": "a", "turns": "recorded", "agent": {"command": "sh"}})
