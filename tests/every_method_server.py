"""An MCP server that uses every method of the protocol, in both eras; also `python every_method_server.py [PORT]`."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, MCPServer, Resolve, Sample
from mcp_types import Completion, CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel


class Seat(BaseModel):
    row: int
    window: bool


def which_seat(ctx: Context[Any, Any]) -> Elicit[Seat]:
    return Elicit("Which seat?", Seat)


def a_rhyme(word: str) -> Sample:
    question = SamplingMessage(role="user", content=TextContent(type="text", text=f"A rhyme for {word}?"))
    return Sample([question], max_tokens=20)


def make_server() -> MCPServer:
    """A fresh one: it keeps a list of notes."""
    server = MCPServer("every-method", version="1.0.0", instructions="Use everything.")
    notes: list[str] = []

    @server.tool()
    def add(a: float, b: float) -> float:
        return a + b

    @server.tool()
    def note(text: str) -> list[str]:
        notes.append(text)
        return list(notes)

    @server.tool()
    def broken() -> str:
        raise ValueError("this tool never works")

    @server.tool()
    async def slowly(steps: int, ctx: Context[Any, Any]) -> str:
        for step in range(steps):
            await ctx.report_progress(step + 1, steps, f"step {step + 1}")
            await ctx.info(f"did step {step + 1}")  # pyright: ignore[reportDeprecated]
        return f"{steps} steps"

    @server.tool()
    async def never() -> str:
        await anyio.sleep_forever()
        return "never"

    @server.tool()
    async def after(seconds: float, word: str) -> str:
        await anyio.sleep(seconds)
        return word

    @server.tool()
    def book(seat: Annotated[ElicitationResult[Seat], Resolve(which_seat)]) -> str:
        return f"row {seat.data.row}" if isinstance(seat, AcceptedElicitation) else f"no seat: {seat.action}"

    @server.tool()
    def rhyme(word: str, answer: Annotated[CreateMessageResult, Resolve(a_rhyme)]) -> str:
        return f"{word}, {answer.content.text if isinstance(answer.content, TextContent) else '?'}"

    _add_resources_and_prompts(server)
    return server


def _add_resources_and_prompts(server: MCPServer) -> None:
    @server.resource("notes://greeting")
    def greeting() -> str:
        return "hello Zoë ☃"

    @server.resource("notes://{name}/text")
    def named(name: str) -> str:
        return f"the text of {name}"

    @server.prompt()
    def review(code: str) -> str:
        return f"Review this: {code}"

    @server.completion()
    async def complete(ref: Any, argument: Any, context: Any) -> Completion:
        return Completion(values=[word for word in ("python", "perl") if word.startswith(argument.value)])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        make_server().run("streamable-http", port=int(sys.argv[1]))
    else:
        make_server().run()
