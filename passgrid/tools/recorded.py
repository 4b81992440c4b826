"""Tools that answer from recordings: what was recorded for a call in the state the session is in, or a loud miss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import orjson
from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ToolCallPart, UserPromptPart
from pydantic_ai.tools import ToolDefinition

from passgrid.cassettes.calls import RecordedCall, overlapping_calls
from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.matching import NO_RULES, MatchingRules
from passgrid.cassettes.nearest import miss_text
from passgrid.cassettes.session import Call, NotRecorded, RecordedSession, Served
from passgrid.cassettes.state_graph import StateGraph
from passgrid.endings import ReplayMiss
from passgrid.messages import call_arguments, user_content
from passgrid.tools.way import AnswerMark, OfferedTool

MARKS = {"exact": "recorded", "state": "recorded_state", "semantic": "recorded_semantic"}
"""What the journal says of an answer, by how it was found."""


class RecordedTools:
    """The tool side of recordings. Opens nothing, starts nothing: what is not recorded is a loud miss.

    The calls of one model turn overlap and are answered together. As long as they are those of the first recording,
    one after the other, nothing but that recording is looked at.
    """

    answered = "recorded"

    def __init__(
        self, cassettes: Sequence[Cassette], rules: MatchingRules = NO_RULES, *, whole_turns: bool = True
    ) -> None:
        """cassettes: resolved recordings of one scenario; the first is preferred.

        whole_turns: every call of a model turn is made; an agent program may answer some of them itself.
        """
        self._whole_turns = whole_turns
        self._cassettes = cassettes
        self._rules = rules
        self._offered = _all_offered(cassettes)
        self._track = [list(calls) for calls in overlapping_calls(cassettes[0])]
        self._asked: list[Sequence[Call]] = []
        self._session: RecordedSession | None = None
        self._answers: dict[str, Served | ReplayMiss] = {}
        self._marks: dict[str, AnswerMark] = {}
        self._turn: ModelResponse | None = None

    async def offered(self, ctx: RunContext[Any]) -> Sequence[OfferedTool]:
        """The tools that were listed when the recordings were made."""
        return self._offered

    async def call(self, tool: OfferedTool, arguments: dict[str, Any], ctx: RunContext[Any]) -> Any:
        """The recorded answer. Raises `ReplayMiss` where there is none."""
        call_id = ctx.tool_call_id or ""
        turn = _last_turn(ctx.messages)
        if turn is not None and turn is not self._turn:
            self._turn = turn
            self._answer_turn(turn, ctx.messages)
        if call_id not in self._answers:
            self._answer([Call(tool.definition.name, arguments)], [call_id], ctx.messages)
        answer = self._answers[call_id]
        if isinstance(answer, ReplayMiss):
            raise answer
        self._marks[call_id] = AnswerMark(MARKS[answer.how], answer.score)
        if answer.error is not None:
            raise ToolFailed(answer.error)
        return answer.result

    def mark(self, call_id: str | None) -> AnswerMark | None:
        """How a call was answered; None where it was not."""
        return self._marks.get(call_id or "")

    def end_workspace(self) -> Mapping[str, Any] | None:
        """The files at the end, where a recording ended in the state this session is in; None where nobody knows."""
        if self._session is None:
            return self._cassettes[0].workspace if len(self._asked) == len(self._track) else None
        return self._session.end_workspace()

    def _answer_turn(self, turn: ModelResponse, messages: Sequence[ModelMessage]) -> None:
        names = {tool.definition.name for tool in self._offered}
        parts = [part for part in turn.parts if isinstance(part, ToolCallPart) and part.tool_name in names]
        asked = [(part.tool_call_id, call_arguments(part)) for part in parts]
        calls = [Call(part.tool_name, args) for part, (_, args) in zip(parts, asked, strict=True) if _usable(args)]
        ids = [call_id for call_id, args in asked if _usable(args)]
        if not self._whole_turns:
            calls, ids = self._made_then(calls, ids)
        if calls:
            self._answer(calls, ids, messages)

    def _made_then(self, calls: list[Call], ids: list[str]) -> tuple[list[Call], list[str]]:
        """Of the calls of a turn, those that the recording has here, where it is still followed."""
        if self._session is not None or len(self._asked) >= len(self._track):
            return calls, ids
        left = list(self._track[len(self._asked)])
        kept = [(call, call_id) for call, call_id in zip(calls, ids, strict=True) if _take(left, call) is not None]
        return ([call for call, _ in kept], [call_id for _, call_id in kept]) if kept and not left else (calls, ids)

    def _answer(self, calls: Sequence[Call], ids: Sequence[str], messages: Sequence[ModelMessage]) -> None:
        served = self._followed(calls)
        if served is None:
            session = self._graph_session(messages)
            try:
                served = session.answer(calls)
            except NotRecorded as miss:
                self._answers |= {call_id: ReplayMiss(miss_text(session, miss.call)) for call_id in ids}
                return
        self._asked.append(calls)
        self._answers |= dict(zip(ids, served, strict=True))

    def _followed(self, calls: Sequence[Call]) -> list[Served] | None:
        """The answers where these are just the calls the first recording made next; None where they are not."""
        if self._session is not None or len(self._asked) >= len(self._track):
            return None
        left = list(self._track[len(self._asked)])
        served: list[Served] = []
        for call in calls:
            if (one := _take(left, call)) is None:
                return None
            served.append(Served(one.result if one.error is None else None, one.error, "exact", 0))
        return None if left else served

    def _graph_session(self, messages: Sequence[ModelMessage]) -> RecordedSession:
        """The session over all recordings, where this one is now."""
        if self._session is None:
            self._session = RecordedSession(StateGraph(self._cassettes, self._rules), self._alike())
            for text in _said(messages):
                self._session.said(text)
            for calls in self._asked:
                self._session.answer(calls)
        return self._session

    def _alike(self) -> Any:
        if self._rules.semantic is False:
            return None
        # Reads 90 MB of weights: only where a suite asks for it.
        from passgrid.cassettes.embedding import embedding
        from passgrid.cassettes.semantic import THRESHOLD, alike_by

        threshold = THRESHOLD if self._rules.semantic is True else self._rules.semantic
        tools = {tool.definition.name: tool.listed() for tool in self._offered}
        return alike_by(embedding(), tools, threshold)


def _take(left: list[RecordedCall], call: Call) -> RecordedCall | None:
    """The recorded call of this tool with these arguments, taken out of the list; None where there is none."""
    key = canonical_arguments(call.arguments)
    same = (one for one in left if one.tool == call.tool and canonical_arguments(one.arguments) == key)
    if (one := next(same, None)) is not None:
        left.remove(one)
    return one


def _usable(arguments: Any) -> bool:
    """Whether arguments reach a server at all: the agent library answers what is no object."""
    return isinstance(arguments, dict)


def _last_turn(messages: Sequence[ModelMessage]) -> ModelResponse | None:
    return next((message for message in reversed(messages) if isinstance(message, ModelResponse)), None)


def _said(messages: Sequence[ModelMessage]) -> list[str]:
    """What people said so far."""
    return [
        str(user_content(part))
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]


def _all_offered(cassettes: Sequence[Cassette]) -> tuple[OfferedTool, ...]:
    """The tools of all recordings; the first to list one decides how it looks."""
    found: dict[str, OfferedTool] = {}
    for cassette in cassettes:
        for tool in _offered(orjson.dumps(cassette.tools)):
            found.setdefault(tool.definition.name, tool)
    return tuple(found.values())


@lru_cache(maxsize=64)
def _offered(tools: bytes) -> tuple[OfferedTool, ...]:
    return tuple(
        OfferedTool(
            tool.get("server", ""),
            ToolDefinition(
                name=tool["name"],
                description=tool.get("description"),
                parameters_json_schema=tool.get("inputSchema") or {"type": "object"},
                return_schema=tool.get("outputSchema"),
                metadata={"annotations": tool.get("annotations")},
            ),
        )
        for tool in orjson.loads(tools) or ()
    )
