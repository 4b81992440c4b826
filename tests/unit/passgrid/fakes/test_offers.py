"""Faked resources and prompts: what clients may ask of them beside reading, in each version of the protocol."""

from __future__ import annotations

from typing import Any

import pytest

from passgrid.fakes.fake_service import FakeService
from passgrid.fakes.loading import CODE, Fakes, load
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.wire.mcp_messages import MODERN_VERSION, Messages
from passgrid.wire.mcp_service import Caller

HANDSHAKE_VERSION = "2025-11-25"
BLOCK = {
    "scope": "shared",
    "resources": [{"uri": "note://a", "text": "A"}],
    "prompts": [{"name": "greet", "messages": [{"role": "user", "content": {"type": "text", "text": "Hi {{who}}"}}]}],
}


async def answer(method: str, params: dict[str, Any], version: str = HANDSHAKE_VERSION) -> Any:
    """The result of one request, or the code of its error."""
    fakes = load(Fakes(), {"mcpFakes": BLOCK}, CODE).fakes

    async def at() -> MountFakes:
        return fakes.mount("/mcp")

    messages = Messages(FakeService("/mcp", at, MemoryState()))
    caller = Caller(version=version, path="/mcp")
    said = await messages.answer(caller, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert said is not None
    return said["result"] if "result" in said else said["error"]["code"]


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
async def test_a_faked_resource_can_be_subscribed_to_where_the_protocol_has_that(method: str) -> None:
    assert await answer(method, {"uri": "note://a"}) == {}
    assert await answer(method, {"uri": "note://b"}) == -32002
    assert await answer(method, {"uri": "note://a"}, MODERN_VERSION) == -32601


async def test_a_faked_prompt_suggests_nothing() -> None:
    def asked(name: str) -> dict[str, Any]:
        return {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": "who", "value": "A"}}

    nothing: Any = {"values": [], "total": 0, "hasMore": False}
    assert (await answer("completion/complete", asked("greet")))["completion"] == nothing
    assert (await answer("completion/complete", asked("greet"), MODERN_VERSION))["completion"] == nothing
    assert await answer("completion/complete", asked("leave")) == -32602
    assert await answer("completion/complete", {"ref": "greet"}) == -32602


async def test_a_resource_that_is_not_there_has_the_code_of_its_protocol() -> None:
    assert await answer("resources/read", {"uri": "note://b"}) == -32002
    assert await answer("resources/read", {"uri": "note://b"}, MODERN_VERSION) == -32602


@pytest.mark.parametrize("method", ["ping", "logging/setLevel"])
async def test_the_stateless_protocol_has_no_ping_and_no_level_of_a_log(method: str) -> None:
    assert await answer(method, {"level": "info"}) == {}
    assert await answer(method, {"level": "info"}, MODERN_VERSION) == -32601
