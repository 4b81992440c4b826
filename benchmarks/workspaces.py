"""How long a workspace of many files takes to be ready, against `cp -r` of its template, by every method there is here.

Called by `benchmarks/recording.py`. The methods take turns with `cp -r`; ratios are made round by round. As an ordinary
user, overlays are mounted in a user namespace, where the machine allows them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

FILES = 10_000
ROUNDS = 5
BOUNDS = {"overlay": 0.1, "reflink": 1.3, "copy": 1.3}
"""Times of `cp -r`, which makes reflinks itself where it can: file by file nobody is ten times as fast as that."""


def measure(folder: Path, files: int = FILES, rounds: int = ROUNDS) -> dict[str, Any]:
    """Milliseconds until ready, and ratios, by method; `method` is the one an attempt gets. In a process of its own."""
    command = [sys.executable, __file__, str(folder), str(files), str(rounds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return json.loads(done.stdout)


def within_bounds(measured: Mapping[str, Any]) -> bool:
    """Whether the method attempts get, and copying, keep to their bounds."""
    methods = measured["methods"]
    return all(methods[name]["ratio"] <= BOUNDS[name] for name in {measured["method"], "copy"} & methods.keys())


def _measure(folder: Path, files: int, rounds: int) -> dict[str, Any]:
    from passgrid.workspaces.attempt_workspace import host_folder, make_workspace
    from passgrid.workspaces.overlay import METHOD_VARIABLE, private_mounts

    os.environ.update(PASSGRID_HOME=str(folder), **{METHOD_VARIABLE: "overlay"})
    private_mounts(as_user=True)
    template = {f"d{n // 100}/f{n}.txt": f"line of file {n}\n".encode() * 10 for n in range(files)}
    source = host_folder().template(template, git=False)

    def made(method: str) -> Callable[[], float]:
        def once() -> float:
            os.environ[METHOD_VARIABLE] = method
            started = time.perf_counter()
            place = make_workspace(template)
            seconds = time.perf_counter() - started
            assert place.folder is not None
            assert (place.folder / "d0/f7.txt").read_bytes() == template["d0/f7.txt"]
            found[place.method] = method
            place.remove()
            return seconds

        return once

    def cp() -> float:
        target = folder / "cp"
        started = time.perf_counter()
        subprocess.run(["cp", "-r", source, target], check=True)
        seconds = time.perf_counter() - started
        subprocess.run(["rm", "-r", target], check=True)
        return seconds

    found: dict[str, str] = {}
    for method in ("overlay", "copy"):
        made(method)()
    ways = {name: made(method) for name, method in found.items()}
    times: dict[str, list[float]] = {"cp": [], **{name: [] for name in ways}}
    for _ in range(rounds):
        for name, way in (("cp", cp), *ways.items()):
            # What was written and removed before is not to slow down what comes next.
            os.sync()
            times[name].append(way())
    return {
        "files": files,
        "method": next(iter(found)),
        "cp_r_ms": round(median(times["cp"]) * 1000, 1),
        "methods": {
            name: {
                "ms": round(median(times[name]) * 1000, 1),
                "ratio": round(median(t / c for t, c in zip(times[name], times["cp"], strict=True)), 3),
                "bound": BOUNDS[name],
            }
            for name in ways
        },
        "rounds": rounds,
    }


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    print(json.dumps(_measure(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
