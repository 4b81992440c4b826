"""Agents that are programs, from `submit-matrix` to the report: replayed, faked, recorded, as arms side by side."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.commands import Installation

LIBRARY = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the suite of agents, with its recordings."""
    root = tmp_path_factory.mktemp("library")
    shutil.copytree(LIBRARY / "prompts", root / "prompts")
    return Path(shutil.copytree(LIBRARY / "agents", root / "agents"))


@pytest.fixture(scope="module")
def typescript(suite: Path) -> str:
    """The name of the agent in TypeScript, built."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    folder = suite / "typescript"
    for command in (["npm", "ci", "--silent", "--no-fund", "--no-audit"], ["npm", "run", "--silent", "build"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return "typescript"


def arms(installation: Installation, run: str) -> dict[str, Any]:
    """Those of a run by agent."""
    return {arm["agent"]: arm for arm in installation.json("passgrid", "report", run)["arms"]}


def submitted(installation: Installation, suite: Path, *options: str) -> str:
    done = installation.json("submit-matrix", "--suite", suite, "--wait", *options)
    assert done["state"] == "done"
    return done["run"]


def test_a_shell_script_and_the_built_in_agent_are_two_arms_of_a_replay(
    installation: Installation, suite: Path
) -> None:
    agents = ("--agent", "built-in", "--agent", "shell")
    run = submitted(installation, suite, "--model", "recorded:scripted-clerk", "-k", "4", *agents)
    found = arms(installation, run)
    assert {name: (arm["passed"], arm["valid"]) for name, arm in found.items()} == {
        "built-in": (8, 8),
        "shell": (8, 8),
    }
    assert (found["built-in"]["tool_calls"], found["shell"]["tool_calls"]) == (12, 12)
    assert (found["built-in"]["model_turns"], found["shell"]["model_turns"]) == (20, 0)
    assert found["shell"]["answers"]["recorded"] == 12


def test_an_agent_in_typescript_is_replayed_and_faked(installation: Installation, suite: Path, typescript: str) -> None:
    replayed = submitted(
        installation, suite, "--model", "recorded:scripted-clerk", "-k", "4", "--agent", typescript, "--label", "ts"
    )
    faked = submitted(
        installation, suite, "--model", "scripted:clerk", "--mode", "sandbox", "-k", "4", "--agent", typescript
    )
    for run in (replayed, faked):
        arm = arms(installation, run)[typescript]
        assert (arm["passed"], arm["valid"], arm["model_turns"], arm["tool_calls"]) == (8, 8, 20, 12)
        assert arm["answers"]["recorded"] == 12


def test_agents_in_any_language_meet_the_same_fakes(installation: Installation, suite: Path, typescript: str) -> None:
    tools = [
        {"name": "count", "calls": [{"args": {"article": "M8 nut"}, "result": "40"}]},
        {
            "name": "order",
            "calls": [{"args": {"article": "M8 nut", "pieces": 60}, "result": {"ordered": 60, "there": 100}}],
        },
    ]
    document = {
        "task": "Order so many M8 nuts that there are 100.",
        "mcpServers": {"shelf": {"faked": True}},
        "fakes": [{"mcpFakes": {"scope": {"context": "faked"}, "undeclaredTools": "deny", "tools": tools}}],
    }
    (suite / "faked.yaml").write_text(yaml.safe_dump(document))
    agents = ("--agent", "built-in", "--agent", "shell", "--agent", typescript)
    options = ("--model", "scripted:clerk", "--mode", "sandbox", "-k", "4", "--scenario", "faked", *agents)
    found = arms(installation, submitted(installation, suite, *options))
    (suite / "faked.yaml").unlink()
    assert {name: (arm["passed"], arm["answers"]["faked"]) for name, arm in found.items()} == {
        "built-in": (4, 8),
        "shell": (4, 8),
        typescript: (4, 8),
    }


def write_agent(suite: Path, name: str, script: str) -> None:
    """One more agent of a suite: a shell script."""
    document = yaml.safe_load((suite / "suite.yaml").read_text())
    document["agents"][name] = {"command": "sh", "args": ["-c", script]}
    (suite / "suite.yaml").write_text(yaml.safe_dump(document))


def test_what_an_agent_records_it_replays(installation: Installation, suite: Path) -> None:
    recorded = ("--model", "scripted:clerk", "--mode", "live", "--record", "--agent", "shell")
    submitted(installation, suite, *recorded)
    run = submitted(installation, suite, "--model", "recorded:scripted-clerk-shell", "--agent", "shell")
    assert arms(installation, run)["shell"]["passed"] == 2


def test_a_replayed_agent_finds_neither_network_nor_sockets_of_ours(installation: Installation, suite: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        places = [f"http://127.0.0.1:{listener.getsockname()[1]}", "http://1.1.1.1"]
        reached = "; ".join(f"curl -s --max-time 3 {place} >/dev/null && echo reached {place}" for place in places)
        write_agent(suite, "curious", f"ls -A '{installation.home}'; {reached}; echo 420")
        options = ("--scenario", "look-up", "--agent", "curious")
        run = submitted(installation, suite, "--model", "recorded:scripted-clerk", *options)
    out = suite.parent / "out"
    assert installation.run("passgrid", "export", "--format", "jsonl", "--out", out, run).returncode == 0
    (line,) = (out / "transcripts.jsonl").read_text().splitlines()
    assert json.loads(json.loads(line)["messages"])[-1] == {"role": "assistant", "content": "420"}


def test_a_failing_agent_fails_and_a_missing_program_is_no_result(installation: Installation, suite: Path) -> None:
    write_agent(suite, "failing", "echo 'lost the thread' >&2; exit 4")
    run = submitted(installation, suite, "--model", "recorded:scripted-clerk", "--agent", "failing")
    (reason,) = arms(installation, run)["failing"]["reasons"]
    assert (reason["reason"], reason["count"]) == ("agent exited with 4: lost the thread", 2)


def test_unknown_agents_and_files_that_are_not_there_are_told_at_once(installation: Installation, suite: Path) -> None:
    document = yaml.safe_load((suite / "suite.yaml").read_text())
    document["agents"]["unbuilt"] = {"command": "node", "args": ["${suite}/no/agent.mjs"]}
    (suite / "suite.yaml").write_text(yaml.safe_dump(document))
    done = installation.run(
        "submit-matrix",
        "--suite",
        suite,
        "--model",
        "recorded:scripted-clerk",
        "--agent",
        "nobody",
        "--agent",
        "unbuilt",
    )
    assert done.returncode == 2
    assert "--agent nobody: suite agents has no such agent" in done.stderr
    assert "the suite has no no/agent.mjs" in done.stderr
