"""How fast matrices are replayed through the whole system, against the bare agent loop in the same run.

    python benchmarks/replay.py --json

Medians of five rounds; each round measures the bare loop, a run of fifty scenarios, and a larger run, one after the
other on one warm stack. Compare only within one run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

SCENARIOS = 50
SAMPLES = 8
ROUNDS = 5


def main() -> None:
    """Run everything and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passgrid-bench-") as folder:
        measured = measure(Path(folder), arguments.rounds)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        for name, value in measured.items():
            print(f"{name:<16} {value}")


def measure(folder: Path, rounds: int) -> dict[str, Any]:
    """Everything, on a stack of its own below `folder`."""
    from api.stack.join import joined_stack, release
    from api.stack.status import stack_status
    from benchmarks.bare_loop import bare_per_second
    from benchmarks.memory import peak_of
    from benchmarks.synthetic_suite import write_replay_suite

    os.environ["PASSGRID_HOME"] = str(folder / "home")
    suite = write_replay_suite(folder / "suites", SCENARIOS, SAMPLES)
    attempts = SCENARIOS * SAMPLES
    bare: list[float] = []
    system: list[float] = []
    fifty: list[float] = []
    with joined_stack() as addresses:
        timed_run(addresses.database_url, suite, "warm-up", SAMPLES)
        supervisor = stack_status().pid
        assert supervisor is not None, "the stack is embedded"
        with peak_of(supervisor) as peak:
            for i in range(rounds):
                bare.append(bare_per_second(attempts))
                fifty.append(timed_run(addresses.database_url, suite, f"fifty-{i}", 1))
                system.append(attempts / timed_run(addresses.database_url, suite, f"all-{i}", SAMPLES))
        submission = submit_100k(folder, addresses.database_url)
    release()
    return {
        "bare_per_s": round(median(bare), 1),
        "system_per_s": round(median(system), 1),
        "ratio": round(median(s / b for s, b in zip(system, bare, strict=True)), 3),
        "fifty_s": round(median(fifty), 3),
        "peak_mb": round(peak.mb),
        **submission,
        "rounds": rounds,
        "attempts_per_round": attempts,
    }


def timed_run(database_url: str, suite: Path, label: str, k: int) -> float:
    """Seconds from the submission (reading and checking the files included) to the last result in Postgres."""
    from passgrid.plan import make_plan
    from passgrid.request import Request
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.progress import unfinished
    from passgrid.warehouse.results import RESULTS_CHANNEL
    from passgrid.warehouse.submission import submit

    engine = make_engine(database_url)
    with engine.connect() as listening:
        listening.exec_driver_sql(f"LISTEN {RESULTS_CHANNEL}")
        listening.commit()
        started = time.perf_counter()
        request = Request(suites=(str(suite),), models=("recorded:synthetic",), k=k, label=label)
        submitted = submit(engine, make_plan(request))
        assert submitted.new_attempts == submitted.wanted == SCENARIOS * k
        # Told of each batch of results: looking every few milliseconds would take processor time from the workers.
        raw: Any = listening.connection.driver_connection
        while unfinished(listening, submitted.run_id):
            for _ in raw.notifies(timeout=1.0, stop_after=1):
                pass
        seconds = time.perf_counter() - started
    with engine.connect() as connection:
        check_run(connection, submitted.run_id)
    engine.dispose()
    return seconds


def check_run(connection: Any, run_id: str) -> None:
    """All passed, all with a transcript: a fast wrong answer is no measurement."""
    import sqlalchemy as sa

    counts = connection.execute(
        sa.text(
            "SELECT count(*) AS n, count(*) FILTER (WHERE passed) AS passed, sum(tool_calls) AS calls, count(body) "
            "AS transcripts FROM attempts LEFT JOIN transcripts ON attempt_key = key WHERE run_id = :run"
        ),
        {"run": run_id},
    ).one()
    assert counts.n == counts.passed == counts.transcripts, counts
    assert counts.calls == 5 * counts.n, counts


def submit_100k(folder: Path, database_url: str) -> dict[str, float]:
    """A hundred thousand attempts submitted by a process of its own: its seconds and its peak memory."""
    from benchmarks.synthetic_suite import write_submission_suite

    suite = write_submission_suite(folder / "suites", scenarios=50, models=20, prompts=5)
    command = [sys.executable, __file__, "--submit-100k", str(suite), database_url]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def _submit_100k(suite: str, database_url: str) -> None:
    from passgrid.plan import make_plan
    from passgrid.request import Request
    from passgrid.warehouse import control
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.submission import submit

    engine = make_engine(database_url)
    started = time.perf_counter()
    request = Request(
        suites=(suite,),
        models=tuple(f"scripted:m{i}" for i in range(20)),
        prompts=tuple(f"lookup-{i}" for i in range(5)),
        k=20,
        mode="live",
        label="submit-100k",
    )
    submitted = submit(engine, make_plan(request))
    seconds = time.perf_counter() - started
    assert submitted.new_attempts == 100_000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    control.cancel(engine, submitted.run_id)
    print(json.dumps({"submit_100k_s": round(seconds, 2), "submit_100k_mb": round(peak)}))


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--submit-100k":
        _submit_100k(*sys.argv[2:])
    else:
        main()
