"""What is claimed next: a long attempt keeps one slot and nothing else, and what is urgent does not stand in line."""

from __future__ import annotations

from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.hosts import Site

POLICIES = """
@policy("m")
async def m(turn):
    if turn.scenario == "long":
        log_call(turn)
        while not os.path.exists({end!r}):
            await asyncio.sleep(0.1)
    else:
        await asyncio.sleep({seconds})
    return "done"
"""


def test_a_long_attempt_does_not_keep_short_ones_waiting(site: Site) -> None:
    end = site.folder / "end"
    policies = site.policies(POLICIES.format(end=str(end), seconds=0.05))
    suite = write_scripted_suite(
        site.folder, "fair", policies, {"long": {}, **{f"short-{i:02d}": {} for i in range(20)}}
    )
    site.scheduler()
    site.live(PASSGRID_LIVE_SLOTS="2")
    site.submit(suite, "scripted:m", "--scenario", "long")
    site.wait_for("the long one runs", lambda: len(site.calls()) == 1)
    names = [part for i in range(20) for part in ("--scenario", f"short-{i:02d}")]
    site.submit(suite, "scripted:m", "-k", "10", *names)
    site.wait_for("all short ones end", lambda: site.unfinished() == 1)
    assert site.rows(
        "SELECT scenario, state FROM attempts JOIN cells ON cells.key = cell_key WHERE state <> 'done'"
    ) == [("long", "running")]
    end.touch()
    site.wait_until_done()
    assert site.rows("SELECT outcome, count(*) FROM attempts GROUP BY 1") == [("passed", 201)]


def test_a_release_is_claimed_before_a_night_of_work_that_was_there_first(site: Site) -> None:
    policies = site.policies(POLICIES.format(end="", seconds=0.2))
    suite = write_scripted_suite(site.folder, "urgent", policies, {f"one-{i:02d}": {} for i in range(20)})
    site.scheduler()
    site.live(PASSGRID_LIVE_SLOTS="2")
    nightly = site.submit(suite, "scripted:m", "-k", "50", "--label", "nightly")
    assert site.unfinished() > 900
    site.wait_for("the night begins", lambda: site.value("SELECT count(*) FROM tries") > 10)
    release = site.submit(suite, "scripted:m", "--label", "release", "--priority", "10")
    unfinished = "SELECT count(*) FROM attempts WHERE state <> 'done' AND run_id = :run"
    site.wait_for("the release is done", lambda: not site.value(unfinished, run=release))
    still_queued = site.commands.json("passgrid", "cancel", nightly)["attempts"]
    assert still_queued > 100, "the night was far from done"
    runs = [row.run_id for row in site.rows(
        "SELECT run_id FROM tries JOIN attempts ON key = attempt_key ORDER BY tries.started_at"
    )]  # fmt: skip
    first, last = runs.index(release), len(runs) - 1 - runs[::-1].index(release)
    assert last - first + 1 <= 20 + 2, "at most what the other slot claimed at the very moment came between"
    site.wait_until_done()
