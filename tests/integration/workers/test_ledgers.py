"""Many attempts on one account: each takes away what it made, and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.boards import LEDGER, Boards, boards_server
from tests.integration.hosts import Site

POLICIES = """
import asyncio, os
from passgrid import Call, policy

@policy("plans")
async def plans(turn):
    called = [message for message in turn.messages if message["role"] == "tool"]
    namespace = turn.messages[1]["content"].split()[-1]
    if not called:
        return Call("create_board", {{"name": namespace + " board"}})
    if len(called) == 1:
        return Call("create_card", {{"board": called[0]["content"]["id"], "title": "a card"}})
    while not os.path.exists({go!r}):
        await asyncio.sleep(0.1)
    return "done"
"""


@pytest.fixture
def boards(tmp_path: Path) -> Iterator[Boards]:
    with boards_server(tmp_path) as server:
        yield server


def test_eight_at_once_clean_up_and_what_two_killed_ones_made_is_taken_away(site: Site, boards: Boards) -> None:
    suite = write_scripted_suite(
        site.folder,
        "boards",
        POLICIES.format(go=str(site.folder / "go")),
        {"plan": {"task": "Make a board called ${namespace}"}},
        mcpServers={"boards": {"url": boards.url}},
        ledger=LEDGER,
        stages={"board": {"artifact": {"kind": "board", "at_most": 1}}, "card": {"artifact": {"kind": "card"}}},
    )
    site.scheduler()
    doomed = site.live(PASSGRID_LIVE_SLOTS="2", PASSGRID_LEASE_SECONDS="3")
    run = site.submit(suite, "scripted:plans", "-k", "8")
    site.wait_for("two attempts made a board and a card", lambda: _made(boards) >= 4)
    site.live(PASSGRID_LIVE_SLOTS="6", PASSGRID_LEASE_SECONDS="3")
    site.wait_for("eight attempts are at it", lambda: _made(boards) == 16)
    asyncio.run(boards.ask("create_board", name="a person's"))
    doomed.kill()
    (site.folder / "go").touch()
    killed = time.monotonic()
    site.wait_until_done()
    site.wait_for(
        "what the killed ones made is gone",
        lambda: site.value("SELECT count(*) FROM teardowns WHERE state <> 'done'") == 0,
    )
    assert time.monotonic() - killed < 60
    assert asyncio.run(boards.names()) == ["a person's"]
    assert site.rows("SELECT outcome, leftovers, count(*) FROM attempts GROUP BY 1, 2") == [("passed", 0, 8)]
    assert site.value("SELECT count(*) FROM checks WHERE stage AND passed") == 16
    lost = site.rows("SELECT state, removed, leftovers FROM teardowns ORDER BY attempt_key")
    assert [(state, left) for state, _, left in lost] == [("done", [])] * 2
    assert sum(removed for _, removed, _ in lost) >= 4
    assert run


def _made(boards: Boards) -> int:
    return len(asyncio.run(boards.names()))
