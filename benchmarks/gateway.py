"""Calls of a tool a second: our gateway over that of a peer that keeps everything in one process's memory.

python benchmarks/gateway.py --json

The peer is npm @copilotkit/aimock 1.43.0 with a static tool; ours answers the same tool from a fake, under a claim that
other gateways respect, and writes it into the journal in Postgres before it answers. Both serve at the same time and
are asked in turns by the same client, with 1 and 16 connections; medians over rounds. Two clients, and both count:
httpx, which Python's MCP clients are made of, and bare sockets, which cost next to nothing. At the end a gateway is
killed under load, and another one has to find every answered call in the journal. The peer is installed on demand,
outside of the project.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import httpx2
import uvloop

from benchmarks.gateway_asking import ask_for
from benchmarks.gateway_http_asking import ask_with_httpx
from benchmarks.gateway_killing import kill_under_load
from benchmarks.gateway_process import own_gateway
from benchmarks.gateway_stages import stages

PEER = "@copilotkit/aimock@1.43.0"
CONNECTIONS = (1, 16)
TOOL = "static"
AT_LEAST = 0.4
PEER_CONFIG = {"mcp": {"path": "/mcp", "tools": [{"name": TOOL, "inputSchema": {"type": "object"}, "result": "ok"}]}}
FAKES = {
    "mcpFakes": {
        "scope": "shared",
        "tools": [{"name": TOOL, "calls": [{"anyArgs": True, "result": "ok", "times": 2_000_000_000}]}],
    }
}


def main() -> int:
    """Measure and print; 0 where both ratios are as wanted and every answered call is in the journal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rounds", type=int, default=9, help="how often each is asked (9)")
    parser.add_argument("--seconds", type=float, default=1.5, help="of one round (1.5)")
    parser.add_argument("--folder", type=Path, default=cache(), help="where the peer is installed")
    options = parser.parse_args()
    found = measure(options.rounds, options.seconds, options.folder)
    print(json.dumps(found, indent=2) if options.json else table(found))
    return 0 if found["ok"] else 1


def cache() -> Path:
    """A folder of the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "passgrid-benchmarks" / "aimock"


CLIENTS: Mapping[str, Callable[[str, str, int, float], Coroutine[Any, Any, tuple[int, float]]]] = {
    "httpx": ask_with_httpx,
    "bare": ask_for,
}
"""What Python's MCP clients are made of, and sockets that cost next to nothing: memory against Postgres, undiluted."""


def measure(rounds: int, seconds: float, folder: Path) -> dict[str, object]:
    """Rates of both, their ratios, and where a call's time goes."""
    with tempfile.TemporaryDirectory(prefix="passgrid bench ") as place, contextlib.ExitStack() as stack:
        peer = stack.enter_context(peer_process(folder, Path(place)))
        fakes = Path(place) / "fakes.json"
        fakes.write_text(json.dumps(FAKES))
        ours = stack.enter_context(own_gateway(str(fakes)))
        rates = {(client, count): Rates() for client in CLIENTS for count in CONNECTIONS}
        answered = 0
        for number in range(rounds):
            for (client, count), found in rates.items():
                for name, url in (("ours", ours), ("peer", peer))[:: 1 if number % 2 else -1]:
                    calls, took = uvloop.run(CLIENTS[client](url, TOOL, count, seconds))
                    getattr(found, name).append(calls / took)
                    answered += calls if name == "ours" else 0
        kept = journalled(ours)
        where = uvloop.run(stages(ours, TOOL, seconds))
        killed = kill_under_load(str(fakes), TOOL, seconds)
    fast = all(found.ratio >= AT_LEAST for found in rates.values())
    return {
        "ok": fast and kept >= answered and killed["in_journal"] >= killed["answered"] > 0,
        "at_least": AT_LEAST,
        **{client: {str(count): rates[client, count].to_json() for count in CONNECTIONS} for client in CLIENTS},
        "answered": answered,
        "in_journal": kept,
        "killed": killed,
        "us_per_call": where,
        "rounds": rounds,
    }


@dataclass
class Rates:
    """Calls a second of both, round by round."""

    ours: list[float] = field(default_factory=list[float])
    peer: list[float] = field(default_factory=list[float])

    @property
    def ratio(self) -> float:
        """The median over rounds."""
        return median(mine / theirs for mine, theirs in zip(self.ours, self.peer, strict=True))

    def to_json(self) -> dict[str, float]:
        """Medians."""
        return {"ratio": round(self.ratio, 3), "ours": round(median(self.ours)), "peer": round(median(self.peer))}


def journalled(url: str) -> int:
    """Calls of the tool in the journal."""
    report = httpx2.get(f"{url}/__aimock/report", timeout=300).json()
    return len(report["served"])


@contextlib.contextmanager
def peer_process(folder: Path, place: Path) -> Generator[str]:
    """The peer with one static tool."""
    program = installed(folder) / "node_modules/@copilotkit/aimock/dist/aimock-cli.js"
    config = place / "peer.json"
    port = free_port()
    config.write_text(json.dumps({"host": "127.0.0.1", "port": port, **PEER_CONFIG}))
    process = subprocess.Popen(["node", str(program), "--config", str(config)], stdout=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(url)
        yield url
    finally:
        process.kill()
        process.wait()


def installed(folder: Path) -> Path:
    """The folder with the peer in it, installed where it is not there yet."""
    if not (folder / "node_modules/@copilotkit/aimock").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder), PEER], check=True
        )
    return folder


def free_port() -> int:
    """A port that nobody listens on now."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(url: str) -> None:
    """Until something answers there."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(httpx2.TransportError):
            httpx2.get(url)
            return
        time.sleep(0.1)
    raise TimeoutError(f"{urlsplit(url).netloc} does not answer")


def table(found: Mapping[str, object]) -> str:
    """The figures for people."""
    return "\n".join(f"{name}: {json.dumps(value)}" for name, value in found.items())


if __name__ == "__main__":
    sys.exit(main())
