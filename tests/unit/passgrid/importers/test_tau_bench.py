"""Trajectories as tau-bench publishes them, traps included."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from passgrid.attempt import run
from passgrid.importers.tau_bench import read_trajectories, same_conversation, to_cassette, tool_names
from passgrid.importers.tau_bench_suite import import_suite
from passgrid.library import load_prompt, load_suite
from passgrid.matrix import Prompt
from passgrid.model_reference import parse_model_reference
from passgrid.problems import InvalidInput
from tests.unit.passgrid.suites import replay_order, scenario


def call(name: str, call_id: str, content: str | None = None, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "content": content, "tool_calls": [{"id": call_id, "function": function}]}


def result(name: str, call_id: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


SYSTEM = {"role": "system", "content": "Policy."}
STOPPED = [
    SYSTEM,
    user("Hi"),
    {"role": "assistant", "content": "Hello"},
    user("Book"),
    call("find", "same", "Let me look.", to="DEN"),
    result("find", "same", "one"),
    call("find", "same", to="DEN"),
    result("find", "same", "two"),
    {"role": "assistant", "content": "Done"},
    user("###STOP###"),
]
TRANSFERRED = [SYSTEM, user("Hi"), call("transfer", "t"), result("transfer", "t", "ok")]
CUT_OFF = [SYSTEM, user("Hi"), *[m for i in range(30) for m in (call("find", f"c{i}"), result("find", f"c{i}", "x"))]]


def entry(task: int, trial: int, messages: list[Any], reward: float = 1.0, cut_off: bool = False) -> dict[str, Any]:
    info: dict[str, Any] = {"task": {"instruction": "You want a seat.\n"}, "reward_info": None if cut_off else {}}
    return {"task_id": task, "trial": trial, "reward": reward, "info": info, "traj": messages}


def write(path: Path, entries: Any) -> Path:
    path.write_bytes(gzip.compress(json.dumps(entries).encode()))
    return path


@pytest.mark.parametrize(
    ("messages", "cut_off", "outcome"),
    [(STOPPED, False, "passed"), (TRANSFERRED, False, "passed"), (CUT_OFF, True, "limit(turns)")],
)
async def test_a_trajectory_replays_message_for_message(
    tmp_path: Path, messages: list[Any], cut_off: bool, outcome: str
) -> None:
    (trajectory,) = read_trajectories(write(tmp_path / "t.json.gz", [entry(0, 0, messages, cut_off=cut_off)]))
    recorded = to_cassette(trajectory, "gpt", tool_names([trajectory]))
    of = scenario(
        task=None, turns="recorded", limits={"model_turns": 30}, checks=[{"recorded_verdict": "recorded_reward"}]
    )
    found = await run(
        replay_order(recorded, of, prompt=Prompt("p", "Policy."), model=parse_model_reference("recorded:gpt"))
    )
    assert found.outcome.name == outcome
    assert same_conversation(trajectory, found.messages)
    assert not same_conversation(trajectory, found.messages[:-1])


def test_an_import_is_a_suite_with_its_default_prompt(tmp_path: Path) -> None:
    file = write(tmp_path / "t.json.gz", [entry(t, i, STOPPED, reward=float(t)) for t in range(2) for i in range(3)])
    imported = import_suite(file, tmp_path / "out", "airline", "gpt-4o")
    assert (imported.scenarios, imported.cassettes, imported.k) == (2, 6, 3)
    suite = load_suite(imported.folder)
    assert load_prompt(suite, None).text == "Policy."
    assert suite.scenarios[0].limits.model_turns == 30
    assert suite.cassettes.recordings("gpt-4o", "tau-bench-policy", "task-01") == 3


def test_an_import_never_overwrites_and_leaves_nothing_behind(tmp_path: Path) -> None:
    file = write(tmp_path / "t.json.gz", [entry(0, 0, STOPPED)])
    import_suite(file, tmp_path / "out", "airline", "gpt")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput, match="exists already"):
        import_suite(file, tmp_path / "out", "airline", "gpt")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not a JSON file"),
        (b"\x1f\x8bxx", "not a JSON file"),
        (b"{}", "not a list of trajectories"),
        (b'[{"task_id": 1}, {"trial": 2}]', r"\[1\]: not a tau-bench trajectory"),
    ],
)
def test_what_is_no_trajectory_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "t.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        read_trajectories(path)


def test_one_trial_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="task 3, trial 1 is there twice"):
        read_trajectories(write(tmp_path / "t.json.gz", [entry(3, 1, STOPPED)] * 2))


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden"])
def test_a_suite_name_is_the_name_of_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a folder"):
        import_suite(write(tmp_path / "t.json.gz", [entry(0, 0, STOPPED)]), tmp_path / "out", name, "gpt")
    assert not (tmp_path / "out").exists()
