"""Why a request gets no model turn, before it is put in the words of one API."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)

from passgrid.endings import AttemptEnded, LimitReached, RecordingEnded, ReplayMiss
from passgrid.json_values import is_object
from passgrid.model_api.asked import InvalidBody

REPLAY_MISS = "replay_miss"


@dataclass(frozen=True, slots=True)
class Refusal:
    """One error answer."""

    status: int
    message: str
    code: str | None = None
    """What a program can go by, such as `replay_miss`."""
    type: str | None = None
    """The API's kind of error; None for the usual one of the status."""
    field: str | None = None
    """The field of the request that is to blame."""
    retry_after_s: float | None = None
    final: bool = False
    """Trying again cannot help; clients are told not to."""
    allow: str | None = None
    """The methods that are allowed, where it was the wrong one."""


class Refused(Exception):
    """Raised by whoever answers, to give the client this very error."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.message)


class UnknownModel(Refused):
    """The model named in the request is not served here."""

    def __init__(self, message: str) -> None:
        super().__init__(Refusal(404, message, code="model_not_found", field="model", final=True))


# First match wins: subclasses stand before their bases.
_STATUS_OF: tuple[tuple[type[ModelAPIError], int, str | None], ...] = (
    (ModelQuotaExceededError, 429, "insufficient_quota"),
    (ModelRateLimitError, 429, "rate_limit_exceeded"),
    (ModelUnavailableError, 503, None),
    (ModelServerError, 500, None),
    (ModelTimeoutError, 504, None),
    (ModelRequestTimeout, 504, None),
    (ModelContextWindowExceededError, 400, "context_length_exceeded"),
    (ModelAuthenticationError, 401, None),
    (ModelNotFoundError, 404, "model_not_found"),
    (ModelRequestRejectedError, 400, None),
)
BAD_GATEWAY = 502
UNFORESEEN = Refusal(500, "The model proxy failed; its log tells why.", code="internal_error")
"""What a client is told where nobody foresaw the failure."""


def refusal_of(error: Exception) -> Refusal:
    """The error answer for what was raised instead of a model turn. What nobody foresaw is told without internals."""
    if isinstance(error, Refused):
        return error.refusal
    if isinstance(error, InvalidBody):
        return Refusal(400, str(error), field=error.problems[0].place or None, final=True)
    if isinstance(error, AttemptEnded):
        # Never a status that clients try again after: asked once more, the answer is the same.
        return Refusal(400, str(error), code=_ending_code(error), final=True)
    if isinstance(error, ModelAPIError):
        return _of_provider(error)
    return UNFORESEEN


def _ending_code(error: AttemptEnded) -> str:
    if isinstance(error, ReplayMiss):
        return REPLAY_MISS
    if isinstance(error, RecordingEnded):
        return "recording_ended"
    return "limit_reached" if isinstance(error, LimitReached) else "attempt_stopped"


def _of_provider(error: ModelAPIError) -> Refusal:
    known = next((row for row in _STATUS_OF if isinstance(error, row[0])), None)
    status = known[1] if known else BAD_GATEWAY
    if isinstance(error, ModelHTTPError):
        status = error.status_code if 400 <= error.status_code <= 599 else BAD_GATEWAY
    code = error.provider_error_code or (known[2] if known else None)
    return Refusal(status, _told(error, status), code=code, retry_after_s=error.retry_after)


def _told(error: ModelAPIError, status: int) -> str:
    if status in {401, 403}:
        # Providers repeat parts of the key in this answer.
        return "The provider refused the credentials of the model proxy."
    body = error.body
    inner = body.get("error", body) if is_object(body) else body
    message = inner.get("message") if is_object(inner) else inner
    return message if isinstance(message, str) and message else f"The provider of {error.model_name} gave an error."
