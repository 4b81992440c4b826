"""A recorded model for conversations that came over a wire, where every result is a text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
from pydantic_ai.messages import RetryInfo, ToolReturnPart

from passgrid.differences import first_difference
from passgrid.json_values import is_array, is_object
from passgrid.messages import plain_content
from passgrid.models.recorded import RecordedModel


class WireModel(RecordedModel):
    """Compares results in the terms of the recording, as far as a wire loses them."""

    @property
    def reached(self) -> int:
        """How many steps of the recording went by."""
        return self._position

    def _compare_return(self, recorded: dict[str, Any], part: ToolReturnPart[Any]) -> None:
        if "told" not in recorded:
            super()._compare_return(recorded, _as_recorded(recorded, part))
            return
        # The model was told something else than the answer, and what it is told now is what the client sends.
        told = read_like(recorded["told"], plain_content(part.content))
        if difference := first_difference(recorded["told"], told, part.tool_name):
            raise self._miss(difference)


def _as_recorded(recorded: dict[str, Any], part: ToolReturnPart[Any]) -> ToolReturnPart[Any]:
    """A result in the terms of its recording, as far as a wire loses them.

    Whether it was an error is taken from the recording where the client does not say that it was one: most APIs
    cannot say so. What the agent library wrote in place of an answer is recorded by kind only, and a client writes it
    in words of its own, so any text is taken for it.
    """
    if "library" in recorded:
        return replace(part, retry=RetryInfo(recorded["library"]))
    if "error" in recorded and part.outcome == "success":
        part = replace(part, outcome="failed")
    if "error" in recorded:
        return replace(part, content=_error_like(recorded["error"], plain_content(part.content)))
    return replace(part, content=read_like(recorded.get("result"), plain_content(part.content)))


def _error_like(recorded: Any, received: Any) -> Any:
    """Where an API cannot say that a result is an error, clients write the error as `{"error": …}`."""
    told = read_like({}, received)
    if is_object(told) and list(told) == ["error"] and told != recorded:
        return read_like(recorded, told["error"])
    return read_like(recorded, received)


def read_like(recorded: Any, received: Any) -> Any:
    """What came, read as JSON where the recording holds JSON and a text came that is some.

    A client sends a tool's result as text: `{"a": 1}` and `{"a":1}` are the recorded object, also piece by piece
    where the result has several. Where the recording holds a text, the very text must come.
    """
    if isinstance(received, str) and not isinstance(recorded, str):
        try:
            return orjson.loads(received)
        except orjson.JSONDecodeError:
            return received
    if is_array(recorded) and is_array(received) and len(recorded) == len(received):
        return [read_like(was, now) for was, now in zip(recorded, received, strict=True)]
    return received
