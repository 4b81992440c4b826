"""Sixty planted secrets of twelve kinds, in every place a session can carry them: none is stored, logged or shown."""

from __future__ import annotations

import base64
import io
import json
import logging
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from passgrid.attempt import AttemptResult, run
from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import write_cassette
from passgrid.library import load_prompt, load_suite
from passgrid.log_lines import configure_logging
from passgrid.matrix import Mode
from passgrid.model_reference import parse_model_reference
from passgrid.warehouse import blobs
from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.runs import claimed, finish, rows, submitted

PLACES = ("argument", "result", "error", "stderr", "text")

KINDS: tuple[str, ...] = (
    "sk-ant-api03-{:0>24}",
    "sk-proj-{:0>24}",
    "sk_live_{:0>20}",
    "ghp_{:0>36}",
    "glpat-{:0>20}",
    "xoxb-{:0>12}-abcdef",
    "AKIA{:0>16}",
    "AIza{:0>35}",
    "npm_{:0>36}",
    "eyJhbGciOi{0:0>8}.eyJzdWIiOi{0:0>8}.c2lnbmF0dXJl{0:0>8}",
    "-----BEGIN PRIVATE KEY-----\nMIIE{:0>40}\n-----END PRIVATE KEY-----",
    "known-by-value-{:0>10}",
)
"""Twelve kinds: eleven that show what they are, and one that is known because the environment names it."""

SERVER = """
import os, sys
from mcp.server import MCPServer

server = MCPServer("leaky")

@server.tool()
def leak(text: str, fail: bool = False) -> str:
    print("stderr says", os.environ["STDERR_SECRETS"], file=sys.stderr, flush=True)
    if fail:
        raise ValueError("error says " + os.environ["ERROR_SECRETS"])
    return "result says " + os.environ["RESULT_SECRETS"]

server.run("stdio")
"""

POLICIES = """
import json, os
from passgrid import Call, policy

@policy("leaky")
def leaky(turn):
    if not turn.results:
        return [Call("leak", {"text": os.environ["ARGUMENT_SECRETS"]}), Call("leak", {"text": "x", "fail": True})]
    return "text says " + os.environ["TEXT_SECRETS"]
"""


def planted() -> dict[str, list[str]]:
    """Five secrets of each of twelve kinds, by place."""
    return {
        place: [kind.format(100 * i + j) for j, kind in enumerate(KINDS)] for i, place in enumerate(PLACES, start=1)
    }


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All sixty; the environment carries them into the session, and names those known by value."""
    by_place = planted()
    for place, values in by_place.items():
        monkeypatch.setenv(f"{place.upper()}_SECRETS", " | ".join(values))
        monkeypatch.setenv(f"{place.upper()}_API_KEY", values[-1])
    every = [secret for values in by_place.values() for secret in values]
    assert len(every) == len(set(every)) == 60
    return every


def order(root: Path) -> AttemptOrder:
    names = ("RESULT_SECRETS", "ERROR_SECRETS", "STDERR_SECRETS")
    server = {"command": "python", "args": ["${suite}/leaky.py"], "env": {name: f"${{env:{name}}}" for name in names}}
    folder = write_scripted_suite(root, "leaky", POLICIES, {"leak": {}}, mcpServers={"leaky": server})
    (folder / "leaky.py").write_text(SERVER)
    suite = load_suite(folder)
    return AttemptOrder(
        attempt_id="4" * 32,
        scenario=suite.scenarios[0],
        prompt=load_prompt(suite, None),
        model=parse_model_reference("scripted:leaky"),
        mode=Mode.LIVE,
        sample=0,
        suite_files=suite.files,
        suite_folder=folder,
        record=True,
    )


def leaks(text: str, secrets: list[str]) -> list[str]:
    """Secrets that stand in a text, plainly, percent-encoded, escaped in JSON or in base64."""
    forms = {
        secret: (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode())
        for secret in secrets
    }
    return [secret for secret, written in forms.items() if any(form in text for form in written)]


async def test_no_secret_reaches_a_recording_a_table_a_log_line_or_a_message(
    secrets: list[str], engine: sa.Engine, tmp_path: Path
) -> None:
    lines = io.StringIO()
    before = logging.getLogger().handlers[:]
    configure_logging(stream=lines)
    try:
        result = await run(order(tmp_path))
    finally:
        logging.getLogger().handlers[:] = before
    assert len(result.tool_calls) == 2, result.outcome
    assert "redacted" in lines.getvalue(), "the server's stderr is logged, without its secrets"
    assert leaks(lines.getvalue(), secrets) == []
    assert result.recording is not None
    assert leaks(write_cassette(result.recording).decode(), secrets) == []
    assert leaks(stored(engine, tmp_path, result), secrets) == []
    assert "[redacted:" in result.messages[-1]["content"]


def stored(engine: sa.Engine, root: Path, result: AttemptResult) -> str:
    """Everything Postgres holds after such a result was written."""
    submitted(engine, root / "stored", k=1)
    (one,) = claimed(engine)
    finish(engine, [replace(one, live=True)], result)
    texts: list[str] = []
    for (table,) in rows(engine, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"):
        for row in rows(engine, f"SELECT * FROM {table}"):  # noqa: S608 - names of tables
            for value in row:
                binary = isinstance(value, bytes)
                texts.append(blobs.decompress(value).decode(errors="replace") if binary else str(value))
    return "\n".join(texts)
