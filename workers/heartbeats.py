"""A worker process says that it is there, from a thread of its own. Whether it consumes anything, its claims say."""

from __future__ import annotations

import logging
import threading

from sqlalchemy.exc import SQLAlchemyError

from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.heartbeats import BEAT_SECONDS, beat, leave

log = logging.getLogger(__name__)

LAST_SECONDS = 1.0
"""How long a process that ends waits to have said so."""

_end = threading.Event()
_threads: list[threading.Thread] = []


def start_beating(database_url: str, kind: str) -> None:
    """Beat until the process ends. Call it after a fork, never before."""
    thread = threading.Thread(target=_beat, args=(database_url, kind), name="heartbeats", daemon=True)
    _threads.append(thread)
    thread.start()


def stop_beating() -> None:
    """Before the process ends: take its name off the list, if the database is there to be told."""
    _end.set()
    for thread in _threads:
        thread.join(LAST_SECONDS)


def _beat(database_url: str, kind: str) -> None:
    engine = make_engine(database_url, pool_size=1)
    ending = False
    while not ending:
        try:
            with engine.connect() as connection:
                beat(connection, kind)
        except SQLAlchemyError as error:
            log.debug("no heartbeat: %s", error)  # whoever has work for the database says so loudly
        ending = _end.wait(BEAT_SECONDS)
    try:
        with engine.connect() as connection:
            leave(connection, kind)
    except SQLAlchemyError:
        log.debug("left without a word")
    engine.dispose()
