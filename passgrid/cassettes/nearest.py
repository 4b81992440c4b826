"""What to say of a call no recording knows: the nearest recorded ones, how they differ, and how to record it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from passgrid.cassettes.history import History
from passgrid.cassettes.session import Call, RecordedSession, WorldSession
from passgrid.cassettes.track import Occurrence
from passgrid.differences import first_difference
from passgrid.json_values import is_object

SHOWN_CALLS = 3
SHOWN_CHARACTERS = 200


def miss_text(session: RecordedSession, call: Call) -> str:
    """The message for a call without an answer, the nearest recorded calls first."""
    lines = [f"tool {call.tool}: no recorded answer to {_shown(call.arguments)} in this state"]
    near = sorted(_near(session.alive, call))[:SHOWN_CALLS]
    if near:
        lines += [f"nearest: {text}" for _, text in near]
    else:
        tools = sorted({one.tool for world in session.alive for track in world.world.tracks.values()
                        for one in track.occurrences})  # fmt: skip
        lines.append(f"it was never called; recorded are calls of {', '.join(tools) or 'no tool'}")
    lines.append("to record it: submit-matrix with --mode live --record, and a label of its own")
    return "; ".join(lines)


def _near(sessions: Iterable[WorldSession], call: Call) -> Iterator[tuple[int, str]]:
    seen: set[str] = set()
    for session in sessions:
        for one in session.world.occurrences_of(call.tool):
            distance, text = _difference(session, one, call)
            if text not in seen:
                seen.add(text)
                yield distance, text
        if len(seen) > 200:
            return


def _difference(session: WorldSession, one: Occurrence, call: Call) -> tuple[int, str]:
    count = _different_arguments(one.call.arguments, call.arguments)
    if count:
        difference = first_difference(one.call.arguments, call.arguments, "arguments")
        more = f" and {count - 1} more" if count > 1 else ""
        return count * 10 + (not _same_state(session, one)), f"{difference or 'other spelling'}{more}"
    if not _same_state(session, one):
        return 1, f"recorded with these arguments, but {_states(session, one)}"
    if not one.certain:
        return 2, "recorded with these arguments, but at the same time as a call that may change its answer"
    return 3, "recorded with these arguments, and another answer each time; asked once more than it was"


def _same_state(session: WorldSession, one: Occurrence) -> bool:
    return one.state == session.history.state_for(session.world.rules.relevant(one.tool))


def _states(session: WorldSession, one: Occurrence) -> str:
    rules = session.world.rules
    track = session.world.tracks[one.recording]
    before = next(step.before for step in track.steps if one.position <= step.occurrences[-1].position)
    then, now = (_writes(history, rules.relevant(one.tool)) for history in (before, session.history))
    return f"after {then or 'no writing call'}; here it comes after {now or 'no writing call'}"


def _writes(history: History, relevant: frozenset[str] | None) -> str:
    tools = [
        write.tool for _, writes in history.steps for write in writes if relevant is None or write.tool in relevant
    ]
    return ", ".join(tools[-5:]) if len(tools) <= 5 else f"{len(tools)} writing calls, the last {', '.join(tools[-3:])}"


def _different_arguments(left: Any, right: Any) -> int:
    if is_object(left) and is_object(right):
        return sum(_differ(left.get(key), right.get(key)) for key in {*left, *right})
    return int(_differ(left, right))


def _differ(left: Any, right: Any) -> bool:
    return first_difference(left, right) is not None


def _shown(value: Any) -> str:
    text = orjson.dumps(value, default=str).decode()
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
