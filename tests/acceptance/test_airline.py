"""Two hundred published trajectories through the whole system: every figure of theirs comes out again."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import Installation, airline


@pytest.fixture(scope="module")
def finished(installation: Installation, airline_suite: Path) -> dict[str, Any]:
    """The run of line 2: submitted, waited for."""
    return installation.json(*airline(airline_suite, "--wait", "--label", "published"), timeout=300)


def test_the_published_figures_come_out_again(installation: Installation, finished: dict[str, Any]) -> None:
    assert (finished["wanted"], finished["valid"], finished["passed"]) == (200, 200, 84)
    document = installation.json("passgrid", "report", finished["run"])
    (arm,) = document["arms"]
    assert (arm["scenarios"], arm["wanted"], arm["valid"], arm["passed"], arm["coverage"]) == (50, 200, 200, 84, 1)
    assert arm["pass_hat"] == pytest.approx({"1": 0.42, "2": 0.273333, "3": 0.22, "4": 0.20}, abs=5e-7)
    assert arm["pass_at"] == pytest.approx({"1": 0.42, "2": 0.566667, "3": 0.66, "4": 0.72}, abs=5e-7)
    assert all(low <= arm["pass_at"][k] <= high for k, (low, high) in arm["pass_at_interval"].items())
    assert (arm["tool_calls"], arm["model_turns"]) == (1164, 2454)
    assert {name: count for name, count in arm["answers"].items() if count} == {"recorded": 1164}
    assert arm["outcomes"] == {"passed": 84, "failed": 111, "limit(turns)": 5}
    assert (arm["cost_usd"], arm["tokens"]) == (None, None)


def test_every_transcript_equals_its_trajectory(
    installation: Installation, finished: dict[str, Any], published_data: Path
) -> None:
    file = published_data / "tau-bench-airline-gpt-4o.json.gz"
    done = installation.run("passgrid", "import", "tau-bench", file, "--compare", finished["run"])
    assert (done.returncode, done.stdout.split()[0]) == (0, "200/200")


def test_more_samples_than_recordings_are_refused_naming_what_is_missing(
    installation: Installation, airline_suite: Path
) -> None:
    done = installation.run(*airline(airline_suite, k=5))
    assert done.returncode == 2
    assert "50 problems" in done.stderr
    assert (
        "airline/task-00, recorded:gpt-4o, prompt tau-bench-policy: 4 recordings, 5 wanted; missing: 4" in done.stderr
    )


def test_the_same_again_does_no_work_and_another_label_gives_the_same_digest(
    installation: Installation, airline_suite: Path, finished: dict[str, Any]
) -> None:
    again = installation.json(*airline(airline_suite, "--wait", "--label", "published"))
    assert again == {**finished, "new_attempts": 0}
    digests = {
        installation.json(*airline(airline_suite, "--wait", "--label", label), timeout=300)["digest"]
        for label in ("second", "third")
    }
    assert digests == {finished["digest"]}


def test_a_larger_k_extends_the_run(installation: Installation, airline_suite: Path) -> None:
    three = installation.json(*airline(airline_suite, "--wait", "--label", "extended", k=3), timeout=300)
    four = installation.json(*airline(airline_suite, "--wait", "--label", "extended"), timeout=300)
    assert (three["new_attempts"], four["new_attempts"]) == (150, 50)
    assert three["run"] == four["run"]
    assert four["wanted"] == 200


def test_two_submissions_at_once_are_one_run(installation: Installation, airline_suite: Path) -> None:
    both = [installation.start(*airline(airline_suite, "--label", "twice", "--json")) for _ in range(2)]
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert outputs[0].split('"run": ')[1][:34] == outputs[1].split('"run": ')[1][:34]
    assert sorted(int(output.split('"new_attempts": ')[1].split(",")[0]) for output in outputs) == [0, 200]
    assert installation.run("passgrid", "watch", "twice", timeout=300).returncode == 0


def replay_processes(installation: Installation) -> list[int]:
    """The forked replay workers of this installation."""
    status = installation.json("passgrid", "status")
    (host,) = [service["pid"] for service in status["services"] if service["name"] == "replay"]
    children = subprocess.run(["pgrep", "-P", str(host)], capture_output=True, text=True, check=False).stdout
    return [int(pid) for pid in children.split()]


def done_of(installation: Installation, label: str) -> int:
    runs = installation.json("passgrid", "status")["runs"]
    return next((run["done"] for run in runs if run["label"] == label), 200)


def wait_until_done(installation: Installation, label: str, at_least: int) -> None:
    deadline = time.monotonic() + 60
    while done_of(installation, label) < at_least:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_killed_workers_and_an_emptied_broker_lose_nothing(
    installation: Installation, airline_suite: Path, finished: dict[str, Any]
) -> None:
    import redis

    installation.json(*airline(airline_suite, "--label", "hurt"))
    for part in (20, 80):
        wait_until_done(installation, "hurt", part)
        os.kill(replay_processes(installation)[0], signal.SIGKILL)
    broker = installation.json("passgrid", "status")["broker"]
    client: Any = redis.Redis(unix_socket_path=broker.split("://")[1].split("?")[0])
    client.flushall()
    summary = installation.json("passgrid", "watch", "hurt", timeout=300)
    assert (summary["valid"], summary["passed"]) == (200, 84)
    assert summary["digest"] == finished["digest"], "a second try gives the same attempt"
    attempts = tries_of(installation, "hurt")
    reasons = [reason for tries in attempts for reason in tries]
    assert reasons.count("finished") == 200
    assert reasons.count("worker_lost") >= 1
    assert all(tries[-1] == "finished" for tries in attempts)


def tries_of(installation: Installation, label: str) -> list[list[str]]:
    """How each execution of each attempt ended."""
    import duckdb

    file = installation.json("passgrid", "export")["file"]
    with duckdb.connect(file, read_only=True) as analysis:
        found = analysis.execute(
            "SELECT list(tries.reason ORDER BY fence) FROM tries "
            "JOIN attempts USING (attempt_key) JOIN runs USING (run_id) WHERE label = ? GROUP BY attempt_key",
            [label],
        ).fetchall()
    return [row[0] for row in found]


def test_one_process_and_two_give_the_same_digest(
    airline_suite: Path, finished: dict[str, Any], tmp_path: Path
) -> None:
    alone = Installation(tmp_path / "home", {"PASSGRID_REPLAY_PROCESSES": "1"})
    done = alone.json(*airline(airline_suite, "--wait"), timeout=300)
    alone.run("passgrid", "down")
    assert done["digest"] == finished["digest"]
