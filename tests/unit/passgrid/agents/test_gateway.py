"""The private gateway of an attempt: only for who knows its token, and nothing but tools and models."""

from __future__ import annotations

import pytest

from passgrid.agents.gateway import AgentGateway
from passgrid.wire.http import HttpReply, HttpRequest


class Models:
    """Model APIs of a test."""

    def handles(self, path: str) -> bool:
        return path.startswith("/v1/")

    async def handle(self, request: HttpRequest) -> HttpReply:
        return HttpReply(200, b"model")


async def tools(request: HttpRequest) -> HttpReply:
    return HttpReply(200, b"tools")


async def asked(path: str, **headers: str) -> HttpReply:
    sent = tuple((name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items())
    return await AgentGateway("t0ken", {"/mcp": tools}, Models()).handle(HttpRequest("POST", path, b"", sent))


@pytest.mark.parametrize(
    "headers", [{"authorization": "Bearer t0ken"}, {"authorization": "bearer  t0ken"}, {"x_api_key": "t0ken"}]
)
async def test_the_token_opens_tools_and_models(headers: dict[str, str]) -> None:
    assert (await asked("/mcp", **headers)).body == b"tools"
    assert (await asked("/mcp/", **headers)).body == b"tools"
    assert (await asked("/v1/messages", **headers)).body == b"model"
    assert (await asked("/other", **headers)).status == 404


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer other"}, {"authorization": "t0ken"}, {"x_api_key": "\xff"}, {"cookie": "t0ken"}],
)
async def test_without_it_nothing_is_answered(headers: dict[str, str]) -> None:
    assert [(await asked(path, **headers)).status for path in ("/mcp", "/v1/messages", "/other")] == [401] * 3
