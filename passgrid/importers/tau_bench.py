"""Trajectories as tau-bench publishes them: a suite of scenarios with one cassette per trial.

Source of the format: sierra-research/tau-bench, historical trajectories. Its traps:

* call ids repeat inside a trajectory: an answer belongs to the call before it, by position
* a run cut off at the limit of model turns has no `reward_info`, and ends at a user turn or tool answer
* a conversation may end at a tool answer (a transfer) or a user's turn, without another model turn
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from passgrid.cassettes.format import COMPLETED_ENDING, LIMIT_ENDING, Cassette, Step
from passgrid.json_values import is_array
from passgrid.problems import InvalidInput, Problem

MODEL_TURNS = 30
"""Where tau-bench cuts a conversation off."""

VERDICT = "recorded_reward"
PROMPT = "tau-bench-policy"
SERVER = "tau-bench"
LIVE_MODES = ["live", "drift"]
UNKNOWN_SCHEMA = {"type": "object", "additionalProperties": True, "x-passgrid-schema": "unknown"}
"""Trajectories do not hold the tools' schemas: anything is accepted, and that is said."""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One published conversation."""

    task_id: int
    trial: int
    reward: float
    instruction: str
    cut_off: bool
    actions: tuple[tuple[str, dict[str, Any]], ...]
    """The calls of the right solution."""
    outputs: tuple[str, ...]
    """What the agent must say."""
    messages: tuple[dict[str, Any], ...]

    @property
    def scenario(self) -> str:
        """The name of the scenario its task becomes."""
        return f"task-{self.task_id:02d}"


def read_trajectories(path: Path) -> list[Trajectory]:
    """Every trajectory of a file, gzip or plain JSON, by task and trial.

    Raises `InvalidInput` naming each entry that cannot be read.
    """
    try:
        data = path.read_bytes()
        entries: Any = orjson.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except FileNotFoundError:
        raise InvalidInput([Problem(str(path), "no such file")]) from None
    except (OSError, EOFError, ValueError) as error:
        raise InvalidInput([Problem(str(path), f"not a JSON file, plain or gzip: {error}")]) from None
    if not is_array(entries):
        raise InvalidInput([Problem(str(path), "not a list of trajectories")])
    trajectories: list[Trajectory] = []
    problems: list[Problem] = []
    for i, entry in enumerate(entries):
        try:
            trajectories.append(_trajectory(entry))
        except (KeyError, TypeError, ValueError) as error:
            problems.append(Problem(f"{path}[{i}]", f"not a tau-bench trajectory: {type(error).__name__}: {error}"))
    seen: dict[tuple[int, int], int] = {}
    for i, trajectory in enumerate(trajectories):
        key = (trajectory.task_id, trajectory.trial)
        if key in seen:
            problems.append(Problem(f"{path}[{i}]", f"task {key[0]}, trial {key[1]} is there twice"))
        seen[key] = i
    if problems:
        raise InvalidInput(problems)
    return sorted(trajectories, key=lambda trajectory: (trajectory.task_id, trajectory.trial))


def _trajectory(entry: dict[str, Any]) -> Trajectory:
    return Trajectory(
        task_id=int(entry["task_id"]),
        trial=int(entry["trial"]),
        reward=float(entry["reward"]),
        instruction=entry["info"]["task"]["instruction"],
        cut_off=entry["info"].get("reward_info") is None,
        actions=tuple((one["name"], one["kwargs"]) for one in entry["info"]["task"].get("actions", ())),
        outputs=tuple(entry["info"]["task"].get("outputs", ())),
        messages=tuple(entry["traj"]),
    )


def tool_names(trajectories: Sequence[Trajectory]) -> list[str]:
    """Every tool called in any of them: what was offered is not recorded, this much of it is known."""
    return sorted(
        {
            call["function"]["name"]
            for trajectory in trajectories
            for message in trajectory.messages
            for call in message.get("tool_calls") or ()
        }
    )


def to_cassette(trajectory: Trajectory, label: str, tools: Sequence[str]) -> Cassette:
    """The recording of one trajectory."""
    system = "".join(message["content"] for message in trajectory.messages if message["role"] == "system")
    return Cassette(
        scenario=trajectory.scenario,
        label=label,
        prompt=PROMPT,
        sample=trajectory.trial,
        source={"model": label, "tool": "tau-bench", "task_id": trajectory.task_id, "trial": trajectory.trial},
        system=system,
        tools=[{"server": "tau-bench", "name": name, "inputSchema": UNKNOWN_SCHEMA} for name in tools],
        steps=tuple(_steps(trajectory)),
        ending=({"outcome": LIMIT_ENDING, "limit": "turns"} if trajectory.cut_off else {"outcome": COMPLETED_ENDING}),
        verdicts={VERDICT: trajectory.reward},
    )


def _steps(trajectory: Trajectory) -> Iterator[Step]:
    for message in trajectory.messages:
        match message["role"]:
            case "user":
                yield {"user": message["content"]}
            case "assistant":
                yield {"model": {"parts": list(_parts(message))}}
            case "tool":
                yield {"calls": [{"call": 0, "server": "tau-bench", "result": message["content"]}]}
            case _:
                continue


def _parts(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if message.get("content"):
        yield {"text": message["content"]}
    for call in message.get("tool_calls") or ():
        function = call["function"]
        yield {"call": function["name"], "id": call["id"], "args": orjson.loads(function["arguments"])}


def same_conversation(trajectory: Trajectory, transcript: Sequence[dict[str, Any]]) -> bool:
    """Whether a transcript equals the published conversation, message for message.

    Arguments are compared as JSON; everything else to the letter, call ids included.
    """
    return [_comparable(message) for message in transcript] == [_published(message) for message in trajectory.messages]


def _comparable(message: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in message.items() if key in {"role", "content", "tool_call_id", "name"}}
    if calls := message.get("tool_calls"):
        plain["tool_calls"] = [(call["id"], call["name"], call["arguments"]) for call in calls]
    return plain


def _published(message: dict[str, Any]) -> dict[str, Any]:
    plain = {key: value for key, value in message.items() if key in {"role", "content", "tool_call_id", "name"}}
    if calls := message.get("tool_calls"):
        plain["tool_calls"] = [
            (call["id"], call["function"]["name"], orjson.loads(call["function"]["arguments"])) for call in calls
        ]
    return plain


def scenario_document(trajectory: Trajectory) -> dict[str, Any]:
    """The scenario file of a task: what its simulated customer wants, and how it is judged.

    A replay shows what was recorded, and has the published verdict as its check. Where tools are live the domain's own
    rule holds: users and reservations are as after the task's own actions, and every output it names was said.
    """
    checks: list[dict[str, Any]] = [
        {"recorded_verdict": VERDICT, "only": ["replay", "sandbox"]},
        {"name": "end_state", "end_state": {"reference": True}, "only": LIVE_MODES},
    ]
    if trajectory.outputs:
        said = {"contains": list(trajectory.outputs), "ignore_case": True, "plain_numbers": True}
        checks.append({"name": "outputs_said", "said": said, "only": LIVE_MODES})
    return {
        "description": trajectory.instruction,
        "turns": "recorded",
        "limits": {"model_turns": MODEL_TURNS},
        "checks": checks,
        "end_state": {
            "server": SERVER,
            "files": "*.json",
            "first": {"tool": "calculate", "arguments": {"expression": "1 + 1"}},
            "parts": ["db.users", "db.reservations"],
            "reference": [{"tool": name, "arguments": arguments} for name, arguments in trajectory.actions],
        },
        "tags": ["tau-bench"],
    }
