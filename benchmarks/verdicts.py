"""The published airline trajectories, judged by what exists after them: how often our verdict is the published one.

    PASSGRID_DATA=… PASSGRID_MCP_SERVERS=… python benchmarks/verdicts.py --json

Runs the two hundred trajectories in `--mode drift` against the live server, each on a fresh state; then takes the check
of what must be said out of the scenarios, and rescores: no model and no tool is called. Exits with 1 where a verdict
differs from the published reward, or where rescoring turns other than two.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from benchmarks.drift import BIN, DATA, airline_suite  # noqa: E402

PASS_HAT = {"1": 0.42, "2": 0.273, "3": 0.22, "4": 0.2}


def main() -> None:
    """Run everything and print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="passgrid-bench-") as folder:
        measured = measure(Path(folder))
    print(json.dumps(measured, indent=2) if arguments.json else "\n".join(f"{k}: {v}" for k, v in measured.items()))
    if not measured["as_expected"]:
        raise SystemExit(1)


def measure(folder: Path) -> dict[str, Any]:
    """Everything, on a stack of its own below `folder`."""
    slots = os.environ.get("PASSGRID_LIVE_SLOTS", str(2 * (os.cpu_count() or 2)))
    environment = {**os.environ, "PASSGRID_HOME": str(folder / "home"), "PASSGRID_LIVE_SLOTS": slots}
    suite = airline_suite(folder / "suites", environment)
    started = time.perf_counter()
    submit = ["--suite", str(suite), "--model", "recorded:gpt-4o", "--mode", "drift", "--target", "live", "-k", "4"]
    summary = _json([BIN / "submit-matrix", *submit, "--wait", "--json"], environment)
    seconds = time.perf_counter() - started
    run = summary["run"]
    (arm,) = _json([BIN / "passgrid", "report", run, "--json"], environment)["arms"]
    first = _agreement(run, environment)
    _without_outputs(suite)
    started = time.perf_counter()
    rescored = _json([BIN / "passgrid", "rescore", run, "--json"], environment)
    rescore_s = time.perf_counter() - started
    second = _agreement(run, environment)
    subprocess.run([BIN / "passgrid", "down"], env=environment, stdout=subprocess.DEVNULL, check=False)
    pass_hat = {k: round(value, 3) for k, value in arm["pass_hat"].items()}
    turned = [f"{one['scenario']}/{one['sample']}: {one['before']} to {one['after']}" for one in rescored["turned"]]
    return {
        "valid": summary["valid"],
        "agree_with_published": first,
        "pass_hat": pass_hat,
        "drift_s": round(seconds, 1),
        "rescored": rescored["attempts"],
        "rescore_s": round(rescore_s, 1),
        "turned": turned,
        "agree_after_rescoring": second,
        "as_expected": first == 200 and pass_hat == PASS_HAT and len(turned) == 2 and second == 198,
    }


def _agreement(run: str, environment: dict[str, str]) -> int:
    """Attempts whose verdict is the published one."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        subprocess.run(
            [BIN / "passgrid", "export", "--format", "jsonl", "--out", out, run],
            env=environment, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip
        rows = [json.loads(line) for line in (out / "attempts.jsonl").read_text().splitlines()]
    published = json.loads(gzip.decompress((Path(os.environ["PASSGRID_DATA"]) / DATA).read_bytes()))
    rewards = {(f"task-{one['task_id']:02d}", one["trial"]): one["reward"] == 1 for one in published}
    return sum(rewards[row["scenario"], row["sample"]] == (row["outcome"] == "passed") for row in rows)


def _without_outputs(suite: Path) -> None:
    """Take the check of what must be said out of every scenario."""
    for path in suite.glob("task-*.yaml"):
        document: Any = yaml.safe_load(path.read_text())
        document["checks"] = [check for check in document["checks"] if check.get("name") != "outputs_said"]
        path.write_text(yaml.safe_dump(document, sort_keys=False))


def _json(command: list[Any], environment: dict[str, str]) -> Any:
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in {0, 3, 4}:
        raise SystemExit(f"{command[0]} ended with {done.returncode}")
    return json.loads(done.stdout)


if __name__ == "__main__":
    main()
