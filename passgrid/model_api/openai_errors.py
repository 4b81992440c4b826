"""Errors in the form of the OpenAI APIs."""

from __future__ import annotations

from typing import Any

from passgrid.model_api.refusals import Refusal

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


def openai_error(refusal: Refusal) -> dict[str, Any]:
    """The body of an error answer."""
    kind = _TYPES.get(refusal.status, "server_error" if refusal.status >= 500 else "invalid_request_error")
    return {
        "error": {
            "message": refusal.message,
            "type": refusal.type or kind,
            "param": refusal.field,
            "code": refusal.code,
        }
    }
