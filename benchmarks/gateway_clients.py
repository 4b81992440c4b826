"""Real MCP clients against the gateway: a table of who can do what.

    PASSGRID_MCP_SERVERS=… python benchmarks/gateway_clients.py [--url http://127.0.0.1:4010] [--json]

Starts a gateway of its own unless one is named. What is not installed is named with the command that brings it. Exits
with 1 unless every operation of every client that is there passes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

PASS, NOT_SPOKEN = "pass", "not in the protocol"
SECONDS = 60


def main() -> None:
    """Run every operation and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--url", help="a running gateway")
    arguments = parser.parse_args()
    from benchmarks.gateway_process import own_gateway

    with contextlib.nullcontext(arguments.url) if arguments.url else own_gateway() as url:
        rows = asyncio.run(all_rows(url.rstrip("/")))
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(rows)
    if any(cell not in {PASS, NOT_SPOKEN} for row in rows for cell in row.get("operations", {}).values()):
        raise SystemExit(1)


def print_table(rows: list[dict[str, Any]]) -> None:
    """An operation a line, a client a column; below it what failed, and what is missing."""
    shown = [row for row in rows if "missing" not in row]
    widths = [max(len(row["client"]), 6) for row in shown]
    titles = [row["client"] for row in shown]
    names = list(shown[0]["operations"]) if shown else []
    first = max(map(len, names), default=0)
    signs = {PASS: "pass", NOT_SPOKEN: "-"}
    for name, cells in [("", titles), *((name, [row["operations"][name] for row in shown]) for name in names)]:
        line = [signs.get(cell, cell if name == "" else "FAIL") for cell in cells]
        print("  ".join([f"{name:<{first}}", *(f"{one:<{width}}" for one, width in zip(line, widths, strict=True))]))
    for row in shown:
        for name, cell in row["operations"].items():
            if cell not in signs:
                print(f"{row['client']}, {name}: {cell}")
    for row in rows:
        if "missing" in row:
            print(f"not run: {row['client']}: {row['missing']}")


async def all_rows(url: str) -> list[dict[str, Any]]:
    """One row a client."""
    from benchmarks.gateway_connections import CLIENTS, ClientMissing

    rows: list[dict[str, Any]] = []
    for name in CLIENTS:
        try:
            rows.append(await row_of(name, url))
        except ClientMissing as missing:
            rows.append({"client": name, "missing": str(missing)})
    return rows


async def row_of(name: str, url: str) -> dict[str, Any]:
    """Every operation of one client."""
    import httpx2

    from benchmarks.gateway_connections import CLIENTS
    from benchmarks.gateway_operations import OPERATIONS, Trial

    connect, speaks = CLIENTS[name]
    cells: dict[str, str] = {}
    async with httpx2.AsyncClient(timeout=30) as control:
        for operation in OPERATIONS:
            trial = Trial(url, f"{name}: {operation}", connect, speaks, control)
            cells[operation] = await cell_of(trial, operation)
    return {"client": name, "protocol": speaks, "operations": cells}


async def cell_of(trial: Any, operation: str) -> str:
    """How one operation went."""
    from benchmarks.gateway_connections import ClientMissing, NotSpoken
    from benchmarks.gateway_operations import OPERATIONS

    await trial.load()
    try:
        async with asyncio.timeout(SECONDS):
            await OPERATIONS[operation](trial)
    except Exception as error:  # noqa: BLE001 - whatever a client raises is a cell of the table
        cause = _first(error)
        if isinstance(cause, ClientMissing):
            raise cause from None
        if isinstance(cause, NotSpoken):
            return NOT_SPOKEN
        return " ".join(f"{type(cause).__name__}: {cause}".split())[:300]
    return PASS


def _first(error: BaseException) -> BaseException:
    """What happened; clients wrap it in the groups of their tasks."""
    inner: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _first(inner[0]) if inner else error


if __name__ == "__main__":
    main()
