"""Hurts a whole stack on a seeded plan while it works, and counts what was lost.

    python benchmarks/chaos.py --attempts 2000 --seed 1 --json

Half of the attempts are replayed, half are live with scripted models whose calls are counted outside of the stack. A
worker is killed every three seconds; hosts, scheduler, broker and Postgres get their blows as the run goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

KILL_EVERY_SECONDS = 3.0
PATIENCE_SECONDS = 900.0
LEASE_SECONDS = 5
LEFTOVER_SECONDS = 15.0
"""What processes have to end after the stack was released."""


def main() -> None:
    """Run it and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passgrid-chaos-") as folder:
        outcome = run_chaos(Path(folder).resolve(), arguments.attempts, arguments.seed, loud=not arguments.json)
    if arguments.json:
        print(json.dumps(outcome, indent=2))
    else:
        for name, value in outcome.items():
            print(f"{name:<24} {value}")


def run_chaos(folder: Path, attempts: int, seed: int, *, loud: bool = False) -> dict[str, Any]:
    """On a stack of its own below `folder`; returns the figures."""
    from api.stack.join import joined_stack, release
    from benchmarks.chaos_blows import Battlefield
    from benchmarks.chaos_suite import write_suites

    home, calls = folder / "home", folder / "calls.txt"
    os.environ |= {"PASSGRID_HOME": str(home), "PASSGRID_LEASE_SECONDS": str(LEASE_SECONDS)}
    live, replay = write_suites(folder / "suites", calls, attempts // 2)
    with joined_stack() as addresses:
        field = Battlefield(home, addresses.broker_url, random.Random(seed))
        started = time.perf_counter()
        runs = submit_both(addresses.database_url, live, replay, attempts)
        fight(addresses.database_url, runs, field, loud)
        seconds = time.perf_counter() - started
        figures = count(addresses.database_url, runs, calls)
    release()
    left = leftovers(field)
    return {**figures, "leftover_processes": left, "seconds": round(seconds, 1), "seed": seed, "did": field.done}


def submit_both(database_url: str, live: Path, replay: Path, attempts: int) -> list[str]:
    """Both runs, `attempts` in all."""
    from benchmarks.chaos_suite import SCENARIOS
    from passgrid.plan import make_plan
    from passgrid.request import Request
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.submission import submit

    k = max(1, attempts // 2 // SCENARIOS)
    engine = make_engine(database_url)
    requests = [
        Request(suites=(str(live),), models=("scripted:steady",), k=k, mode="live"),
        Request(suites=(str(replay),), models=("recorded:synthetic",), k=k),
    ]
    submitted = [submit(engine, make_plan(request)) for request in requests]
    engine.dispose()
    return [one.run_id for one in submitted]


def fight(database_url: str, runs: list[str], field: Any, loud: bool) -> None:
    """Deal the blows, spread over the progress of the runs, until both are done."""
    from benchmarks.chaos_blows import BLOWS, kill_worker

    wanted = progress(database_url, runs)[1]
    plan = [(field.rng.uniform(0.02, 0.85), blow) for blow, times in BLOWS for _ in range(times)]
    plan.sort(key=lambda one: one[0])
    over = threading.Event()
    killer = threading.Thread(target=every(KILL_EVERY_SECONDS, over, lambda: kill_worker(field)))
    killer.start()
    until = time.monotonic() + PATIENCE_SECONDS
    try:
        while time.monotonic() < until:
            done, _ = progress(database_url, runs)
            if done == wanted:
                return
            while plan and done >= plan[0][0] * wanted:
                plan.pop(0)[1](field)
                if loud:
                    print(f"{done}/{wanted}: {field.done[-1]}", file=sys.stderr)
            time.sleep(0.2)
    finally:
        over.set()
        killer.join()


def every(seconds: float, over: threading.Event, act: Callable[[], None]) -> Callable[[], None]:
    """Something done by the clock until it is over."""

    def go_on() -> None:
        while not over.wait(seconds):
            act()

    return go_on


def progress(database_url: str, runs: list[str]) -> tuple[int, int]:
    """Done and wanted; waits for a database that is away."""
    rows = ask(
        database_url,
        "SELECT count(*) FILTER (WHERE state = 'done') AS done, count(*) AS wanted FROM attempts "
        "WHERE run_id = ANY(:runs)",
        runs,
    )
    return rows[0]["done"], rows[0]["wanted"]


def ask(database_url: str, query: str, runs: list[str]) -> list[dict[str, Any]]:
    """What a query finds, however long that takes."""
    import sqlalchemy as sa
    from sqlalchemy.exc import OperationalError

    from passgrid.warehouse.engine import make_engine

    while True:
        engine = make_engine(database_url)
        try:
            with engine.connect() as connection:
                return [dict(row) for row in connection.execute(sa.text(query), {"runs": runs}).mappings()]
        except OperationalError:
            time.sleep(0.3)
        finally:
            engine.dispose()


def count(database_url: str, runs: list[str], calls: Path) -> dict[str, Any]:
    """What was lost, done twice, or not accounted for."""
    from benchmarks.chaos_suite import counted_calls

    (row,) = ask(database_url, ATTEMPTS, runs)
    made = counted_calls(calls)
    accounted = {one["scenario"]: one for one in ask(database_url, CALLS, runs)}
    return {
        **row,
        "reasons": [f"{one['n']} x {one['reason']}" for one in ask(database_url, REASONS, runs)],
        "model_calls": sum(made.values()),
        "extra_model_calls": sum(made.values()) - sum(int(one["kept"] or 0) for one in accounted.values()),
        "unaccounted_model_calls": sum(
            max(0, n - accounted[scenario]["intents"]) for scenario, n in made.items() if scenario in accounted
        )
        + sum(n for scenario, n in made.items() if scenario not in accounted),
    }


ATTEMPTS = """
SELECT count(*) FILTER (WHERE state = 'done') AS results, count(*) FILTER (WHERE state <> 'done') AS lost,
    count(*) FILTER (WHERE finished.n > 1) AS twice, count(*) FILTER (WHERE passed) AS passed,
    count(*) FILTER (WHERE outcome = 'infra_error') AS infra_errors, coalesce(sum(finished.tries), 0)::int AS tries,
    coalesce(sum(finished.lost), 0)::int AS lost_tries
FROM attempts LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE reason = 'finished') AS n, count(*) AS tries,
        count(*) FILTER (WHERE reason = 'worker_lost') AS lost
    FROM tries WHERE attempt_key = attempts.key
) finished ON true
WHERE run_id = ANY(:runs)
"""

REASONS = """
SELECT outcome || ' ' || outcome_detail || ': ' || left(reason, 200) AS reason, count(*) AS n FROM attempts
WHERE run_id = ANY(:runs) AND NOT passed GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5
"""

CALLS = """
SELECT scenario, count(*) AS intents,
    (SELECT sum(model_turns) FROM attempts done WHERE done.cell_key = cells.key) AS kept
FROM intents JOIN attempts ON attempts.key = attempt_key JOIN cells ON cells.key = cell_key
WHERE kind = 'model' AND attempts.run_id = ANY(:runs) GROUP BY cells.key, scenario
"""


def leftovers(field: Any) -> int:
    """Processes of the installation that are still there some time after it was released."""
    until = time.monotonic() + LEFTOVER_SECONDS
    while (left := field.processes()) and time.monotonic() < until:
        time.sleep(0.2)
    here = os.getpid()
    return sum(one.pid != here for one in left)


if __name__ == "__main__":
    main()
