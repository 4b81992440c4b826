"""What a client asks of a model, whichever API it asked through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from passgrid.problems import Problem


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for a model turn, in the shape `pydantic_ai.models.Model.request` takes."""

    api: str
    """The name of the API it came through."""
    model: str
    """As the client spelled it."""
    messages: list[ModelMessage]
    parameters: ModelRequestParameters
    settings: ModelSettings
    stream: bool
    identity: str
    """A hash of the request: ids of the answer come from it, so that a replay gives equal bytes."""
    include_usage: bool = True
    """Whether a stream ends with the usage."""
    response_format: str | None = None
    """The kind of answer format asked for, such as `json_schema`; None for plain text."""
    echo: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What this API repeats in its answers."""
    keep: bool = False
    """Whether the client may go on from this conversation by the id of the answer."""
    conversation: Sequence[ModelMessage] = ()
    """The messages without the instructions: what is kept for a client that goes on."""


class InvalidBody(Exception):
    """A request that cannot be read; `problems` holds everything found wrong, each at its field."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems))
