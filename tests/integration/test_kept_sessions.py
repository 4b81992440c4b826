"""Sessions that a worker keeps: stateless servers are shared, stateful ones are started ahead and used once."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from passgrid.failures import ServerLost
from passgrid.redaction import Redactor
from passgrid.server import StdioServer
from passgrid.suite_code import SuiteCode
from passgrid.tools.kept_sessions import WARM, KeptSessions
from passgrid.tools.sessions import Surroundings

SERVER = """
import json, os, sys
calls = 0
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "pid", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "who", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        calls += 1
        result = {"content": [{"type": "text", "text": f"{os.getpid()} {calls} {sys.argv[1]}"}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
"""Answers with its process, how often it was asked, and its private folder; imports nothing, so it starts at once."""


@pytest.fixture
def server(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "server.py").write_text(SERVER)
    return {"command": "python", "args": ["${suite}/server.py", "${private}"]}


def around(folder: Path, **places: Path) -> Surroundings:
    return Surroundings(SuiteCode({}), Redactor(), {"suite": folder, "workspace": None, **places})


async def asked(sessions: KeptSessions, server: StdioServer, given: Surroundings) -> tuple[int, int, str]:
    async with sessions.open("pid", server, given) as client:
        pid, calls, folder = str(await client.direct_call_tool("who", {})).split()
        assert os.path.isdir(folder)  # noqa: ASYNC240
        return int(pid), int(calls), folder


async def test_a_process_of_a_stateful_server_serves_one_attempt_and_the_next_one_waits(
    server: dict[str, Any], tmp_path: Path
) -> None:
    sessions, declared = KeptSessions(), StdioServer.model_validate(server)
    seen = [await asked(sessions, declared, around(tmp_path)) for _ in range(4)]
    assert len({pid for pid, _, _ in seen}) == 4
    assert {calls for _, calls, _ in seen} == {1}
    assert sessions.started == 4 + WARM
    assert not any(map(os.path.exists, (folder for _, _, folder in seen)))
    await sessions.close()


async def test_a_stateless_server_is_shared_until_it_is_lost(server: dict[str, Any], tmp_path: Path) -> None:
    sessions, declared = KeptSessions(), StdioServer.model_validate({**server, "stateless": True})
    seen = await asyncio.gather(*(asked(sessions, declared, around(tmp_path)) for _ in range(5)))
    assert len({pid for pid, _, _ in seen}) == 1
    assert sessions.started == 1
    for error, calls in ((ValueError("its own business"), 6), (ServerLost("gone"), 1)):
        with pytest.raises(type(error)):
            async with sessions.open("pid", declared, around(tmp_path)):
                raise error
        assert (await asked(sessions, declared, around(tmp_path)))[1] == calls
    await sessions.close()


async def test_what_depends_on_the_attempts_own_folder_is_begun_for_it(server: dict[str, Any], tmp_path: Path) -> None:
    sessions, declared = KeptSessions(), StdioServer.model_validate(server)
    await asked(sessions, declared, around(tmp_path, workspace=tmp_path))
    assert sessions.started == 0


async def test_nothing_is_kept_that_nobody_asks_for(server: dict[str, Any], tmp_path: Path) -> None:
    sessions, declared = KeptSessions(idle_s=0.2), StdioServer.model_validate({**server, "stateless": True})
    first = await asked(sessions, declared, around(tmp_path))
    await asyncio.sleep(0.7)
    second = await asked(sessions, declared, around(tmp_path))
    assert first[0] != second[0]
    await sessions.close()


async def test_a_server_that_cannot_start_is_told_to_whoever_asks(tmp_path: Path) -> None:
    sessions, declared = KeptSessions(), StdioServer(command="no-such-command")
    for _ in range(2):
        with pytest.raises(Exception, match="no-such-command"):
            async with sessions.open("gone", declared, around(tmp_path)):
                pass
    await sessions.close()
