"""The gateway mounted in the API: behind its tokens, and one with the gateways of the command line."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from api.gateway.tokens import make_token
from passgrid.access import Role
from passgrid.warehouse.gateway_loads import open_space
from tests.integration.api.callers import As

FAKES = {"mcpFakes": {"scope": "shared", "tools": [{"name": "t", "calls": [{"anyArgs": True, "result": "faked"}]}]}}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
CALL: dict[str, Any] = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {}, "_meta": META},
}  # fmt: skip
HEADERS = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "t"}


def test_fakes_are_served_below_the_api_to_who_may_submit(as_role: As) -> None:
    submitter = as_role(Role.SUBMIT)
    assert submitter.post("/gateway/__aimock/fixtures", json=FAKES).json()["mcpFakesAdded"] == 1
    answer = submitter.post("/gateway/mcp", json=CALL, headers=HEADERS)
    assert answer.json()["result"]["content"][0]["text"] == "faked"
    again = submitter.post("/gateway/mcp", json=CALL, headers=HEADERS)
    assert again.json()["error"]["data"]["aimock"]["code"] == "MCP_FAKE_EXHAUSTED"
    reader = as_role(Role.READ)
    assert reader.post("/gateway/mcp", json=CALL, headers=HEADERS).status_code == 403


def test_a_token_of_one_test_speaks_for_it_and_reads_no_other(as_role: As, engine: sa.Engine) -> None:
    client = as_role(Role.SUBMIT)
    client.post("/gateway/__aimock/fixtures", json=FAKES)
    with engine.connect() as connection:
        key = open_space(connection, "default")
    mine = {"x-passgrid-token": make_token(key, "mine")}
    answer = client.post("/gateway/mcp", json=CALL, headers={**HEADERS, **mine, "x-test-id": "somebody else's"})
    assert answer.json()["result"]["content"][0]["text"] == "faked"
    journal = client.get("/gateway/__aimock/journal", headers=mine).json()
    assert [row["testId"] for row in journal] == ["mine"]
    assert client.get("/gateway/__aimock/journal?testId=other", headers=mine).status_code == 403
    assert client.post("/gateway/__aimock/reset", headers=mine).status_code == 403
    forged = {"x-passgrid-token": make_token(b"another key", "mine")}
    assert client.get("/gateway/__aimock/journal", headers=forged).status_code == 401
