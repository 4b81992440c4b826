"""Settings that both OpenAI APIs spell the same way."""

from __future__ import annotations

from passgrid.model_api.fields import Fields

_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_TIERS = ("auto", "default", "flex", "priority")


def reasoning_effort(fields: Fields, name: str) -> str | bool | None:
    """How much the model shall think; `none` is False, as the agent library says it."""
    effort = fields.choice(name, _EFFORTS)
    return False if effort == "none" else effort


def service_tier(fields: Fields) -> str | None:
    """The tier a request is served in."""
    return fields.choice("service_tier", _TIERS)
