"""How well limits of a provider hold over all workers together.

    python benchmarks/provider_limits.py --json

Four live hosts of 32 slots each want 900 requests from a provider on loopback that takes 300 in any 60 seconds and 8
at once, and answers 429 with Retry-After beyond that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

HOSTS = 4
SLOTS = 32
PER_MINUTE = 300
AT_ONCE = 8


def main() -> None:
    """Run it and print what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--requests", type=int, default=900)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passgrid-limits-") as folder:
        seen = measure(Path(folder), arguments.requests)
    if arguments.json:
        print(json.dumps(seen, indent=2))
    else:
        for name, value in seen.items():
            print(f"{name:<20} {value}")


def measure(folder: Path, requests: int) -> dict[str, Any]:
    """On a stack of its own below `folder`."""
    from api.stack.join import joined_stack, release
    from benchmarks.synthetic_suite import write_question_suite
    from passgrid.plan import make_plan
    from passgrid.request import Request
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.submission import submit

    home = folder / "home"
    home.mkdir()
    (home / "providers.yaml").write_text(f"openai:\n  concurrency: {AT_ONCE}\n  requests_per_minute: {PER_MINUTE}\n")
    suite = write_question_suite(folder / "suites", scenarios=requests)
    with provider("--requests-per-minute", str(PER_MINUTE), "--at-once", str(AT_ONCE)) as address:
        os.environ |= {
            "PASSGRID_HOME": str(home),
            "PASSGRID_LIVE_SLOTS": str(SLOTS),
            "OPENAI_BASE_URL": f"{address}/v1",
            "OPENAI_API_KEY": "the-right-key",
        }
        with joined_stack() as addresses, more_hosts(addresses, HOSTS - 1):
            engine = make_engine(addresses.database_url)
            request = Request(suites=(str(suite),), models=("openai-chat:gpt-4o-mini?max_tokens=20",), k=1, mode="live")
            run_id = submit(engine, make_plan(request)).run_id
            ended = wait(engine, run_id)
            engine.dispose()
        release()
        with urllib.request.urlopen(f"{address}/facts") as answer:
            facts: dict[str, Any] = json.load(answer)
    per_minute = facts["answered"] / facts["seconds"] * 60
    return {**facts, **ended, "per_minute": round(per_minute), "share_of_allowed": round(per_minute / PER_MINUTE, 3)}


def wait(engine: Any, run_id: str) -> dict[str, Any]:
    """Until the run is done; how its attempts ended, and on how many processes."""
    import sqlalchemy as sa

    from passgrid.warehouse.progress import unfinished

    with engine.connect() as connection:
        while unfinished(connection, run_id):
            time.sleep(0.5)
        row = connection.execute(
            sa.text(
                "SELECT count(*) FILTER (WHERE passed) AS passed, count(*) FILTER (WHERE NOT passed) AS not_passed, "
                "(SELECT count(DISTINCT worker) FROM tries) AS processes FROM attempts WHERE run_id = :run"
            ),
            {"run": run_id},
        ).one()
    return {"passed": row.passed, "not_passed": row.not_passed, "processes": row.processes}


@contextmanager
def provider(*options: str) -> Generator[str]:
    """A provider on loopback; gives its address."""
    command = [sys.executable, "-m", "benchmarks.openai_stub", *options]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


@contextmanager
def more_hosts(addresses: Any, count: int) -> Generator[None]:
    """So many live hosts more."""
    environment = {
        **os.environ,
        "PASSGRID_DATABASE_URL": addresses.database_url,
        "PASSGRID_BROKER_URL": addresses.broker_url,
    }
    command = [sys.executable, "-P", "-m", "workers.host", "live"]
    quiet = subprocess.DEVNULL
    hosts = [subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet) for _ in range(count)]
    try:
        yield
    finally:
        for host in hosts:
            host.kill()
            host.wait()


if __name__ == "__main__":
    main()
