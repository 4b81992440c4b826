"""Taking away what a lost try made: nobody is left who saw what was there before it."""

from __future__ import annotations

from collections.abc import Iterable

from passgrid.aftermath.asking import AsksServers
from passgrid.aftermath.session_ledger import belongs, listed, torn_down
from passgrid.scenario import Scenario
from passgrid.scoring.afterwards import Leftover


async def taken_away(
    scenario: Scenario, servers: AsksServers, namespace: str, made: Iterable[tuple[str, str]]
) -> tuple[int, tuple[Leftover, ...]]:
    """Delete what carries the try's namespace, and what its settled calls made; nothing else.

    Returns how many are gone, and what is left with its reason. Raises `AskedInVain` where a kind cannot be listed.
    """
    known = frozenset(made)
    there = await listed(servers, scenario.ledger)
    ours = [
        (name, item)
        for name, kind in scenario.ledger.items()
        for item, value in there[name].items()
        if belongs(name, kind, item, value, known, namespace)
    ]
    return await torn_down(servers, scenario.ledger, ours) if ours else (0, ())
