"""The conformance suite of the MCP project against the gateway.

    python benchmarks/conformance.py [--folder DIR] [--url http://127.0.0.1:4010/mcp] [--json]

Installs the suite and a Node that it runs on with npm into a folder outside the project, the first time. Starts a
gateway of its own with `conformance_fakes.json` unless one is named. Prints the suite's own summary, and what is known
of each check that fails; exits with 1 where one fails that is not explained.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

FAKES = Path(__file__).with_name("conformance_fakes.json")
SUITE = "@modelcontextprotocol/conformance@0.1.16"
NODE = "node@22"

_NO_QUESTIONS = "by design: a fake answers and asks nothing; its client is never asked for a model turn or for input"
_ONE_ANSWER = "by design: a fake answers in one piece; delayMs makes it slow, and nothing is told meanwhile"
EXPLAINED = {
    "tools-call-sampling": _NO_QUESTIONS,
    "tools-call-elicitation": _NO_QUESTIONS,
    "elicitation-sep1034-general": _NO_QUESTIONS,
    "elicitation-sep1330-general": _NO_QUESTIONS,
    "tools-call-with-logging": _ONE_ANSWER,
    "tools-call-with-progress": _ONE_ANSWER,
}
"""Checks that fail, and why that is as it should be."""


def main() -> None:
    """Run the suite and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where the suite is installed")
    parser.add_argument("--url", help="the mount of a running gateway that serves conformance_fakes.json")
    arguments = parser.parse_args()
    installed(arguments.folder)
    with mounted(arguments.url) as url:
        summary, checks = run(arguments.folder, url)
    failed = [shown(check) for check in checks if check["status"] == "FAILURE"]
    passed = sum(check["status"] == "SUCCESS" for check in checks)
    if arguments.json:
        print(json.dumps({"suite": SUITE, "passed": passed, "failed": failed}, indent=2))
    else:
        print_results(summary, failed)
    if not passed or any(one["explanation"] is None for one in failed):
        raise SystemExit(1)


def default_folder() -> Path:
    """Below the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "passgrid" / "mcp-conformance"


def installed(folder: Path) -> None:
    """Bring the suite, and the Node it needs, unless they are there."""
    if binary(folder).exists() and program(folder).exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder), SUITE, NODE]
    try:
        subprocess.run(command, check=True, timeout=600, stdout=sys.stderr)
    except (OSError, subprocess.SubprocessError) as error:
        raise SystemExit(f"the suite could not be installed: {error}") from None


def binary(folder: Path) -> Path:
    """The Node of the folder."""
    return folder / "node_modules" / ".bin" / "node"


def program(folder: Path) -> Path:
    """The suite's program."""
    return folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


@contextlib.contextmanager
def mounted(url: str | None):
    """The mount to be tested."""
    from benchmarks.gateway_process import own_gateway

    if url is not None:
        yield url
        return
    with own_gateway(str(FAKES)) as address:
        yield f"{address}/mcp"


def run(folder: Path, url: str) -> tuple[str, list[dict[str, Any]]]:
    """The suite's own summary, and every check."""
    with tempfile.TemporaryDirectory(prefix="passgrid-bench-") as results:
        command = [str(binary(folder)), str(program(folder)), "server", "--url", url, "--suite", "all", "-o", results]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        found = [json.loads(file.read_text()) for file in sorted(Path(results).glob("*/checks.json"))]
    if not found:
        raise SystemExit(f"the suite did not run: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout.partition("=== SUMMARY ===")[2].strip(), [check for checks in found for check in checks]


def shown(check: dict[str, Any]) -> dict[str, Any]:
    """A check that failed, and what is known of it."""
    return {"check": check["id"], "message": check.get("errorMessage"), "explanation": EXPLAINED.get(check["id"])}


def print_results(summary: str, failed: list[dict[str, Any]]) -> None:
    """The suite's summary, then the checks that failed."""
    print(summary)
    for one in failed:
        print(f"\n{one['check']}: {one['message']}\n  {one['explanation'] or 'NOT EXPLAINED'}")


if __name__ == "__main__":
    main()
