"""Spans of what a worker did, after its results are written and outside any seal."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from passgrid.tracing.sending import send, tracing_wanted
from passgrid.warehouse.results import Finished

log = logging.getLogger(__name__)


def trace_results(engine: sa.Engine, finished: Sequence[Finished]) -> None:
    """Send spans of these results: call it once they are written, with those that were accepted.

    Does nothing, and imports nothing, unless the environment names a collector. Never raises: a trace that cannot be
    made costs a warning. The attempts are taken to have run one after the other, in this order, up to when the database
    says that they were written: that is how a replay process works, and other batches hold one attempt.
    """
    if not finished or not tracing_wanted():
        return
    try:
        _trace(engine, finished)
    except (SQLAlchemyError, OSError, ValueError, ImportError) as error:
        log.warning("%d attempts are not traced: %s", len(finished), error)


def _trace(engine: sa.Engine, finished: Sequence[Finished]) -> None:
    from passgrid.tracing.spans import attempt_spans
    from passgrid.warehouse.traced import traced_attempts

    with engine.connect() as connection:
        attempts = traced_attempts(connection, [(one.claim.key, one.claim.fence) for one in finished])
    later_s = 0.0
    for one in reversed(finished):
        if one.claim.key in attempts:
            attempt = attempts[one.claim.key]
            send(attempt_spans(replace(attempt, end_s=attempt.end_s - later_s), one.result))
        later_s += one.result.duration_s
