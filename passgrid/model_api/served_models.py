"""The list of models, in the form of the API that asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# The real lists tell when a model came out; nobody knows that of a recording.
_CREATED = 0
_CREATED_AT = "1970-01-01T00:00:00Z"


def openai_model(name: str) -> dict[str, Any]:
    """One model as OpenAI lists it."""
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "passgrid"}


def openai_models(names: Sequence[str]) -> dict[str, Any]:
    """All models as OpenAI lists them."""
    return {"object": "list", "data": [openai_model(name) for name in names]}


def anthropic_model(name: str) -> dict[str, Any]:
    """One model as Anthropic lists it."""
    return {"type": "model", "id": name, "display_name": name, "created_at": _CREATED_AT, "lifecycle": "active"}


def anthropic_models(names: Sequence[str]) -> dict[str, Any]:
    """All models as Anthropic lists them, on one page."""
    return {
        "data": [anthropic_model(name) for name in names],
        "has_more": False,
        "first_id": names[0] if names else None,
        "last_id": names[-1] if names else None,
    }
