"""Names of models: `provider:name?setting=value`, as they stand on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

RECORDED = "recorded"
SCRIPTED = "scripted"

_REFERENCE = re.compile(r"^(?P<provider>[a-z][a-z0-9_-]*):(?P<name>[^?\s]+)(?:\?(?P<settings>\S*))?$")


@dataclass(frozen=True, slots=True)
class ModelReference:
    """One value of the model axis."""

    provider: str
    """`recorded`, `scripted`, or a provider as pydantic-ai spells it."""
    name: str
    """The recording's label, the policy's name, or the provider's name of the model."""
    settings: tuple[tuple[str, Any], ...] = ()
    """Model settings, sorted by name; numbers and booleans are parsed."""

    @property
    def recorded(self) -> bool:
        """Whether its turns come from cassettes."""
        return self.provider == RECORDED

    @property
    def scripted(self) -> bool:
        """Whether it is a policy written in Python: never to be shown as a real model."""
        return self.provider == SCRIPTED

    def as_label(self) -> str:
        """The label its recordings get: its spelling as the name of a folder."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", str(self)).strip("-.")

    def __str__(self) -> str:
        text = f"{self.provider}:{self.name}"
        if self.settings:
            text += "?" + "&".join(f"{key}={_spell(value)}" for key, value in self.settings)
        return text


def parse_model_reference(text: str) -> ModelReference:
    """Read `provider:name?setting=value&…`.

    Raises `ValueError` with what is wrong and an example of what is right.
    """
    match = _REFERENCE.match(text)
    if match is None:
        raise ValueError(
            f"{text!r} is not a model: write provider:name, such as recorded:gpt-4o, scripted:careful or openai:gpt-5"
        )
    pairs = parse_qsl(match["settings"] or "", keep_blank_values=True, strict_parsing=bool(match["settings"]))
    settings = tuple(sorted((key, _read(value)) for key, value in pairs))
    if len({key for key, _ in settings}) != len(settings):
        raise ValueError(f"{text!r} sets one setting twice")
    if settings and match["provider"] in {RECORDED, SCRIPTED}:
        raise ValueError(f"{text!r}: a {match['provider']} model takes no settings")
    return ModelReference(match["provider"], match["name"], settings)


def _read(text: str) -> Any:
    if text in {"true", "false"}:
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _spell(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
