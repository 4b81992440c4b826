"""Model turns from cassettes for clients that send the whole conversation: nothing is remembered between requests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    UserPromptPart,
)

from passgrid.cassettes.format import Cassette
from passgrid.differences import first_difference
from passgrid.endings import AttemptEnded, ReplayMiss
from passgrid.identity import short_id
from passgrid.messages import call_arguments, user_content
from passgrid.model_api.asked import Asked
from passgrid.model_api.recorder_view import as_recorders_see
from passgrid.model_api.refusals import Refusal, Refused, UnknownModel
from passgrid.model_api.said import calls_of, text_of, thinking_of
from passgrid.model_api.wire_model import WireModel
from passgrid.model_reference import RECORDED
from passgrid.storable import storable
from passgrid.wire.http import HttpRequest

SAMPLE_HEADER = b"x-passgrid-sample"
_PREFIX = f"{RECORDED}:"
_TAGGED_THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)


class RecordedTurns:
    """Finds the recorded turn that follows a conversation; the recordings' payloads are already in place.

    The model named in the request may be anything; `recorded:<label>` asks for the recordings of one label, and the
    header `x-passgrid-sample` for one sample of each. Where several recordings fit, the first by sample answers.

    Raises:
        ReplayMiss: no recording goes on from here; names the nearest one, its turn and the first difference.
        UnknownModel: no recording has the label asked for.
        Refused: the header is no number.
    """

    def __init__(self, cassettes: Iterable[Cassette]) -> None:
        self._cassettes = sorted(cassettes, key=lambda one: (one.label, one.sample, one.scenario, one.prompt))
        self._opening = {id(one): _opening_of(one) for one in self._cassettes}

    @property
    def models(self) -> tuple[str, ...]:
        """The names that ask for the recordings of one label."""
        return tuple(f"{_PREFIX}{label}" for label in dict.fromkeys(one.label for one in self._cassettes))

    async def __call__(self, asked: Asked, request: HttpRequest) -> ModelResponse:
        """The recorded turn."""
        messages = as_recorders_see(asked.messages)
        nearest: _Miss | None = None
        for cassette in self._likely(self._candidates(asked.model, request), messages):
            found = await _follow(cassette, messages, asked)
            if isinstance(found, ModelResponse):
                return found
            if nearest is None or found.reached > nearest.reached:
                nearest = found
        raise ReplayMiss(str(nearest) if nearest else "no recording of this sample is here")

    def _candidates(self, model: str, request: HttpRequest) -> list[Cassette]:
        found = self._cassettes
        if model.startswith(_PREFIX):
            found = [one for one in found if one.label == model.removeprefix(_PREFIX)]
            if not found:
                known = ", ".join(self.models) or "none"
                raise UnknownModel(f"There is no recording {model!r} here; there are: {known}.")
        sample = _sample(request)
        return found if sample is None else [one for one in found if one.sample == sample]

    def _likely(self, candidates: list[Cassette], messages: list[ModelMessage]) -> list[Cassette]:
        """Those that begin with the same user turn, so that the others need not be followed; all where none does."""
        opening = _opening_asked(messages)
        return [one for one in candidates if self._opening[id(one)] == opening] or candidates


def _opening_of(cassette: Cassette) -> str:
    return short_id(storable(next((step["user"] for step in cassette.steps if "user" in step), None)))


def _opening_asked(messages: list[ModelMessage]) -> str:
    prompts = (
        user_content(part)
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    )
    return short_id(storable(next(prompts, None)))


@dataclass(frozen=True, slots=True)
class _Miss:
    """How far one recording went along."""

    cassette: Cassette
    reached: int
    reason: str

    def __str__(self) -> str:
        one = self.cassette
        return f"nearest recording {one.label}, {one.scenario}, prompt {one.prompt}, sample {one.sample}: {self.reason}"


def _sample(request: HttpRequest) -> int | None:
    text = request.header(SAMPLE_HEADER)
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise Refused(Refusal(400, f"the header x-passgrid-sample must be a number, not {text!r}", final=True))
    return int(text)


async def _follow(cassette: Cassette, messages: list[ModelMessage], asked: Asked) -> ModelResponse | _Miss:
    """Let the recording answer every turn of the conversation, and compare what the client says the model said."""
    model = WireModel(cassette)
    try:
        for i, message in enumerate(messages):
            if isinstance(message, ModelResponse):
                recorded = await model.request(messages[:i], asked.settings, asked.parameters)
                if difference := _difference(recorded, message):
                    return _Miss(cassette, model.reached, f"after turn {_turns(messages[:i]) + 1}: {difference}")
        if messages and isinstance(messages[-1], ModelResponse):
            return _Miss(cassette, model.reached, "the request ends with a model turn, which no recording goes on from")
        return await model.request(messages, asked.settings, asked.parameters)
    except AttemptEnded as miss:
        return _Miss(cassette, model.reached, str(miss))


def _turns(messages: list[ModelMessage]) -> int:
    return sum(isinstance(message, ModelResponse) for message in messages)


def _difference(recorded: ModelResponse, message: ModelResponse) -> str | None:
    """How what the client says the model said differs from the recording."""
    sent = _said(message)
    if thinking_of(recorded) is not None and sent["text"] is not None:
        # Some clients give a model its thinking back within its text.
        sent["text"] = _TAGGED_THINKING.sub("", sent["text"]) or None
    return first_difference(_said(recorded), sent, "model turn")


def _said(response: ModelResponse) -> dict[str, Any]:
    """What matters of a model turn: its text and its calls, without ids and without thinking."""
    calls = [{"name": call.tool_name, "arguments": call_arguments(call)} for call in calls_of(response)]
    return {"text": text_of(response), "calls": calls}
