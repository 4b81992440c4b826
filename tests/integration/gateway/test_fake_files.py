"""Files of one name in one space: what is loaded from each is known by it, and the right one answers."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from api.gateway.gateway import Gateway
from api.gateway.serving import Served, gateway
from passgrid.wire.http import HttpRequest
from tests.integration.conftest import psycopg_url


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two folders, each with a file of the same name and a call of the same id."""
    made = [tmp_path / name for name in ("one", "other")]
    for folder in made:
        folder.mkdir()
        calls = [{"id": "x", "anyArgs": True, "result": folder.name}]
        block = {"scope": {"testId": folder.name}, "tools": [{"name": "where", "calls": calls}]}
        (folder / "shop.json").write_text(json.dumps({"mcpFakes": block}))
    return made


@asynccontextmanager
async def served(database_url: str, *paths: Path) -> AsyncGenerator[Gateway]:
    async with gateway(Served(paths=paths), database_url, psycopg_url(database_url)) as made:
        yield made


async def ids(made: Gateway, test_id: str) -> list[str]:
    """The declared calls of a test, as the control API tells them."""
    path = "/__aimock/mcp/fakes"
    reply = await made.handle(HttpRequest("GET", path, f"testId={test_id}".encode(), ()))
    return [call["id"] for one in json.loads(reply.body)["fakes"] for tool in one["tools"] for call in tool["calls"]]


async def said(made: Gateway, test_id: str) -> tuple[str, str]:
    """What the tool says in a test, and the declared call that the journal names for it."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params: dict[str, Any] = {"name": "where", "arguments": {}, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    named = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "where"}
    headers = tuple((name.encode(), value.encode()) for name, value in {**named, "x-test-id": test_id}.items())
    answer = json.loads((await made.handle(HttpRequest("POST", "/mcp", b"", headers, body))).body)
    journal = await made.handle(HttpRequest("GET", "/__aimock/journal", f"testId={test_id}".encode(), ()))
    return answer["result"]["content"][0]["text"], json.loads(journal.body)[-1]["response"]["mcpFake"]["id"]


async def test_files_of_one_name_are_told_apart_by_their_paths(database_url: str, folders: list[Path]) -> None:
    async with served(database_url, *(folder / "shop.json" for folder in folders)) as made:
        for folder in folders:
            expected = f"{folder}/shop.json:x"
            assert await ids(made, folder.name) == [expected]
            assert await said(made, folder.name) == (folder.name, expected)


async def test_files_below_one_folder_are_told_apart_by_their_paths_in_it(
    database_url: str, folders: list[Path], tmp_path: Path
) -> None:
    async with served(database_url, tmp_path) as made:
        for folder in folders:
            expected = f"{folder.name}/shop.json:x"
            assert await ids(made, folder.name) == [expected]
            assert await said(made, folder.name) == (folder.name, expected)


async def test_folders_of_two_gateways_are_told_apart_and_neither_replaces_the_other(
    database_url: str, folders: list[Path]
) -> None:
    async with served(database_url, folders[0]) as one, served(database_url, folders[1]) as other:
        for made in (one, other):
            assert await ids(made, "one") == ["shop.json:x"]
            assert await ids(made, "other") == ["shop.json@2:x"]
        assert await said(other, "one") == ("one", "shop.json:x")
        assert await said(one, "other") == ("other", "shop.json@2:x")


async def test_when_a_file_goes_what_another_gateway_has_under_its_name_stays(
    database_url: str, folders: list[Path]
) -> None:
    async with served(database_url, folders[1]) as other:
        async with served(database_url, folders[0]):
            pass
        (folders[0] / "shop.json").unlink()
        async with served(database_url, folders[0]) as one:
            assert await ids(one, "one") == []
            assert await ids(one, "other") == ["shop.json:x"]
        assert await said(other, "other") == ("other", "shop.json:x")
