"""Cancelling and pausing from the command line: what waits is not begun, what runs ends before its next call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import zstandard

from passgrid.warehouse.control import cancel
from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.hosts import Site, add_server, runs, server_of, server_pids

AT_ONCE = "@policy('m')\ndef m(turn):\n    log_call(turn)\n    return 'done'\n"


def test_what_was_cancelled_or_paused_while_no_worker_was_up_is_not_begun(site: Site) -> None:
    many = [f"never-{i:02d}" for i in range(50)]
    others: dict[str, Mapping[str, Any]] = {"held-1": {}, "held-2": {}, "witness": {}}
    suite = write_scripted_suite(site.folder, "many", site.policies(AT_ONCE), {**{name: {} for name in many}, **others})
    site.scheduler()
    run = site.submit(suite, "scripted:m", "-k", "10", *(part for name in many for part in ("--scenario", name)))
    held = site.submit(suite, "scripted:m", "--scenario", "held-1", "--scenario", "held-2")
    assert site.unfinished() == 502
    assert site.commands.json("passgrid", "cancel", run)["attempts"] == 500
    assert site.commands.json("passgrid", "pause", held)["attempts"] == 2
    site.live()
    site.submit(suite, "scripted:m", "--scenario", "witness")
    site.wait_for("workers work", lambda: site.unfinished() == 2)
    assert site.calls() == ["witness "]
    assert site.value("SELECT count(*) FROM tries") == 1
    cancelled = "SELECT count(*) FROM attempts WHERE outcome = 'cancelled' AND NOT valid AND run_id = :run"
    assert site.value(cancelled, run=run) == 500
    assert site.commands.json("passgrid", "cancel", run)["attempts"] == 0
    assert site.value("SELECT state FROM runs WHERE run_id = :run", run=run) == "cancelled"

    assert site.commands.json("passgrid", "resume", held)["attempts"] == 2
    site.wait_until_done()
    assert sorted(site.calls()) == ["held-1 ", "held-2 ", "witness "]
    assert site.value(cancelled, run=run) == 500
    assert site.commands.json("passgrid", "resume", held)["attempts"] == 0, "verdicts stay"


AGAIN_AND_AGAIN = """
@policy("m")
def m(turn):
    log_call(turn)
    return Call("work", {"seconds": 10})
"""


def test_a_run_cancelled_during_a_tool_call_makes_no_call_after_it(site: Site) -> None:
    suite = write_scripted_suite(
        site.folder, "tools", site.policies(AGAIN_AND_AGAIN), {f"work-{i}": {} for i in range(3)},
        mcpServers=server_of(site),
    )  # fmt: skip
    add_server(suite)
    site.scheduler()
    site.live()
    run = site.submit(suite, "scripted:m")
    site.wait_for("all three tools are at work", lambda: len(server_pids(site)) == 3)
    servers = server_pids(site)
    assert all(runs(pid) for pid in servers)
    cancelled = cancel(site.engine, run)  # not the command: on a busy machine a tool would be done before it starts
    assert (cancelled.attempts, cancelled.running) == (0, 3)
    site.wait_until_done()
    assert len(site.calls()) == 3
    assert site.value("SELECT count(*) FROM intents WHERE kind = 'tool'") == 3
    assert site.rows("SELECT DISTINCT outcome, reason, tool_calls FROM attempts") == [
        ("cancelled", "the run was cancelled", 1)
    ]
    for row in site.rows("SELECT body FROM transcripts"):
        messages: list[dict[str, Any]] = json.loads(zstandard.decompress(row.body))
        assert [message["role"] for message in messages][-2:] == ["assistant", "tool"], "what happened is kept"
        assert messages[-1]["content"] == "worked"
    assert site.value("SELECT count(*) FROM transcripts") == 3
    site.wait_for("the servers are gone", lambda: not any(runs(pid) for pid in servers))


def test_a_cancelled_run_ends_a_program_that_makes_no_call(site: Site) -> None:
    suite = write_scripted_suite(
        site.folder, "programs", site.policies(AT_ONCE), {"sleeps": {}},
        agent={"command": "sh", "args": ["-c", "sleep 300"]},
    )  # fmt: skip
    site.scheduler()
    site.live()
    run = site.submit(suite, "scripted:m")
    site.wait_for("it runs", lambda: site.value("SELECT count(*) FROM attempts WHERE state = 'running'") == 1)
    cancel(site.engine, run)
    site.wait_until_done()
    assert site.rows("SELECT outcome, reason, valid FROM attempts") == [("cancelled", "the run was cancelled", False)]
