"""A dialect: how one model API reads, answers, streams and refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import ModelResponse

from passgrid.model_api.asked import Asked
from passgrid.model_api.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Dialect:
    """Pure functions of one API."""

    path: str
    """Where it is asked, with the version."""
    parse: Callable[[Any], Asked]
    """From a body to what is asked; raises `InvalidBody`."""
    render: Callable[[ModelResponse, Asked], dict[str, Any]]
    """The answer in one piece."""
    events: Callable[[ModelResponse, Asked], Iterator[bytes]]
    """The same answer as server-sent events."""
    refuse: Callable[[Refusal], dict[str, Any]]
    """An error in this API's own form."""
