"""Worker hosts that are paused, killed or told to stop, and hints that come too often: every attempt has one result."""

from __future__ import annotations

import signal
import time

from api.broker import Hints
from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.hosts import Site, add_server, runs, server_of, server_pids, terminate

LATE_AND_TALKATIVE = """
@policy("m")
async def m(turn):
    log_call(turn)
    await asyncio.sleep(2.5)
    return "done"
"""


def test_what_a_paused_worker_does_after_its_lease_counts_for_nothing(site: Site) -> None:
    talkative = {"task": None, "turns": ["one", "two"]}
    scenarios = {"late-1": {}, "late-2": {}, "talkative-1": talkative, "talkative-2": talkative}
    suite = write_scripted_suite(site.folder, "paused", site.policies(LATE_AND_TALKATIVE), scenarios)
    site.scheduler()
    paused = site.live(PASSGRID_LEASE_SECONDS="3")
    site.submit(suite, "scripted:m")
    site.wait_for("the first worker makes the first call of each", lambda: len(site.calls()) == 4)
    paused.send_signal(signal.SIGSTOP)
    stopped_at = time.monotonic()
    site.live(PASSGRID_LEASE_SECONDS="3")
    site.wait_until_done()
    time.sleep(max(0, 12 - (time.monotonic() - stopped_at)))  # longer than an event loop may be blocked, too
    written = site.rows("SELECT attempt_id, fence, digest, finished_at, xid::text FROM attempts ORDER BY 1")

    paused.send_signal(signal.SIGCONT)
    site.wait_for("it notices", lambda: site.logs().count("lost the claim of") + site.logs().count("refused") > 0)
    assert terminate([paused], 30) == [0]

    assert site.rows("SELECT attempt_id, fence, digest, finished_at, xid::text FROM attempts ORDER BY 1") == written
    assert site.rows("SELECT DISTINCT outcome FROM attempts") == [("passed",)]
    tries = "SELECT DISTINCT array_agg(reason ORDER BY fence) FROM tries GROUP BY attempt_key"
    assert site.rows(tries) == [(["worker_lost", "finished"],)]
    assert site.value("SELECT count(DISTINCT worker) FROM tries") == 2
    assert (len(site.calls("late")), len(site.calls("talkative"))) == (4, 6), "the paused worker made no second call"
    assert site.value("SELECT count(*) FROM intents WHERE kind = 'model'") == len(site.calls())
    assert site.value("SELECT count(*) FROM transcripts") == 4


def test_a_hint_that_comes_three_times_at_once_runs_its_attempt_once(site: Site) -> None:
    policies = "@policy('m')\nasync def m(turn):\n    log_call(turn)\n    await asyncio.sleep(0.3)\n    return 'done'\n"
    suite = write_scripted_suite(
        site.folder, "thrice", site.policies(policies), {f"once-{i:02d}": {} for i in range(12)}
    )
    site.submit(suite, "scripted:m")
    hints = Hints(site.broker_url)
    for _ in range(2):
        site.live(PASSGRID_LIVE_SLOTS="24")
    site.wait_for("both listen", lambda: site.value("SELECT count(*) FROM heartbeats WHERE kind = 'live'") == 2)
    hints.send("live", 3 * 12)
    site.wait_until_done()
    site.wait_for("all hints are taken", lambda: hints.waiting("live") == 0)
    hints.send("live", 12)
    site.wait_for("those that came late too", lambda: hints.waiting("live") == 0)
    hints.close()
    assert sorted(site.calls()) == [f"once-{i:02d} " for i in range(12)]
    assert site.value("SELECT count(*) FROM tries") == 12
    assert site.rows("SELECT DISTINCT outcome FROM attempts") == [("passed",)]


def test_attempts_of_a_killed_host_start_again_soon_after_its_lease(site: Site) -> None:
    policies = "@policy('m')\nasync def m(turn):\n    log_call(turn)\n    await asyncio.sleep(3)\n    return 'done'\n"
    suite = write_scripted_suite(site.folder, "killed", site.policies(policies), {f"once-{i}": {} for i in range(6)})
    site.scheduler()
    lease_s = 6
    killed = site.live(PASSGRID_LEASE_SECONDS=str(lease_s))
    site.submit(suite, "scripted:m")
    site.wait_for("all of them run", lambda: len(site.calls()) == 6)
    killed.kill()
    killed_at = site.value("SELECT clock_timestamp()")
    killed.wait()
    site.live(PASSGRID_LEASE_SECONDS=str(lease_s))
    site.wait_until_done()
    tries = "SELECT DISTINCT array_agg(reason ORDER BY fence) FROM tries GROUP BY attempt_key"
    assert site.rows(tries) == [(["worker_lost", "finished"],)]
    late = site.value(
        "SELECT extract(epoch FROM max(started_at) - :killed) FROM tries WHERE fence = 2", killed=killed_at
    )
    assert late <= lease_s + 5
    assert site.rows("SELECT DISTINCT outcome FROM attempts") == [("passed",)]


STUBBORN = """
@policy("m")
async def m(turn):
    log_call(turn)
    return Call("work", {"seconds": 3}) if not turn.results else "done"
"""


def test_everything_told_to_stop_in_a_run_hands_its_work_back_and_goes_on_later(site: Site) -> None:
    from tests.integration.runs import submitted

    suite = write_scripted_suite(
        site.folder, "stopped", site.policies(STUBBORN), {f"slow-{i}": {} for i in range(6)}, mcpServers=server_of(site)
    )
    add_server(suite)
    replayed = submitted(site.engine, site.folder / "replayed", scenarios=12, k=5).run_id
    slots = {"PASSGRID_LIVE_SLOTS": "4"}
    everything = [site.scheduler(), site.live(**slots), site.replay()]
    site.submit(suite, "scripted:m")
    site.wait_for("four tools are at work", lambda: len(server_pids(site)) >= 4)
    assert terminate(everything, 30) == [0, 0, 0], site.logs()
    assert site.value("SELECT count(*) FROM attempts WHERE state = 'running'") == 0
    handed_back = "SELECT count(*) FROM tries JOIN attempts ON key = attempt_key WHERE tries.reason = 'handed_back' "
    assert site.value(handed_back + "AND queue = 'live'") == 4
    assert {pid for pid in server_pids(site) if runs(pid)} == set()
    assert site.value("SELECT count(*) FROM tries WHERE reason IS NULL") == 0

    everything = [site.scheduler(), site.live(**slots), site.replay()]
    site.wait_until_done()
    ended = "SELECT outcome, outcome_detail, max(reason), count(*) FROM attempts GROUP BY 1, 2"
    assert site.rows(ended) == [("passed", "", "", 66)]
    assert site.value("SELECT count(*) FROM attempts WHERE run_id = :run", run=replayed) == 60
    assert site.value("SELECT count(*) FROM tries WHERE reason = 'finished'") == 66
    assert site.value("SELECT count(*) FROM tries WHERE reason NOT IN ('finished', 'handed_back')") == 0
    assert terminate(everything, 30) == [0, 0, 0], site.logs()
    assert {pid for pid in server_pids(site) if runs(pid)} == set()
