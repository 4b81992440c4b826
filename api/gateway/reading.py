"""What the database says of a test that passed a gateway: its report, and its recording."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from api.gateway.control import seen_calls
from api.gateway.recording import Place, RecordedCall, session_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.redacting import refuse_secrets
from passgrid.fakes.fake_service import LISTED
from passgrid.fakes.loading import Fakes
from passgrid.fakes.report import FakesReport, report_of
from passgrid.json_values import is_object
from passgrid.library import Suite, find_suite, load_prompt, load_suite
from passgrid.parts import NAME_PATTERN
from passgrid.problems import InvalidInput, Problem
from passgrid.redaction import Redactor, secrets_of
from passgrid.server import mounts_of
from passgrid.warehouse.gateway_loads import JournalRow, evicted_mounts, fakes_of, journal
from passgrid.warehouse.gateway_models import turns_of

EVERYTHING = 1_000_000


def report_of_test(connection: sa.Connection, space: str, test_id: str | None, mount: str | None = None) -> FakesReport:
    """How a test went, as the gateways of a space saw it."""
    rows = journal(connection, space, test_id or "", EVERYTHING, since_reset=True)
    evicted = bool(evicted_mounts(connection, space, test_id or ""))
    return report_of(fakes_of(connection, space), test_id, seen_calls(rows), evicted=evicted, mount=mount)


def record_session(
    connection: sa.Connection, space: str, test_id: str, suite: str, scenario: str, label: str, prompt: str | None
) -> Path:
    """Write the cassette of a test's session into its suite, as the next sample; returns where.

    Raises `InvalidInput` for a suite, scenario, prompt or label that cannot be, and where nothing of the test passed;
    `BrokenCassette` where it would hold a secret.
    """
    found = load_suite(find_suite(suite, None))
    servers = _servers_by_mount(found, scenario, label)
    chosen = load_prompt(found, prompt)
    folder = CassetteFolder(found.folder)
    place = Place(scenario, label, chosen.name, folder.recordings(label, chosen.name, scenario))
    fakes, rows = fakes_of(connection, space), journal(connection, space, test_id, EVERYTHING)
    calls = [call for row in rows if (call := _call(row, fakes, servers)) is not None]
    turns = turns_of(connection, space, test_id)
    if not calls and not any(turn.answer for turn in turns):
        raise InvalidInput(
            [Problem(f"test {test_id}", "nothing of it passed", "passgrid gateway journal shows what did")]
        )
    cassette = session_cassette(place, turns, calls, _tools(rows, calls, servers))
    refuse_secrets(cassette, Redactor(secrets_of(os.environ)))
    folder.write(cassette)
    return folder.path(label, chosen.name, scenario, place.sample)


def _servers_by_mount(suite: Suite, scenario: str, label: str) -> Mapping[str, str]:
    """The names of the scenario's servers, by mount. Raises `InvalidInput`."""
    declared = next((one for one in suite.scenarios if one.name == scenario), None)
    problems: list[Problem] = []
    if declared is None:
        names = ", ".join(one.name for one in suite.scenarios)
        problems.append(
            Problem(f"--scenario {scenario}", f"suite {suite.name} has none of this name", f"it has {names}")
        )
    if not re.fullmatch(NAME_PATTERN, label):
        problems.append(Problem(f"--label {label}", "may hold letters, digits, dots, dashes and underscores"))
    if declared is None or problems:
        raise InvalidInput(problems)
    return {mount: name for name, mount in mounts_of(declared.mcp_servers).items()}


def _call(row: JournalRow, fakes: Fakes, servers: Mapping[str, str]) -> RecordedCall | None:
    """A call that was answered, with its answer; None for any other message."""
    if row.tool is None:
        return None
    result: Any = row.result
    if row.entry_id is not None:
        entry = fakes.mount(row.mount).by_id.get(row.entry_id)
        result = None if entry is None else entry.result
    if not is_object(result) or "content" not in result:
        return None
    params: Any = row.body.get("params") if is_object(row.body) else None
    arguments: Any = params.get("arguments", {}) if is_object(params) else {}
    server = _server(row.mount, servers)
    return RecordedCall(server, row.tool, arguments, _plain(result), result.get("isError") is True)


def _server(mount: str, servers: Mapping[str, str]) -> str:
    """The server a mount stands for: the scenario's, else the mount's own path without `/mcp`."""
    return servers.get(mount) or mount.strip("/").removesuffix("/mcp") or "mcp"


def _plain(result: dict[str, Any]) -> Any:
    """What a tool said, as recordings hold it: structured content, else the text, else the blocks."""
    structured: Any = result.get("structuredContent")
    if is_object(structured):
        return structured["result"] if set(structured) == {"result"} else structured
    texts = [block.get("text") for block in result["content"] if block.get("type") == "text"]
    return "\n".join(texts) if len(texts) == len(result["content"]) else result["content"]


def _tools(rows: list[JournalRow], calls: list[RecordedCall], servers: Mapping[str, str]) -> list[dict[str, Any]]:
    """The tools as they were listed to the client; those it called without a list, as far as their calls tell."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.answered == LISTED and is_object(row.result):
            for tool in row.result.get("tools", ()):
                found[tool["name"]] = {"server": _server(row.mount, servers), **tool}
    for call in calls:
        found.setdefault(call.tool, {"server": call.server, "name": call.tool, "inputSchema": {"type": "object"}})
    return list(found.values())
