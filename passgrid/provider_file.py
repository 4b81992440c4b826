"""The providers file: what each provider allows, over all workers together.

openai:
  concurrency: 8
  requests_per_minute: 300
  tokens_per_minute: 200000
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel

from passgrid.problems import InvalidInput, Problem
from passgrid.yaml_files import read_yaml, validated


class ProviderLimits(BaseModel):
    """What one provider allows, for each account; what is absent has no limit of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    concurrency: int | None = Field(default=None, ge=1, le=10_000, description="Requests at once.")
    requests_per_minute: int | None = Field(default=None, ge=1, description="Requests in any 60 seconds.")
    tokens_per_minute: int | None = Field(default=None, ge=1, description="Tokens, in and out, in any 60 seconds.")


ProviderName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class _File(RootModel[dict[ProviderName, ProviderLimits]]):
    """Limits by provider, as the first word of a model's name: openai, anthropic, google, …"""


def read_provider_file(path: Path) -> dict[str, ProviderLimits]:
    """The limits in a providers file; none where it does not exist. Raises `InvalidInput` with every mistake in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput([Problem(str(path), f"cannot be read: {error}")]) from None
    value, problems = read_yaml(path, text)
    if problems:
        raise InvalidInput(problems)
    limits, problems = validated(_File, value or {}, path, text)
    if limits is None:
        raise InvalidInput(problems)
    return limits.root
