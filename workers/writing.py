"""Writes the results of a batch; one result that cannot be written does not take the others with it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import InternalError, OperationalError, SQLAlchemyError

from passgrid.failure_kinds import RETRIED
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.warehouse.results import Finished, write_results
from passgrid.warehouse.trying_again import FailedTry, try_again
from workers.tracing import trace_results

log = logging.getLogger(__name__)

DATABASE_AWAY = (OperationalError, InternalError, psycopg.OperationalError, psycopg.InternalError)
"""The connection broke, or was ended for standing still: SQLAlchemy's error, or psycopg's own during a COPY."""

RETRY_SECONDS = (0.2, 1, 3, 5, 10)
"""Waits between attempts to reach a database that went away."""


def write_batch(engine: sa.Engine, finished: Sequence[Finished]) -> None:
    """Write all in one transaction; if that fails for a reason in the data, one by one.

    What failed for a reason that may pass, and has tries left, is queued again instead.
    """
    finished = _without_those_tried_again(engine, finished)
    if not finished:
        return
    try:
        _write(engine, finished)
    except DATABASE_AWAY:
        raise
    except (SQLAlchemyError, psycopg.Error, ValueError, TypeError) as error:
        if len(finished) == 1:
            log.exception("a result cannot be stored")
            _write(engine, [_unstorable(finished[0], error)])
            return
        for one in finished:
            write_batch(engine, [one])


def _write(engine: sa.Engine, finished: Sequence[Finished]) -> None:
    accepted = _persistently(engine, lambda connection: write_results(connection, finished))
    trace_results(engine, [one for one in finished if one.claim.key in accepted])
    for one in finished:
        if one.claim.key not in accepted:
            log.warning("attempt %s: late result refused, claim %s is void", one.claim.attempt_id, one.claim.fence)


def _without_those_tried_again(engine: sa.Engine, finished: Sequence[Finished]) -> Sequence[Finished]:
    failed = [one for one in finished if may_pass(one.result.outcome)]
    if not failed:
        return finished
    tries = [FailedTry(one.claim, f"{one.result.outcome.detail}: {one.result.outcome.reason}") for one in failed]
    again = _persistently(engine, lambda connection: try_again(connection, tries))
    return [one for one in finished if one.claim.key not in again]


def may_pass(outcome: Outcome) -> bool:
    """Whether an attempt that ended like this may end otherwise when it is tried again."""
    return outcome.kind is OutcomeKind.INFRA_ERROR and outcome.detail in RETRIED


T = TypeVar("T")


def _persistently(engine: sa.Engine, write: Callable[[sa.Connection], T]) -> T:
    """Write, waiting for a database that went away."""
    for wait in RETRY_SECONDS:
        try:
            with engine.connect() as connection:
                return write(connection)
        except DATABASE_AWAY as error:
            log.warning("results could not be written, again in %s s: %s", wait, error)
            time.sleep(wait)
    with engine.connect() as connection:
        return write(connection)


def _unstorable(one: Finished, error: Exception) -> Finished:
    outcome = Outcome(OutcomeKind.INFRA_ERROR, "unstorable", f"its result could not be stored: {error}"[:500])
    return replace(one, result=replace(one.result, outcome=outcome, messages=[], tool_calls=(), checks=(), tools=[]))
