"""What recording a call costs, and replaying one, against the bare call on an in-memory server in the same run; and how
long a workspace of 10,000 files takes to be ready, against `cp -r`.

    python benchmarks/recording.py --json

Medians over rounds of the mean time of a call; the three take turns. Compare only within one run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from benchmarks import workspaces  # noqa: E402 - found by the line above

CALLS = 200
ROUNDS = 15
RECORDING_BOUND = 1.3
REPLAYING_BOUND = 1.0


def main() -> None:
    """Measure and print; the exit code says whether both are within their bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--folder", type=Path, help="where workspaces are made; a temporary folder when absent")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passgrid-bench-", dir=arguments.folder) as folder:
        measured = asyncio.run(measure(Path(folder), arguments.rounds, arguments.calls))
        measured["workspace"] = workspaces.measure(Path(folder))
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        for name, value in measured.items():
            print(f"{name:<16} {value}")
    calls = measured["recording_ratio"] <= RECORDING_BOUND and measured["replaying_ratio"] <= REPLAYING_BOUND
    if not (calls and workspaces.within_bounds(measured["workspace"])):
        raise SystemExit(1)


async def measure(folder: Path, rounds: int, calls: int) -> dict[str, Any]:
    """Milliseconds a call: bare, recorded and replayed, and their ratios round by round."""
    from mcp.server.mcpserver import MCPServer

    from passgrid.tapes.format import read_tape
    from passgrid.tapes.recorder import record
    from passgrid.tapes.replayer import Replay
    from tests.mcp_sessions import in_memory

    server = MCPServer("bench")

    @server.tool()
    async def look_up(key: str, n: int) -> dict[str, Any]:
        """Look a key up."""
        return {"key": key, "n": n, "value": f"value of {key}"}

    times: dict[str, list[float]] = {"bare": [], "recorded": [], "replayed": []}
    await timed(in_memory(server), calls)
    for n in range(rounds):
        path = folder / f"{n}.tape.jsonl"
        times["bare"].append(await timed(in_memory(server), calls))
        times["recorded"].append(await timed(record(in_memory(server), path), calls))
        tape = read_tape(path.read_bytes())
        times["replayed"].append(await timed(Replay(tape), calls))
    bare = times["bare"]
    return {
        **{f"{name}_ms": round(median(all_) * 1000, 3) for name, all_ in times.items()},
        "recording_ratio": round(median(r / b for r, b in zip(times["recorded"], bare, strict=True)), 3),
        "replaying_ratio": round(median(r / b for r, b in zip(times["replayed"], bare, strict=True)), 3),
        "recording_bound": RECORDING_BOUND,
        "replaying_bound": REPLAYING_BOUND,
        "rounds": rounds,
        "calls_per_round": calls,
    }


async def timed(transport: Any, calls: int) -> float:
    """Mean seconds of a call in one session."""
    from mcp import Client

    async with Client(transport) as client:
        await client.call_tool("look_up", {"key": "warm", "n": -1})
        started = time.perf_counter()
        for n in range(calls):
            result = await client.call_tool("look_up", {"key": f"key {n}", "n": n})
            assert not result.is_error
        return (time.perf_counter() - started) / calls


if __name__ == "__main__":
    main()
