"""Scripted models: seeded policies written in Python. They count as live and are always labelled as scripted."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pydantic_ai.messages import ModelMessage, ModelResponse, ModelResponsePart, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from passgrid.messages import transcript_of
from passgrid.transcript import Message


@dataclass(frozen=True, slots=True)
class Call:
    """A policy asks for a tool."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class PolicyTurn:
    """What a policy sees when it is its turn."""

    scenario: str
    system: str
    messages: list[Message]
    """The conversation so far, as `passgrid.transcript` describes it."""
    tools: tuple[str, ...]
    rng: random.Random
    """Seeded by the attempt's id: the same attempt always goes the same way."""
    memory: dict[str, Any]
    """The policy's own notes, kept over the turns of one attempt."""

    @property
    def results(self) -> list[Any]:
        """The content of every tool answer so far."""
        return [message["content"] for message in self.messages if message["role"] == "tool"]


Said: TypeAlias = str | Call | list[Call]
"""What a policy says: a text, or one or several tools it asks for at once."""

Policy: TypeAlias = Callable[[PolicyTurn], Said | Awaitable[Said]]
"""A scripted model, written as a function or as a coroutine function."""

POLICY_MARK = "__passgrid_policy__"
POLICIES_FILE = "policies.py"


def policy(name: str) -> Callable[[Policy], Policy]:
    """Mark a function of a suite's `policies.py` as the model `scripted:<name>`."""

    def mark(function: Policy) -> Policy:
        setattr(function, POLICY_MARK, name)
        return function

    return mark


class ScriptedModel(Model):
    """Runs a policy as a model."""

    def __init__(self, name: str, policy_function: Policy, scenario: str, seed: str) -> None:
        super().__init__()
        self._name = name
        self._policy = policy_function
        self._scenario = scenario
        self._rng = random.Random(seed)
        self._memory: dict[str, Any] = {}
        self._calls = 0

    @property
    def model_name(self) -> str:
        """`scripted:<name>`: never to be taken for a real model."""
        return f"scripted:{self._name}"

    @property
    def system(self) -> str:
        """The provider: none, it is a script."""
        return "scripted"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """What the policy says or asks for."""
        transcript = transcript_of(messages)
        turn = PolicyTurn(
            scenario=self._scenario,
            system=next((message["content"] for message in transcript if message["role"] == "system"), ""),
            messages=transcript,
            tools=tuple(tool.name for tool in model_request_parameters.function_tools),
            rng=self._rng,
            memory=self._memory,
        )
        answer = self._policy(turn)
        said = await answer if isinstance(answer, Awaitable) else answer
        parts: list[ModelResponsePart]
        if isinstance(said, str):
            parts = [TextPart(said)]
        else:
            parts = [self._call(call) for call in (said if isinstance(said, list) else [said])]
        return ModelResponse(parts=parts, model_name=self.model_name)

    def _call(self, call: Call) -> ToolCallPart:
        self._calls += 1
        return ToolCallPart(call.tool, call.arguments, tool_call_id=f"call_{self._calls}")
