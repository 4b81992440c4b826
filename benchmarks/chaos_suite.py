"""Suites for chaos: live policies that count their calls outside of the stack, and recordings to replay."""

from __future__ import annotations

from pathlib import Path

import yaml

from benchmarks.synthetic_suite import write_replay_suite

SCENARIOS = 50

POLICIES = '''
import asyncio, os
from passgrid import policy

CALLS = {calls!r}

@policy("steady")
async def steady(turn):
    """Counts each call where no crash can undo it, and takes its time."""
    with open(CALLS, "ab", buffering=0) as file:
        file.write(turn.scenario.encode() + b"\\n")
    await asyncio.sleep(turn.rng.uniform(0.025, 1.0))
    return "done"
'''


def write_live_suite(root: Path, calls: Path) -> Path:
    """Scenarios of two user turns each, so two model calls of 0.025 to 1 s; each call is a line in `calls`."""
    suite = root / "live"
    suite.mkdir(parents=True)
    (suite / "policies.py").write_text(POLICIES.format(calls=str(calls)))
    (suite / "suite.yaml").write_text("prompt: lookup\n")
    for i in range(SCENARIOS):
        document = {"turns": ["first", "second"], "checks": [{"final_text": {"equals": "done"}}]}
        (suite / f"steady-{i:02d}.yaml").write_text(yaml.safe_dump(document))
    return suite


def write_suites(root: Path, calls: Path, replayed: int) -> tuple[Path, Path]:
    """The live suite, and the one to replay with enough recordings."""
    replay = write_replay_suite(root, SCENARIOS, -(-replayed // SCENARIOS))
    return write_live_suite(root, calls), replay


def counted_calls(calls: Path) -> dict[str, int]:
    """How often each scenario's model was really called."""
    counts: dict[str, int] = {}
    if calls.exists():
        for line in calls.read_text().splitlines():
            counts[line] = counts.get(line, 0) + 1
    return counts
