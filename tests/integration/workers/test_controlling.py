"""Pause, resume, retry and tune from the command line: a dry run changes nothing, the same again nothing more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.hosts import Site
from tests.integration.runs import execute

POLICIES = "@policy('m')\ndef m(turn):\n    log_call(turn)\n    return 'done'\n"


@pytest.fixture
def suite(site: Site) -> Path:
    return write_scripted_suite(site.folder, "few", site.policies(POLICIES), {f"one-{i}": {} for i in range(4)})


def everything(site: Site) -> list[Any]:
    """Every row that a command could change, with the transaction that wrote it last."""
    return [
        *site.rows("SELECT run_id, state, stop_reason, priority, max_tries, budget_usd, xid::text FROM runs"),
        *site.rows("SELECT key, state, outcome, priority, fence, xid::text FROM attempts ORDER BY key"),
    ]


def twice(site: Site, *command: str) -> tuple[int, int]:
    """Run a command dry, which must change nothing and tell what the real one does; then really, and once more.

    Gives what it did the first time and what it did again.
    """
    before = everything(site)
    dry = site.commands.json("passgrid", *command, "--dry-run")
    assert everything(site) == before
    done = site.commands.json("passgrid", *command)
    assert dry == done
    after = everything(site)
    again = site.commands.json("passgrid", *command)
    assert [row[:-1] for row in everything(site)] == [row[:-1] for row in after], "the same again changes nothing"
    return done["attempts"], again["attempts"]


def states(site: Site) -> list[tuple[str, int]]:
    return [tuple(row) for row in site.rows("SELECT state, count(*) FROM attempts GROUP BY 1 ORDER BY 1")]


def test_resuming_queues_what_was_held_or_cancelled_or_broken_and_no_verdict(site: Site, suite: Path) -> None:
    run = site.submit(suite, "scripted:m")
    kinds = ["passed", "failed", "infra_error", "cancelled"]
    end = (
        "UPDATE attempts SET state = 'done', outcome = :outcome WHERE key = (SELECT min(key) FROM attempts "
        "WHERE state = 'queued')"
    )
    for outcome in kinds:
        execute(site.engine, end, outcome=outcome)
    assert twice(site, "retry", run) == (1, 0)
    assert states(site) == [("done", 3), ("queued", 1)]
    assert twice(site, "pause", run) == (1, 0)
    assert twice(site, "resume", run) == (2, 0)
    kept = site.rows("SELECT outcome FROM attempts WHERE state = 'done' ORDER BY key")
    assert kept == [("passed",), ("failed",)]


def test_tuning_changes_what_still_waits(site: Site, suite: Path) -> None:
    run = site.submit(suite, "scripted:m")
    execute(site.engine, "UPDATE attempts SET state = 'done', outcome = 'passed' WHERE sample = 0 AND key = "
            "(SELECT min(key) FROM attempts)")  # fmt: skip
    assert twice(site, "tune", run, "--priority", "7", "--max-tries", "5", "--budget", "2.5") == (3, 3)
    assert site.rows("SELECT priority, max_tries, budget_usd FROM runs") == [(7, 5, 2.5)]
    assert site.rows("SELECT state, priority FROM attempts ORDER BY key") == [("done", 0), *[("queued", 7)] * 3]
    refused = site.commands.run("passgrid", "tune", run, "--max-tries", "0", "--budget", "-1")
    assert (refused.returncode, "--max-tries 0" in refused.stderr, "--budget -1" in refused.stderr) == (2, True, True)
    assert site.rows("SELECT priority, max_tries, budget_usd FROM runs") == [(7, 5, 2.5)]
