"""What may pass is tried again; what would fail again is not."""

from __future__ import annotations

import anyio
import pytest
from pydantic_ai.exceptions import (
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelOverloadedError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    UnexpectedModelBehavior,
)

from passgrid.failure_kinds import RETRIED
from passgrid.failures import ServerLost, failure_kind


@pytest.mark.parametrize(
    ("error", "kind", "again"),
    [
        (ModelHTTPError.for_category(ModelRateLimitError, status_code=429, model_name="m"), "rate_limit", True),
        (ModelHTTPError.for_category(ModelServerError, status_code=500, model_name="m"), "server_error", True),
        (ModelHTTPError.for_category(ModelOverloadedError, status_code=529, model_name="m"), "server_error", True),
        (ModelConnectionError("m", "refused"), "connection", True),
        (ModelRequestTimeout("m", 3.0), "connection", True),
        (ServerLost("gone"), "server_lost", True),
        (anyio.ClosedResourceError(), "server_lost", True),
        (
            ModelHTTPError.for_category(ModelAuthenticationError, status_code=401, model_name="m"),
            "authentication",
            False,
        ),
        (
            ModelHTTPError.for_category(ModelContextWindowExceededError, status_code=400, model_name="m"),
            "context_overflow",
            False,
        ),
        (ModelHTTPError.for_category(ModelRequestRejectedError, status_code=400, model_name="m"), "bad_request", False),
        (UnexpectedModelBehavior("nothing sensible"), "agent", False),
        (MemoryError(), "memory", False),
        (RuntimeError("?"), "unexpected", False),
    ],
)
def test_kinds(error: BaseException, kind: str, again: bool) -> None:
    assert failure_kind(error) == kind
    assert (kind in RETRIED) is again


def test_a_group_is_what_is_known_in_it() -> None:
    group = BaseExceptionGroup("servers", [RuntimeError("?"), BaseExceptionGroup("x", [anyio.EndOfStream()])])
    assert failure_kind(group) == "server_lost"
