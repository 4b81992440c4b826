"""Live models, as pydantic-ai spells and serves them."""

from __future__ import annotations

from typing import Any, cast

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import KnownModelName, Model, infer_model
from pydantic_ai.settings import ModelSettings

from passgrid.model_reference import ModelReference


class UnusableModel(Exception):
    """The model cannot be made here: unknown provider, missing package or missing key."""


def live_model(reference: ModelReference) -> Model:
    """The provider's model; raises `UnusableModel` with what stands in the way."""
    try:
        return infer_model(cast(KnownModelName, f"{reference.provider}:{reference.name}"))
    except (UserError, ValueError, ImportError) as error:
        raise UnusableModel(f"{reference}: {error}") from error


def live_settings(reference: ModelReference) -> ModelSettings | None:
    """The settings of the reference, in pydantic-ai's names; None for a model that takes none.

    Providers' clients are told not to repeat a request by themselves: nothing may be bought unseen.
    """
    if reference.recorded or reference.scripted:
        return None
    return cast(ModelSettings, {"max_retries": 0, **dict[str, Any](reference.settings)})


def check_provider(reference: ModelReference) -> None:
    """Raises `UnusableModel` where pydantic-ai has no such provider, or its package is missing."""
    from pydantic_ai.providers import infer_provider_class  # heavy; only needed where a live model is named

    try:
        infer_provider_class(reference.provider)
    except (ValueError, ImportError) as error:
        raise UnusableModel(f"{reference}: {error}") from error
