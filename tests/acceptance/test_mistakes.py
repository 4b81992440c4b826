"""Mistakes: one clear message, the right exit code, and nothing written."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.acceptance.commands import Installation
from tests.unit.passgrid.suites import write_suite

REPLAY = ("submit-matrix", "--model", "recorded:gpt", "--suite")


@pytest.fixture(scope="module", autouse=True)
def nothing_is_written(installation: Installation) -> Iterator[None]:
    """Whatever is refused here leaves no run behind; those of the last tests of this file are known by their label."""
    before = installation.json("passgrid", "status")["runs"]
    yield
    after = installation.json("passgrid", "status")["runs"]
    assert [run for run in after if run["label"] != "detached"] == before


def refused(installation: Installation, *command: str | Path, code: int = 2) -> str:
    """Run a command that must fail, and return its message."""
    done = installation.run(*command)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "recorded:nobody"), "unknown in suite shop; there are: recorded:gpt"),
        (("--model", "recorded:gpt", "--prompt", "nothing"), "no such prompt; there are: plain"),
        (("--model", "recorded:gpt", "--scenario", "nothing"), "no such scenario"),
        (("--model", "recorded:gpt", "-k", "0"), "the number of samples must be at least 1"),
        (("--model", "recorded:gpt", "-k", "-1"), "the number of samples must be at least 1"),
        (("--model", "recorded:gpt", "-k", "x"), "Invalid value for '-k'"),
        (("--model", "recorded:gpt", "-k", "3"), "2 recordings, 3 wanted; missing: 2"),
        (("--model", "recorded:gpt", "--mode", "live"), "a recorded model has no live turns to give"),
        (("--model", "openai:gpt-5", "--mode", "replay"), "only recorded models can be replayed"),
        (("--model", "recorded:gpt", "--budget", "0"), "must be more than 0 US dollars"),
        (("--model", "recorded:gpt", "--max-tries", "-1"), "must not be negative"),
        (("--model", "openai:gpt-4o", "--mode", "live", "--budget", "1"), "no bound, so neither has its cost"),
        (
            ("--model", "openai:no-such?max_tokens=9", "--mode", "live", "--budget", "1"),
            "no price is known for it (let it run with --allow-unpriced)",
        ),
        (("--model", "recorded:gpt", "--fault", "A1", "--mitigation", "x"), "2 problems"),
        (("--model", "recorded:gpt", "--mode", "drift", "--target", "x"), "suite shop has no such target"),
    ],
)
def test_a_wrong_request(installation: Installation, tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    suite = write_suite(tmp_path)
    assert message in refused(installation, "submit-matrix", "--suite", suite, *arguments)


def test_an_unknown_suite(installation: Installation) -> None:
    assert "no such suite" in refused(installation, *REPLAY, "nowhere")


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _newer(path: Path) -> None:
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))


def _changed(path: Path) -> None:
    path.write_text(path.read_text().replace("there are 5", "there are 6"))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [(_half, "not a whole JSON document"), (_newer, "version 2 of the format"), (_changed, "its hash does not hold")],
)
def test_a_spoilt_cassette(
    installation: Installation, tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    suite = write_suite(tmp_path)
    path = suite / "cassettes/gpt/plain/count/0.json"
    spoil(path)
    found = refused(installation, *REPLAY, suite)
    assert message in found
    assert str(path) in found


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("task: [\n", ["bad.yaml:2:1", "YAML does not parse"]),
        ("limits: {model_turns: 0}\ntags: ['a b']\nwrong: 1\ntask: x\n", ["3 problems", "bad.yaml:1", "bad.yaml:3"]),
        ("name: count\ntask: x\n", ["the scenario count is also in"]),
        ("task: x\nworkspace: {template: ../../etc}\n", ["leads outside"]),
    ],
)
def test_a_wrong_scenario(installation: Installation, tmp_path: Path, text: str, messages: list[str]) -> None:
    suite = write_suite(tmp_path)
    (suite / "bad.yaml").write_text(text)
    found = refused(installation, *REPLAY, suite)
    assert all(message in found for message in messages), found


def test_an_unknown_run(installation: Installation) -> None:
    assert "no run starts with nosuchrun" in refused(installation, "passgrid", "report", "nosuchrun")


@pytest.mark.parametrize(
    ("database", "broker", "named"),
    [
        ("postgresql+psycopg://me:secret@127.0.0.1:9/x", "redis://127.0.0.1:9/0", "127.0.0.1:9"),
        (None, "redis://:secret@127.0.0.1:9/0", "127.0.0.1:9"),
    ],
)
def test_an_unreachable_service_is_named_without_its_password(
    installation: Installation, tmp_path: Path, database: str | None, broker: str, named: str
) -> None:
    suite = write_suite(tmp_path)
    reachable: str = installation.json("passgrid", "status")["database"]
    started = time.monotonic()
    done = installation.run(*REPLAY, suite, PASSGRID_DATABASE_URL=database or reachable, PASSGRID_BROKER_URL=broker)
    assert time.monotonic() - started < 10 + 5, "ten seconds, and the start of Python on a busy machine"
    assert done.returncode == 1
    assert named in done.stderr
    assert "secret" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_without_the_schema_says_how_to_get_it(installation: Installation, tmp_path: Path) -> None:
    status = installation.json("passgrid", "status")
    empty = status["database"].replace("/passgrid?", "/postgres?")
    suite = write_suite(tmp_path)
    done = installation.run(*REPLAY, suite, PASSGRID_DATABASE_URL=empty, PASSGRID_BROKER_URL=status["broker"])
    assert done.returncode == 1
    assert "alembic upgrade head" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_home_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = Installation(tmp_path / "file" / "home").run(*REPLAY, write_suite(tmp_path))
    assert done.returncode == 1
    assert str(tmp_path / "file") in done.stderr
    assert "Traceback" not in done.stderr


def test_a_dry_run_writes_nothing(installation: Installation, tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    told = installation.json(*REPLAY, suite, "-k", "2", "--dry-run", "--label", "dry")
    assert told == {
        "run": told["run"], "wanted": 2, "reused": 0, "new_attempts": 2, "cost_usd": 0, "seconds": None
    }  # fmt: skip
    assert "no run starts with dry" in refused(installation, "passgrid", "report", "dry")


def test_ctrl_c_detaches_and_the_run_goes_on(installation: Installation, tmp_path: Path) -> None:
    suite = write_suite(tmp_path)
    process = installation.start(*REPLAY, suite, "-k", "2", "--label", "detached", "--wait")
    time.sleep(0.2)
    process.send_signal(2)
    _, told = process.communicate(timeout=60)
    if process.returncode == 0 and "detached" in told:
        assert "passgrid watch" in told
    assert installation.run("passgrid", "watch", "detached").returncode in {0, 2}


def test_replay_needs_no_network(tmp_path: Path) -> None:
    """The whole of it inside a network namespace that has only loopback."""
    from tests.conftest import skip_or_fail

    if os.geteuid() != 0:
        skip_or_fail("only root can make a network namespace: run the tests as root")
    suite = write_suite(tmp_path)
    inside = Installation(tmp_path / "home")
    command = ["unshare", "--net", "--", "sh", "-c", 'ip link set lo up 2>/dev/null; exec "$@"', "sh"]
    from tests.acceptance.commands import BIN

    done = subprocess.run(
        [*command, str(BIN / "submit-matrix"), *REPLAY[1:], str(suite), "-k", "2", "--wait", "--json"],
        capture_output=True, text=True, timeout=120, check=False, env=inside.variables(),
    )  # fmt: skip
    inside.run("passgrid", "down")
    assert done.returncode == 0, done.stderr
    assert '"passed": 2' in done.stdout
