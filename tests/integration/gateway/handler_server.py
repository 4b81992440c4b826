"""A live server with two handlers; it writes down every call, so that a test sees whether one ran."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer

RAN = Path(sys.argv[1])
server = MCPServer("handlers")


@server.tool()
def get_weather(city: str = "") -> str:
    """A handler of a tool that is faked too."""
    return _ran("get_weather")


@server.tool()
def plain_tool() -> str:
    """A handler of a tool that nobody fakes."""
    return _ran("plain_tool")


def _ran(name: str) -> str:
    with RAN.open("a") as file:
        file.write(f"{name}\n")
    return f"handled {name}"


if __name__ == "__main__":
    server.run("stdio")
