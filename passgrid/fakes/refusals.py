"""Errors of calls that the fakes do not answer, as a client reads them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from passgrid.fakes.blocks import Entry
from passgrid.json_values import json_type
from passgrid.wire.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from passgrid.wire.json_text import dump
from passgrid.wire.mcp_service import Identity

EXHAUSTED = -31010
EVICTED = -31011
LONGEST_EXTRA = 100_000


def mismatch(
    mount: str, tool: str, who: Identity, received: Any, entries: Sequence[Entry], used: Mapping[str, int]
) -> RpcError:
    """No declared call matches."""
    closest = min(entries, key=lambda entry: entry.matcher.distance(received), default=None)
    difference = None if closest is None else closest.matcher.difference(received)
    declared = [
        {"id": entry.entry_id, **entry.matcher.shown(), "consumed": used.get(entry.entry_id, 0) >= entry.times}
        for entry in entries
    ]
    message = f"No declared call of {tool} has these arguments: {difference}"
    extra = {"received": received, "declared": declared, "firstDifference": difference}
    return _refusal(INVALID_PARAMS, "MCP_FAKE_MISMATCH", message, mount, tool, who, extra)


def exhausted(mount: str, tool: str, who: Identity, received: Any, matching: Sequence[Entry]) -> RpcError:
    """Every declared call that matches has been used."""
    ids = [entry.entry_id for entry in matching]
    message = f"All {len(ids)} declared calls of {tool} with these arguments are used up: {', '.join(ids)}"
    extra = {"received": received, "matchingDeclared": len(ids), "matchingConsumed": len(ids), "matchingIds": ids}
    return _refusal(EXHAUSTED, "MCP_FAKE_EXHAUSTED", message, mount, tool, who, extra)


def not_declared(mount: str, tool: str, who: Identity, declared: Sequence[str]) -> RpcError:
    """Undeclared tools are denied, and this is one."""
    message = f"Unknown tool: {tool}. Undeclared tools are denied here; declared are: {', '.join(declared) or 'none'}"
    extra = {"declaredTools": list(declared)}
    return _refusal(INVALID_PARAMS, "MCP_FAKE_NOT_DECLARED", message, mount, tool, who, extra)


def evicted(mount: str, tool: str, who: Identity, cap: int) -> RpcError:
    """The state of this test was given up for newer ones."""
    newer = f"{cap} newer tests have state on {mount}; reset, or raise the cap"
    message = f"The state of test {who.test_id!r} was evicted: {newer}"
    return _refusal(EVICTED, "MCP_FAKE_EVICTED", message, mount, tool, who, {"cap": cap})


def internal_error(mount: str, tool: str, who: Identity, error: Exception) -> RpcError:
    """Something broke while answering."""
    text = f"{type(error).__name__}: {error}"[:500]
    return _refusal(
        INTERNAL_ERROR,
        "MCP_FAKE_INTERNAL_ERROR",
        f"The fake of {tool} broke: {text}",
        mount,
        tool,
        who,
        {"error": text},
    )


def unknown_tool(tool: str) -> RpcError:
    """Nobody answers calls of it."""
    return RpcError(INVALID_PARAMS, f"Unknown tool: {tool}")


def check_name(params: Mapping[str, Any]) -> str:
    """The tool's name; it is looked at before any fake. Raises `RpcError`."""
    name = params.get("name")
    if name is None or name == "":
        raise RpcError(INVALID_PARAMS, "Missing tool name")
    if not isinstance(name, str):
        raise RpcError(INVALID_PARAMS, f"Invalid tool name: expected a string, got {json_type(name)}")
    return name


def log_line(kind: str, mount: str, tool: str, who: Identity) -> str:
    """The line in the log of a call that was not answered."""
    asked = [f"test {who.test_id}" if who.test_id is not None else "no test id"]
    asked += [f"context {who.context}"] if who.context is not None else []
    return f"MCP-FAKE: {kind} for tools/call {json.dumps(tool)[1:-1]} ({', '.join(asked)}, {mount})"


def _refusal(
    rpc: int, code: str, message: str, mount: str, tool: str, who: Identity, extra: Mapping[str, Any]
) -> RpcError:
    kept = {name: _bounded(value) for name, value in extra.items()}
    body = {"code": code, "tool": tool, "testId": who.test_id, "context": who.context, "mount": mount, **kept}
    return RpcError(rpc, message, {"aimock": body})


def _bounded(value: Any) -> Any:
    """The value, or the beginning of its JSON where it is huge: a refusal is no way to fill a connection's buffer."""
    text = dump(value)
    return value if len(text) <= LONGEST_EXTRA else text[:LONGEST_EXTRA].decode(errors="ignore") + "…"
