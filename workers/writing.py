"""Writes the results of a batch; one result that cannot be written does not take the others with it."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

import sqlalchemy as sa

from passgrid.outcome import Outcome, OutcomeKind
from passgrid.warehouse.results import Finished, write_results

log = logging.getLogger(__name__)

RETRY_SECONDS = (0.2, 1, 3, 5, 10)
"""Waits between attempts to reach a database that went away."""


def write_batch(engine: sa.Engine, finished: Sequence[Finished]) -> None:
    """Write all in one transaction; if that fails for a reason in the data, one by one."""
    if not finished:
        return
    try:
        _write(engine, finished)
    except sa.exc.OperationalError:
        raise
    except (sa.exc.SQLAlchemyError, ValueError, TypeError) as error:
        if len(finished) == 1:
            log.exception("a result cannot be stored")
            _write(engine, [_unstorable(finished[0], error)])
            return
        for one in finished:
            write_batch(engine, [one])


def _write(engine: sa.Engine, finished: Sequence[Finished]) -> None:
    for wait in (*RETRY_SECONDS, None):
        try:
            with engine.connect() as connection:
                accepted = write_results(connection, finished)
            break
        except sa.exc.OperationalError as error:
            if wait is None:
                raise
            log.warning("results could not be written, again in %s s: %s", wait, error)
            time.sleep(wait)
    for one in finished:
        if one.claim.key not in accepted:
            log.warning("attempt %s: a late result was refused, its claim %s is void", one.claim.attempt_id, one.claim.fence)


def _unstorable(one: Finished, error: Exception) -> Finished:
    outcome = Outcome(OutcomeKind.INFRA_ERROR, "unstorable", f"its result could not be stored: {error}"[:500])
    return replace(one, result=replace(one.result, outcome=outcome, messages=[], tool_calls=(), checks=(), tools=[]))
