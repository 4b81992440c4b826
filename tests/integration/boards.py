"""A server of boards and cards that many share, over Streamable HTTP, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

from fastmcp import Client

SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("boards")
boards, cards, count = {}, {}, 0

def new_id(prefix):
    global count
    count += 1
    return f"{prefix}{count}"

@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def list_boards() -> dict:
    return {"boards": list(boards.values())}

@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def list_cards() -> dict:
    return {"cards": list(cards.values())}

@server.tool()
def create_board(name: str) -> dict:
    board = {"id": new_id("b"), "name": name}
    boards[board["id"]] = board
    return board

@server.tool()
def create_card(board: str, title: str) -> dict:
    card = {"id": new_id("c"), "board": board, "title": title}
    cards[card["id"]] = card
    return card

@server.tool()
def delete_board(id: str) -> str:
    if any(card["board"] == id for card in cards.values()):
        raise ValueError("the board has cards")
    del boards[id]
    return "deleted"

@server.tool()
def delete_card(id: str) -> str:
    del cards[id]
    return "deleted"

server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""

LEDGER: dict[str, Any] = {
    "board": {
        "list": {"tool": "list_boards", "items": "boards"},
        "made_by": {"create_board": "id"},
        "owner": {"path": "name"},
        "delete": {"tool": "delete_board"},
        "after": ["card"],
    },
    "card": {
        "list": {"tool": "list_cards", "items": "cards"},
        "made_by": {"create_card": "id"},
        "owner": {"path": "title"},
        "delete": {"tool": "delete_card"},
    },
}
"""A board cannot be deleted while it has cards."""


class Boards:
    """The server, asked as a person would."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        async with Client(self.url) as client:
            answer: Any = await client.call_tool(tool, arguments)
            return json.loads(answer.content[0].text)

    async def names(self) -> list[str]:
        """Of every board and card there is."""
        boards, cards = await self.ask("list_boards"), await self.ask("list_cards")
        return sorted([one["name"] for one in boards["boards"]] + [one["title"] for one in cards["cards"]])


@contextlib.contextmanager
def boards_server(folder: Path) -> Generator[Boards]:
    """The server on a free port, until the end."""
    file = folder / "boards.py"
    file.write_text(SERVER)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (folder / "boards.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, str(file), str(port)], stdout=log, stderr=log)
    try:
        until = time.monotonic() + 60
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            assert time.monotonic() < until, (folder / "boards.log").read_text()
            time.sleep(0.1)
        yield Boards(f"http://127.0.0.1:{port}/mcp")
    finally:
        process.kill()
        process.wait()
