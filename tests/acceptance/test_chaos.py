"""A short run of chaos: whatever is killed, every attempt comes out once, and every call is accounted for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_stack_that_is_hurt_loses_nothing_and_does_nothing_twice() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "chaos.py"), "--attempts", "100", "--seed", "7", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["results"] == seen["passed"] == 100, seen
    assert (seen["lost"], seen["twice"], seen["infra_errors"]) == (0, 0, 0), seen
    assert (seen["unaccounted_model_calls"], seen["leftover_processes"]) == (0, 0), seen
    assert any("worker killed" in blow for blow in seen["did"])
    assert {"broker emptied", "scheduler killed (1 process)"} <= set(seen["did"])
