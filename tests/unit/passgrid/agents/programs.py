"""Small agents of every kind, as programs, and orders for attempts that run them."""

from __future__ import annotations

from typing import Any

from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import Cassette
from tests.unit.passgrid.suites import replay_order, scenario
from workers.serving import serve_gateway

CLIENT = """
import json, os, sys, urllib.error, urllib.request

def post(url, body, **headers):
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream",
               "authorization": "Bearer " + os.environ["PASSGRID_TOKEN"], **headers}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=20) as reply:
        return dict(reply.headers), json.loads(reply.read() or b"null")

SESSION = {}

def rpc(method, params, **more):
    body = {"jsonrpc": "2.0", "method": method, "params": params, **more}
    return post(os.environ["PASSGRID_MCP_URL"], body, **SESSION)

def connect():
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    headers, _ = rpc("initialize", hello, id=1)
    SESSION["mcp-session-id"] = next(value for name, value in headers.items() if name.lower() == "mcp-session-id")
    rpc("notifications/initialized", {})
    return rpc("tools/list", {}, id=2)[1]["result"]["tools"]

def call(name, arguments):
    answer = rpc("tools/call", {"name": name, "arguments": arguments}, id=3)[1]
    return answer.get("result") or {"isError": True, "content": [{"type": "text", "text": answer["error"]["message"]}]}

def ask(messages, tools):
    functions = [{"type": "function", "function": {"name": tool["name"], "description": tool.get("description") or "",
                                                   "parameters": tool["inputSchema"]}} for tool in tools]
    body = {"model": os.environ["PASSGRID_MODEL"], "messages": messages, "tools": functions}
    return post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)[1]["choices"][0]["message"]
"""
"""Functions for agents in Python without any library."""

LOOP = (
    CLIENT
    + """
tools = connect()
messages = [{"role": "system", "content": os.environ["PASSGRID_SYSTEM"]}, {"role": "user", "content": sys.stdin.read()}]
while (turn := ask(messages, tools)).get("tool_calls"):
    messages.append(turn)
    for one in turn["tool_calls"]:
        result = call(one["function"]["name"], json.loads(one["function"]["arguments"]))
        text = result["content"][0]["text"]
        messages.append({"role": "tool", "tool_call_id": one["id"], "content": text})
print(turn["content"])
"""
)
"""An agent with a model: the usual loop."""


def agent(program: str, **changes: Any) -> dict[str, Any]:
    """The declaration of a Python program."""
    return {"command": "python", "args": ["-c", program], **changes}


def shell(script: str, **changes: Any) -> dict[str, Any]:
    """The declaration of a shell script."""
    return {"command": "sh", "args": ["-c", script], **changes}


def command_order(declared: dict[str, Any], recorded: Cassette | None = None, **changes: Any) -> AttemptOrder:
    """A replay of the usual recording by a program. limits, checks and the like are changes of the scenario."""
    in_scenario = {name: changes.pop(name) for name in ("limits", "checks", "tools", "mcpServers") if name in changes}
    return replay_order(recorded, scenario(agent=declared, **in_scenario), serving=serve_gateway, **changes)
