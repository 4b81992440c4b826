"""A scripted clerk: no language model, but it says what one would, to whichever agent asks it."""

from __future__ import annotations

from passgrid import Call, PolicyTurn, policy


@policy("clerk")
def clerk(turn: PolicyTurn) -> str | Call:
    """Counts, orders what is missing where that is the task, and says what there is."""
    results = turn.results
    if turn.scenario == "look-up":
        return f"There are {results[0]} M8 bolts." if results else Call("count", {"article": "M8 bolt"})
    if not results:
        return Call("count", {"article": "M8 nut"})
    if len(results) == 1:
        return Call("order", {"article": "M8 nut", "pieces": 100 - int(results[0])})
    return f"I ordered {results[1]['ordered']}, so there are {results[1]['there']} M8 nuts now."
