"""What was raised in place of a model turn becomes the error a client can act on."""

from __future__ import annotations

import pytest
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelTimeoutError,
)

from passgrid.endings import AttemptStopped, LimitReached, RecordingEnded, ReplayMiss
from passgrid.model_api.messages_answer import anthropic_error
from passgrid.model_api.openai_errors import openai_error
from passgrid.model_api.refusals import UNFORESEEN, Refusal, refusal_of
from passgrid.outcome import LimitName


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ReplayMiss("model turn 3: no"), "replay_miss"),
        (LimitReached(LimitName.TURNS, "12 turns"), "limit_reached"),
        (AttemptStopped("cancelled", "cancelled"), "attempt_stopped"),
        (RecordingEnded("over"), "recording_ended"),
    ],
)
def test_the_end_of_an_attempt_is_final(error: Exception, code: str) -> None:
    assert refusal_of(error) == Refusal(400, str(error), code=code, final=True)


@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [
        (ModelRateLimitError("m", "slow", retry_after=2.5), 429, 2.5),
        (ModelHTTPError(429, "m", headers={"Retry-After": "7"}), 429, 7.0),
        (ModelQuotaExceededError("m", "paid?"), 429, None),
        (ModelTimeoutError("m", "late"), 504, None),
        (ModelConnectionError("m", "gone"), 502, None),
        (ModelHTTPError(529, "m", {"error": {"message": "overloaded"}}), 529, None),
        (ModelHTTPError(302, "m"), 502, None),
        (ModelAPIError("m", "odd"), 502, None),
    ],
)
def test_a_provider_s_error_keeps_its_status(error: Exception, status: int, retry_after: float | None) -> None:
    refusal = refusal_of(error)
    assert (refusal.status, refusal.retry_after_s) == (status, retry_after)


def test_the_provider_s_words_are_passed_on_but_for_what_it_says_about_keys() -> None:
    said = {"error": {"message": "Unknown parameter: x"}}
    assert refusal_of(ModelHTTPError(400, "m", said)).message == "Unknown parameter: x"
    leaking = {"error": {"message": "Incorrect API key provided: sk-12****89"}}
    assert "sk-" not in refusal_of(ModelHTTPError(401, "m", leaking)).message


def test_what_nobody_foresaw_is_told_without_internals() -> None:
    assert refusal_of(ValueError("/secret")) is UNFORESEEN


def test_errors_are_written_as_each_api_writes_them() -> None:
    refusal = Refusal(404, "no such model", code="model_not_found", field="model")
    assert openai_error(refusal) == {
        "error": {
            "message": "no such model",
            "type": "invalid_request_error",
            "param": "model",
            "code": "model_not_found",
        }
    }
    assert anthropic_error(refusal) == {
        "type": "error",
        "error": {"type": "not_found_error", "message": "no such model", "code": "model_not_found"},
    }
