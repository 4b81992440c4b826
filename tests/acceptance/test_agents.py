"""Agents that are programs, from `submit-matrix` to report and dashboard: replayed, faked, recorded, side by side."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Locator, Page, expect

from tests.acceptance.browsing import Opener, Picture, fits
from tests.acceptance.commands import Installation
from tests.conftest import skip_or_fail

LIBRARY = Path(__file__).parents[2] / "scenarios"


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the suite of agents, with its recordings."""
    root = tmp_path_factory.mktemp("library")
    shutil.copytree(LIBRARY / "prompts", root / "prompts")
    return Path(shutil.copytree(LIBRARY / "agents", root / "agents"))


@pytest.fixture(scope="module")
def agents(suite: Path) -> tuple[str, ...]:
    """Names of the built-in agent, the shell script, and the one in TypeScript, which is built."""
    if shutil.which("npm") is None:
        skip_or_fail("there is no npm")
    folder = suite / "typescript"
    for command in (["npm", "ci", "--silent", "--no-fund", "--no-audit"], ["npm", "run", "--silent", "build"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return ("built-in", "shell", "typescript")


@pytest.fixture(scope="module")
def replayed(installation: Installation, suite: Path, agents: tuple[str, ...]) -> str:
    """A run of all of them in replay."""
    options = ("--model", "recorded:scripted-clerk", "-k", "4", "--label", "replayed")
    return submitted(installation, suite, *options, *options_of(agents))


@pytest.fixture(scope="module")
def faked(installation: Installation, suite: Path, agents: tuple[str, ...]) -> str:
    """A run of all of them against declared fakes."""
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
    options = ("--model", "scripted:clerk", "--mode", "sandbox", "-k", "4", "--scenario", "faked", "--label", "faked")
    run = submitted(installation, suite, *options, *options_of(agents))
    (suite / "faked.yaml").unlink()
    return run


def options_of(agents: tuple[str, ...]) -> list[str]:
    return [word for agent in agents for word in ("--agent", agent)]


def arms(installation: Installation, run: str) -> dict[str, Any]:
    """Those of a run by agent."""
    return {arm["agent"]: arm for arm in installation.json("passgrid", "report", run)["arms"]}


def submitted(installation: Installation, suite: Path, *options: str) -> str:
    done = installation.json("submit-matrix", "--suite", suite, "--wait", *options)
    assert done["state"] == "done"
    return done["run"]


def test_agents_in_any_language_are_arms_of_a_replay(
    installation: Installation, replayed: str, agents: tuple[str, ...]
) -> None:
    found = arms(installation, replayed)
    assert {name: (arm["passed"], arm["valid"], arm["tool_calls"]) for name, arm in found.items()} == dict.fromkeys(
        agents, (8, 8, 12)
    )
    assert {name: arm["model_turns"] for name, arm in found.items()} == {"built-in": 20, "shell": 0, "typescript": 20}
    assert [found[name]["answers"]["recorded"] for name in agents] == [12, 12, 12]


def test_agents_in_any_language_meet_the_same_fakes(
    installation: Installation, faked: str, agents: tuple[str, ...]
) -> None:
    found = arms(installation, faked)
    assert {name: (arm["passed"], arm["answers"]["faked"]) for name, arm in found.items()} == dict.fromkeys(
        agents, (4, 8)
    )


@pytest.fixture(scope="module")
def exported(installation: Installation, replayed: str, faked: str) -> dict[str, str]:
    """Both runs, by label, when the dashboard can show them."""
    assert installation.run("passgrid", "export").returncode == 0
    return {"replayed": replayed, "faked": faked}


def card(page: Page, name: str) -> Locator:
    """The innermost block that holds an arm's name and its figures."""
    named = page.get_by_test_id("stVerticalBlock").filter(has=page.get_by_text(name, exact=True))
    return named.filter(has=page.get_by_test_id("stMetric")).last


@pytest.mark.parametrize(
    ("label", "model", "attempts", "calls", "answered"),
    [("replayed", "recorded:scripted-clerk", 8, 12, "recorded"), ("faked", "scripted:clerk", 4, 8, "faked")],
)
def test_every_agent_stands_in_the_comparison_by_name_with_its_figures(
    open_page: Opener,
    exported: dict[str, str],
    agents: tuple[str, ...],
    picture: Picture,
    label: str,
    model: str,
    attempts: int,
    calls: int,
    answered: str,
) -> None:
    page = open_page(f"compare?run={exported[label]}")
    curve = page.get_by_test_id("stVegaLiteChart").first
    for letter, agent in zip("ABC", agents, strict=True):
        name = f"{model} · agent {agent}"
        figures = card(page, name)
        for expected in ("pass@1 = 1.000", "pass@4 = 1.000", "pass^4 = 1.000", f"n = {attempts} of {attempts}"):
            expect(figures).to_contain_text(expected)
        expect(figures).to_contain_text(f"Tool calls{calls}all {answered}")
        point = f"compared arm: {letter}  {name}; point: pass@4 = 1.000"
        expect(curve.locator(f"path[aria-label*='{point}']").first).to_be_visible()
        row = page.get_by_test_id("stDataFrame").locator("tr").filter(has_text=f"{letter}  {name}")
        expect(row.filter(has_text="100 %")).to_contain_text("1.000")
    fits(page)
    if label == "replayed":
        picture(page, "agents", most=2185)


def shows_calls(page: Page, agent: str, turns: int) -> None:
    """The attempt on the screen is one of this agent, and its timeline has every call."""
    expect(page.get_by_text(re.compile(f"^recorded:scripted-clerk · agent {agent} · plain · replayed"))).to_be_visible()
    marks = page.get_by_test_id("stVegaLiteChart").locator("path[aria-roledescription=tick]")
    expect(marks).to_have_count(2 + turns)
    for call in ("#1 count", "#2 order"):
        expect(page.locator(f"path[aria-roledescription=tick][aria-label*='{call}']")).to_be_visible()
    expect(page.get_by_text("I ordered 60, so there are 100 M8 nuts now.")).to_be_visible()


def test_the_timelines_of_agents_show_their_calls(
    open_page: Opener, exported: dict[str, str], agents: tuple[str, ...]
) -> None:
    page = open_page(f"compare?run={exported['replayed']}&scenario=agents/restock")
    page.get_by_test_id("stPageLink").get_by_text("sample 0 passed").nth(agents.index("shell")).click()
    shows_calls(page, "shell", 0)
    page.get_by_role("combobox", name="Arm").click()
    page.get_by_role("option", name="recorded:scripted-clerk · agent typescript").click()
    shows_calls(page, "typescript", 3)


def test_an_agent_in_typescript_is_answered_from_recordings_in_a_sandbox(
    installation: Installation, suite: Path, agents: tuple[str, ...]
) -> None:
    options = ("--model", "scripted:clerk", "--mode", "sandbox", "-k", "4", "--agent", agents[-1])
    arm = arms(installation, submitted(installation, suite, *options))[agents[-1]]
    assert (arm["passed"], arm["valid"], arm["model_turns"], arm["tool_calls"]) == (8, 8, 20, 12)
    assert arm["answers"]["recorded"] == 12


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
