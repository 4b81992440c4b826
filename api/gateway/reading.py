"""What the database says of a test that passed a gateway: its report, and its recording."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from api.gateway.control import seen_calls
from api.gateway.recording import Place, RecordedCall, session_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.redacting import refuse_secrets
from passgrid.fakes.loading import Fakes
from passgrid.fakes.report import FakesReport, report_of
from passgrid.json_values import is_object
from passgrid.library import find_suite, load_prompt, load_suite
from passgrid.redaction import Redactor, secrets_of
from passgrid.warehouse.gateway_loads import JournalRow, evicted_mounts, fakes_of, journal

EVERYTHING = 1_000_000


def report_of_test(connection: sa.Connection, space: str, test_id: str | None, mount: str | None = None) -> FakesReport:
    """How a test went, as the gateways of a space saw it."""
    rows = journal(connection, space, test_id or "", EVERYTHING)
    evicted = bool(evicted_mounts(connection, space, test_id or ""))
    return report_of(fakes_of(connection, space), test_id, seen_calls(rows), evicted=evicted, mount=mount)


def record_session(
    connection: sa.Connection, space: str, test_id: str, suite: str, scenario: str, label: str, prompt: str | None
) -> Path:
    """Write the cassette of a test's session into its suite, as the next sample; returns where.

    Raises `InvalidInput` for a suite or scenario that is not there, `BrokenCassette` where it would hold a secret.
    """
    found = load_suite(find_suite(suite, None))
    chosen = load_prompt(found, prompt)
    folder = CassetteFolder(found.folder)
    sample = folder.recordings(label, chosen.name, scenario)
    fakes = fakes_of(connection, space)
    rows = journal(connection, space, test_id, EVERYTHING)
    calls = [call for row in rows if (call := _call(row, fakes)) is not None]
    cassette = session_cassette(
        connection, space, test_id, Place(scenario, label, chosen.name, sample), calls, _tools(calls, fakes, test_id)
    )
    refuse_secrets(cassette, Redactor(secrets_of(os.environ)))
    folder.write(cassette)
    return folder.path(label, chosen.name, scenario, sample)


def _call(row: JournalRow, fakes: Fakes) -> RecordedCall | None:
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
    return RecordedCall(server_name(row.mount), row.tool, arguments, _plain(result), result.get("isError") is True)


def server_name(mount: str) -> str:
    """The server a mount stands for: its path without `/mcp`."""
    return mount.strip("/").removesuffix("/mcp") or "mcp"


def _plain(result: dict[str, Any]) -> Any:
    """What a tool said, as recordings hold it: structured content, else the text, else the blocks."""
    if "structuredContent" in result:
        return result["structuredContent"]
    texts = [block.get("text") for block in result["content"] if block.get("type") == "text"]
    return "\n".join(texts) if len(texts) == len(result["content"]) else result["content"]


def _tools(calls: list[RecordedCall], fakes: Fakes, test_id: str) -> list[dict[str, Any]]:
    """The tools of the session: the faked ones as they were listed, others as far as their calls tell."""
    found: dict[str, dict[str, Any]] = {}
    for path, mount in fakes.mounts.items():
        for name, tool in mount.tools(test_id, None).items():
            found[name] = {"server": server_name(path), **tool.listed()}
    for call in calls:
        found.setdefault(call.tool, {"server": call.server, "name": call.tool, "inputSchema": {"type": "object"}})
    return list(found.values())
