"""A shelf of articles in memory: counted and filled over MCP, afresh for each attempt."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError


def make() -> MCPServer:
    """A server with a shelf of its own."""
    server = MCPServer("shelf")
    shelf = {"M8 bolt": 420, "M8 nut": 40}

    @server.tool()
    def count(article: str) -> int:
        """How many pieces of an article there are."""
        if article not in shelf:
            raise ToolError(f"no article {article}; there are: {', '.join(shelf)}")
        return shelf[article]

    @server.tool()
    def order(article: str, pieces: int) -> dict[str, int]:
        """Order more pieces of an article."""
        if article not in shelf or pieces < 1:
            raise ToolError("order at least one piece of an article that there is")
        shelf[article] += pieces
        return {"ordered": pieces, "there": shelf[article]}

    return server
