"""A model whose turns come from a cassette, and that notices when it is asked something else than then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from passgrid.cassettes.format import COMPLETED_ENDING, Cassette, Step
from passgrid.differences import first_difference, text_difference
from passgrid.endings import RecordingEnded, ReplayMiss
from passgrid.messages import library_kind, plain_content, told_instead, user_content

_RECORDED_HERE = {
    "user": "a user turn",
    "calls": "a further answer to a call",
    "feedback": "another request of the library",
}


class RecordedModel(Model):
    """Gives the recorded model turns one after the other.

    Each request is compared with the recorded one on an allow-list of what matters: the system prompt, the user turns,
    which tools are offered, and for each answered call its tool, its kind of outcome and its content. Texts the agent
    library wrote itself compare by kind. What was compared before is not compared again.

    Raises:
        ReplayMiss: names the turn and the first difference.
        RecordingEnded: the recorded conversation was complete here.
    """

    def __init__(self, cassette: Cassette, *, by_position: bool = False, wants_system: bool = False) -> None:
        """by_position: tools and their answers may differ, as they do in drift; they are only counted.

        wants_system: who asks may leave the system prompt out, and does not get the last turn where one is recorded.
        """
        super().__init__()
        # What an agent program did by itself is nothing a model says, or is told.
        self._cassette = replace(cassette, steps=tuple(step for step in cassette.steps if "alone" not in step))
        self._by_position = by_position
        self._lacks_system = wants_system and bool(cassette.system)
        self._position = 0
        self._seen = 0
        self._turn = 0
        self._answered_here = 0

    @property
    def model_name(self) -> str:
        """The recording's label."""
        return self._cassette.label

    @property
    def system(self) -> str:
        """The provider: none, it is a recording."""
        return "recorded"

    @property
    def answers_next_user_turn(self) -> bool:
        """Whether the recording goes on after its next user turn, or was broken off before the answer."""
        return not self._complete or self._position + 1 < len(self._cassette.steps)

    @property
    def _complete(self) -> bool:
        return self._cassette.ending["outcome"] == COMPLETED_ENDING

    def skip_user_turn(self, content: Any) -> None:
        """A last user turn that nobody answered then is not answered now, only counted as used."""
        self._expect_user(content)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The next recorded turn, after comparing what is new in `messages`."""
        self._turn += 1
        if self._turn == 1 and not self._by_position:
            self._compare_tools(model_request_parameters)
        for part in _new_parts(messages, self._seen):
            self._compare(part)
        self._seen = len(messages) + 1
        step = self._next("model")
        if step is None:
            if self._complete and self._position >= len(self._cassette.steps):
                raise RecordingEnded("the recorded conversation ends here")
            if self._position < len(self._cassette.steps):
                recorded = next(iter(self._cassette.steps[self._position]))
                raise self._miss(
                    f"a model turn is asked for, and {_RECORDED_HERE.get(recorded, recorded)} is recorded here"
                )
            raise self._miss("the recording was broken off here and holds no further model turn")
        if self._lacks_system and not any("model" in later for later in self._cassette.steps[self._position :]):
            # Only now: it may have come with any of the turns.
            raise self._miss(f"the system prompt differs {text_difference(self._cassette.system or '', '')}")
        return _response(step["model"])

    def _next(self, kind: str) -> Step | None:
        steps = self._cassette.steps
        if self._position < len(steps) and kind in steps[self._position]:
            self._position += 1
            return steps[self._position - 1]
        return None

    def _compare(self, part: ModelRequestPart) -> None:
        if isinstance(part, ToolReturnPart):
            self._expect_return(part)
        elif isinstance(part, UserPromptPart):
            self._expect_user(user_content(part))
        elif isinstance(part, SystemPromptPart):
            self._lacks_system = False
            recorded = self._cassette.system or ""
            if recorded != part.content:
                raise self._miss(f"the system prompt differs {text_difference(recorded, part.content)}")
        elif isinstance(part, RetryFeedbackPart):
            step = self._next("feedback")
            if step is None or step["feedback"] != part.retry.cause:
                raise self._miss(f"the agent library asks again ({part.retry.cause}), which is not recorded here")
        else:
            raise self._miss(f"the request holds a {type(part).__name__}, which no recording has")

    def _expect_user(self, content: Any) -> None:
        step = self._next("user")
        if step is None:
            raise self._miss(f"a user turn came that is not recorded here: {str(content)[:80]!r}")
        if difference := first_difference(step["user"], content, "user"):
            raise self._miss(difference)

    def _expect_return(self, part: ToolReturnPart[Any]) -> None:
        recorded = self._recorded_call(part)
        if not self._by_position:
            self._compare_return(recorded, part)

    def _compare_return(self, recorded: dict[str, Any], part: ToolReturnPart[Any]) -> None:
        kind = library_kind(part)
        if "library" in recorded or kind is not None:
            if recorded.get("library") != kind:
                was = recorded.get("library") or "an answer of the server"
                raise self._miss(f"{part.tool_name}: recorded {was}, now {kind or 'an answer of the server'}")
            return
        failed = part.outcome == "failed"
        if ("error" in recorded) != failed:
            raise self._miss(f"{part.tool_name}: recorded {'an error' if 'error' in recorded else 'a result'}, not now")
        if recorded.get("told") != told_instead(part):
            raise self._miss(f"{part.tool_name}: the agent tells its model another text of the answer than recorded")
        content = plain_content(part.content)
        if difference := first_difference(recorded["error" if failed else "result"], content, part.tool_name):
            raise self._miss(difference)

    def _recorded_call(self, part: ToolReturnPart[Any]) -> dict[str, Any]:
        steps = self._cassette.steps
        step = steps[self._position] if self._position < len(steps) else {}
        calls = step.get("calls")
        if not calls:
            raise self._miss(f"an answer of {part.tool_name} came, and none is recorded here")
        done = self._answered_here
        if done >= len(calls):
            raise self._miss(f"one more answer of {part.tool_name} than is recorded here")
        self._answered_here = done + 1
        if self._answered_here == len(calls):
            self._position += 1
            self._answered_here = 0
        return sorted(calls, key=lambda call: call["call"])[done]

    def _compare_tools(self, parameters: ModelRequestParameters) -> None:
        offered = sorted(tool.name for tool in parameters.function_tools)
        recorded = sorted(tool["name"] for tool in self._cassette.tools)
        if offered != recorded:
            gone = ", ".join(sorted(set(recorded) - set(offered))) or "none"
            new = ", ".join(sorted(set(offered) - set(recorded))) or "none"
            raise self._miss(f"other tools are offered: gone {gone}; new {new}")

    def _miss(self, difference: str) -> ReplayMiss:
        return ReplayMiss(f"model turn {self._turn}: {difference}")


def _new_parts(messages: Sequence[ModelMessage], seen: int) -> Iterator[ModelRequestPart]:
    for message in messages[seen:]:
        if isinstance(message, ModelRequest):
            yield from message.parts


def _response(turn: dict[str, Any]) -> ModelResponse:
    usage: dict[str, int | None] = turn.get("usage") or {}
    return ModelResponse(
        parts=[_part(part) for part in turn["parts"]],
        usage=RequestUsage(
            input_tokens=usage.get("input") or 0,
            output_tokens=usage.get("output") or 0,
            cache_read_tokens=usage.get("cache_read") or 0,
            cache_write_tokens=usage.get("cache_write") or 0,
        ),
        model_name=turn.get("served"),
        provider_details={"passgrid": turn},
    )


def _part(part: dict[str, Any]) -> ModelResponsePart:
    if "call" in part:
        return ToolCallPart(part["call"], part["args"], tool_call_id=part["id"])
    if "text" in part:
        return TextPart(part["text"])
    if "thinking" in part:
        return ThinkingPart(part["thinking"], signature=part.get("signature"))
    return FilePart(BinaryContent.from_data_uri(part["image"]))
