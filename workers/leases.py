"""Keeps the leases of running attempts alive from a thread of its own, whatever the attempts do."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence

import psycopg
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from passgrid.warehouse.claims import Claim, of_cancelled_runs, renew

log = logging.getLogger(__name__)


class LeaseKeeper:
    """Renews the leases of the claims it holds every third of their length."""

    def __init__(
        self,
        engine: sa.Engine,
        lease_s: float,
        on_cancelled: Callable[[Sequence[Claim]], None],
        on_lost: Callable[[Sequence[Claim]], None] | None = None,
    ) -> None:
        """on_cancelled: told of claims whose runs are cancelled, each time. on_lost: of those others have by now."""
        self._engine = engine
        self._lease_s = lease_s
        self._on_cancelled = on_cancelled
        self._on_lost = on_lost
        self._claims: dict[int, Claim] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="leases", daemon=True).start()

    def hold(self, claims: Iterable[Claim]) -> None:
        """Keep these from now on."""
        with self._lock:
            self._claims.update({claim.key: claim for claim in claims})

    def release(self, claims: Iterable[Claim]) -> None:
        """Their results are written, or they are somebody else's."""
        with self._lock:
            for claim in claims:
                self._claims.pop(claim.key, None)

    def _run(self) -> None:
        wake = threading.Event()
        while not wake.wait(self._lease_s / 3):
            with self._lock:
                claims = list(self._claims.values())
            if not claims:
                continue
            try:
                with self._engine.connect() as connection:
                    kept = renew(connection, claims, self._lease_s)
                    cancelled = of_cancelled_runs(connection, claims)
            except (SQLAlchemyError, psycopg.Error) as error:
                log.warning("leases could not be renewed: %s", error)
                continue
            if cancelled:
                self._on_cancelled([claim for claim in claims if claim.key in cancelled & kept])
            lost = [claim for claim in claims if claim.key not in kept]
            if lost:
                log.warning("lost the claim of %s", ", ".join(claim.attempt_id for claim in lost))
                self.release(lost)
                if self._on_lost is not None:
                    self._on_lost(lost)
