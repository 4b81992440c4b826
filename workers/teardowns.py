"""A thread of a live host that takes away what lost tries made."""

from __future__ import annotations

import asyncio
import logging
import os
import threading

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from passgrid.aftermath.aftermath import AFTERMATH_SECONDS
from passgrid.aftermath.asking import AskedInVain
from passgrid.aftermath.reaping import taken_away
from passgrid.redaction import Redactor, secrets_of
from passgrid.scoring.afterwards import Leftover
from passgrid.suite_code import SuiteCode
from passgrid.tools.declared import server_secrets
from passgrid.tools.sessions import Surroundings
from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.teardowns import Teardown, claim_teardowns, end_teardown, put_off_teardown
from workers.naming import incarnation
from workers.orders import OrderBook
from workers.stopping import STOPPING
from workers.suite_folder import SuiteFolders

log = logging.getLogger(__name__)

LOOK_SECONDS = 2.0


def start_tearing_down(database_url: str) -> None:
    """Look for lost tries as long as the host lives."""
    threading.Thread(target=_work, args=(database_url,), name="teardowns", daemon=True).start()


def _work(database_url: str) -> None:
    engine = make_engine(database_url, pool_size=1)
    orders, name = OrderBook(SuiteFolders()), incarnation()
    while not STOPPING.wait(LOOK_SECONDS):
        try:
            with engine.connect() as connection:
                due = claim_teardowns(connection, name)
            for one in due:
                _tear_down(engine, orders, one)
        except SQLAlchemyError as error:
            log.warning("teardowns: %s; looking again", str(error).splitlines()[0])


def _tear_down(engine: sa.Engine, orders: OrderBook, one: Teardown) -> None:
    try:
        removed, left = asyncio.run(_taken_away(engine, orders, one))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is due again, and says why
        why = str(error) if isinstance(error, AskedInVain) else f"{type(error).__name__}: {error}"
        log.warning("what attempt %s, try %d, made could not be taken away: %s", one.attempt_id, one.fence, why)
        with engine.connect() as connection:
            put_off_teardown(connection, one, why)
        return
    if removed or left:
        log.info("attempt %s, try %d: %d taken away, %d left", one.attempt_id, one.fence, removed, len(left))
    with engine.connect() as connection:
        end_teardown(connection, one, removed, left)


async def _taken_away(engine: sa.Engine, orders: OrderBook, one: Teardown) -> tuple[int, tuple[Leftover, ...]]:
    with engine.connect() as connection:
        scenario, files, folder = orders.scenario(connection, one.order_hash)
    if not scenario.ledger:
        return 0, ()
    # The client of live servers takes seconds to import: only where there is something to do.
    from passgrid.tools.live import live_tools

    redactor = Redactor(secrets_of(os.environ) | server_secrets(scenario.mcp_servers))
    around = Surroundings(SuiteCode(files), redactor, {"suite": folder, "workspace": None})
    namespace = orders.namespace(one.run_id, one.attempt_id, one.fence)
    async with (
        asyncio.timeout(AFTERMATH_SECONDS),
        live_tools(scenario.mcp_servers, around, None, must_be_ours=False) as servers,
    ):
        return await taken_away(scenario, servers, namespace, one.made)
