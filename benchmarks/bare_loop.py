"""The floor to compare with: pydantic-ai's agent loop and nothing else, in two processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from multiprocessing.synchronize import Barrier

import uvloop
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from workers.host import collect_rarely

TOOLS = 5


async def _model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    step = sum(1 for message in messages for part in message.parts if isinstance(part, ToolReturnPart))
    if step < TOOLS:
        return ModelResponse(parts=[ToolCallPart(f"tool{step}", {"key": f"k{step}"})])
    return ModelResponse(parts=[TextPart("the answer is 42")])


async def _attempt(i: int) -> None:
    agent = Agent(FunctionModel(_model), system_prompt="You look keys up.")

    async def lookup(key: str) -> str:
        """Look a key up."""
        return f"value-of-{key}"

    for n in range(TOOLS):
        agent.tool_plain(name=f"tool{n}")(lookup)
    result = await agent.run(f"question {i}: what is the answer?")
    assert "42" in result.output


async def _many(attempts: int) -> None:
    for i in range(attempts):
        await _attempt(i)


def _process(attempts: int, ready: Barrier) -> None:
    collect_rarely()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_many(5))
        ready.wait()
        runner.run(_many(attempts))


def bare_per_second(attempts: int, processes: int = 2) -> float:
    """Attempts per second of `processes` processes that start together; a fresh agent for each attempt."""
    context = multiprocessing.get_context("fork")
    ready = context.Barrier(processes + 1)
    workers = [context.Process(target=_process, args=(attempts // processes, ready)) for _ in range(processes)]
    for worker in workers:
        worker.start()
    ready.wait()
    started = time.perf_counter()
    for worker in workers:
        worker.join()
    return attempts / (time.perf_counter() - started)
