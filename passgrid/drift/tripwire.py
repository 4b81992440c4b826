"""The tool surface a suite expects: pinned in a file, so that a change of what a server lists shows in a commit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from passgrid.drift.findings import Finding
from passgrid.drift.surface import Tools, surface_findings
from passgrid.identity import value_hash
from passgrid.json_values import is_array
from passgrid.problems import InvalidInput, Problem

SURFACE_FILE = "surface.json"


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool of a surface, and how a run used it."""

    server: str
    tool: str
    reads: bool
    """By the server's own annotations; a tool that says nothing is treated as writing."""
    calls: int
    scenarios: int
    """Scenarios in which it was called."""


def fingerprint(tools: Tools) -> str:
    """Of everything that is listed, whatever the order."""
    return value_hash(_sorted(tools))[:16]


def uses(tools: Tools, calls: Mapping[str, tuple[int, int]]) -> list[ToolUse]:
    """Every listed tool with its calls and the number of scenarios they are in; tools nobody called count 0."""
    return [
        ToolUse(str(tool.get("server", "")), tool["name"], _reads(tool), *calls.get(tool["name"], (0, 0)))
        for tool in _sorted(tools)
    ]


def pinned(suite: Path) -> list[dict[str, Any]] | None:
    """The surface a suite expects; None where it pins none. Raises `InvalidInput` for a file that is none."""
    path = suite / SURFACE_FILE
    try:
        found: Any = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, orjson.JSONDecodeError) as error:
        raise InvalidInput([Problem(str(path), f"cannot be read: {error}", "pin it again: --pin")]) from None
    if not is_array(found):
        raise InvalidInput([Problem(str(path), "is no list of tools", "pin it again: --pin")])
    return list(found)


def pin(suite: Path, tools: Tools) -> Path:
    """Write the surface a suite expects from now on: one tool a line, so that a change reads well in a commit."""
    path = suite / SURFACE_FILE
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    lines = [orjson.dumps(tool, option=orjson.OPT_SORT_KEYS).decode() for tool in _sorted(tools)]
    partial.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    os.replace(partial, path)
    return path


def tripped(expected: Tools, listed: Tools) -> list[Finding]:
    """What is not as it was pinned; any difference counts, breaking or not."""
    return surface_findings(expected, listed) if fingerprint(expected) != fingerprint(listed) else []


def merged(surfaces: Iterable[Tools]) -> list[dict[str, Any]]:
    """All tools of several surfaces; the first to list one decides how it looks."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for tools in surfaces:
        for tool in tools:
            found.setdefault((str(tool.get("server", "")), tool["name"]), dict(tool))
    return _sorted(list(found.values()))


def _sorted(tools: Tools) -> list[dict[str, Any]]:
    return sorted((dict(tool) for tool in tools), key=lambda tool: (str(tool.get("server", "")), tool["name"]))


def _reads(tool: Mapping[str, Any]) -> bool:
    annotations: Any = tool.get("annotations") or {}
    return annotations.get("readOnlyHint") is True
