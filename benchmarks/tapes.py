"""A table of sessions with real MCP servers: recorded, the server gone, replayed inside the seal.

    PASSGRID_MCP_SERVERS=… python benchmarks/tapes.py [--json]

What is not installed is named with the command that brings it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

COLUMNS = ("server", "era", "protocol", "calls", "identical", "frames", "bytes", "recorded_s", "replayed_s")


def main() -> None:
    """Run every session and print the table; exits with 1 unless all results are identical."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args()
    rows = asyncio.run(all_rows())
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(rows)
    if any(row.get("identical") != row.get("calls") for row in rows):
        raise SystemExit(1)


def print_table(rows: list[dict[str, Any]]) -> None:
    """The rows in columns, what is missing below."""
    shown = [row for row in rows if "missing" not in row]
    widths = {column: max(len(column), *(len(str(row[column])) for row in shown), 1) for column in COLUMNS}
    for row in [dict(zip(COLUMNS, COLUMNS, strict=True)), *shown]:
        print("  ".join(f"{row[column]!s:<{widths[column]}}" for column in COLUMNS))
    for row in rows:
        if "missing" in row:
            print(f"not run: {row['server']}: {row['missing']}")


async def all_rows() -> list[dict[str, Any]]:
    """One row a session."""
    from tests.integration.tapes.real_sessions import SESSIONS, ServerMissing

    rows: list[dict[str, Any]] = []
    for session in SESSIONS:
        with tempfile.TemporaryDirectory(prefix="passgrid-bench-") as folder:
            try:
                rows.append(await row_of(session, Path(folder)))
            except ServerMissing as missing:
                rows.append({"server": session.name, "missing": str(missing)})
    return rows


async def row_of(session: Any, folder: Path) -> dict[str, Any]:
    """Record, remove what the server worked on, replay, compare."""
    from passgrid.sealing import sealed
    from passgrid.tapes.format import read_tape
    from passgrid.tapes.replayer import Replay

    work, file = folder / "work", folder / "session.tape.jsonl"
    work.mkdir()
    started = time.perf_counter()
    first, era = await session.recorded(work, file)
    between = time.perf_counter()
    shutil.rmtree(work)
    tape = read_tape(file.read_bytes())
    again = session.seen(work)
    with sealed():
        async with again.client(Replay(tape), session.mode) as client:
            await session.use(client, again, work)
    return {
        "server": session.name,
        "era": era.name,
        "protocol": era.protocol,
        "calls": len(first.results),
        "identical": sum(left == right for left, right in zip(first.results, again.results, strict=False)),
        "frames": len(tape.frames),
        "bytes": file.stat().st_size,
        "recorded_s": round(between - started, 2),
        "replayed_s": round(time.perf_counter() - between, 2),
    }


if __name__ == "__main__":
    main()
