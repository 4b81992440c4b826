"""Attempts that do their worst to the process they share with others: each ends in its class, the others pass."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.acceptance.commands import Installation
from tests.acceptance.scripted_suites import write_scripted_suite

POLICIES = """
import asyncio, os
from passgrid import policy

async def swallow():
    while True:
        try:
            await asyncio.sleep(0.1)
        except BaseException:
            continue

@policy("worst")
async def worst(turn):
    if turn.scenario == "abort":
        os.abort()
    if turn.scenario == "hog":
        hoard = []
        while True:
            hoard.append(b"x" * 50_000_000)  # written to: untouched memory is none
    if turn.scenario == "spin":
        while True:
            pass
    if turn.scenario == "swallow":
        await swallow()
    await asyncio.sleep(turn.rng.uniform(0.05, 0.5))
    return "done"
"""

HEALTHY = 96
SETTINGS = {"PASSGRID_LEASE_SECONDS": "6", "PASSGRID_BLOCKED_SECONDS": "2", "PASSGRID_MEMORY_MB": "1500"}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Every attempt of such a run, by scenario."""
    folder = tmp_path_factory.mktemp("hostile")
    limits = {"limits": {"seconds": 4}}
    scenarios: dict[str, Any] = dict.fromkeys(("abort", "spin", "swallow"), limits)
    scenarios["hog"] = {"limits": {"seconds": 30}}
    suite = write_scripted_suite(
        folder, "hostile", POLICIES, {**{f"healthy-{i:02d}": {} for i in range(HEALTHY)}, **scenarios}
    )
    installation = Installation(folder / "home", SETTINGS)
    try:
        submission = ("submit-matrix", "--suite", suite, "--model", "scripted:worst", "--mode", "live", "--wait")
        done = installation.run(*submission, "--json", timeout=300)
        assert done.returncode in {0, 4}, done.stderr
        report = installation.json("passgrid", "export")
        found = read(report["file"])
    finally:
        installation.run("passgrid", "down")
    return found


def read(file: str) -> dict[str, dict[str, Any]]:
    import duckdb

    with duckdb.connect(file, read_only=True) as analysis:
        rows = analysis.execute("SELECT scenario, outcome, outcome_detail, reason FROM attempts").fetchall()
    return {row[0]: {"outcome": row[1], "detail": row[2], "reason": row[3]} for row in rows}


def test_the_healthy_attempts_beside_them_all_pass(ended: dict[str, dict[str, Any]]) -> None:
    healthy = {name: end for name, end in ended.items() if name.startswith("healthy")}
    assert len(healthy) == HEALTHY
    assert {name: end for name, end in healthy.items() if end["outcome"] != "passed"} == {}


@pytest.mark.parametrize(
    ("scenario", "outcome", "detail"),
    [
        ("abort", "infra_error", "worker_lost"),
        ("hog", "infra_error", "memory"),
        ("spin", "limit", "time"),
        ("swallow", "limit", "time"),
    ],
)
def test_each_ends_in_its_class(ended: dict[str, dict[str, Any]], scenario: str, outcome: str, detail: str) -> None:
    assert (ended[scenario]["outcome"], ended[scenario]["detail"]) == (outcome, detail), ended[scenario]


def test_nothing_is_left_behind(ended: dict[str, dict[str, Any]]) -> None:
    assert len(ended) == HEALTHY + 4
    left = subprocess.run(["pgrep", "-af", "workers.host"], capture_output=True, text=True, check=False).stdout
    assert "hostile" not in left
