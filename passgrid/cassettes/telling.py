"""A recording as people read it, and where two recordings say different things."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import orjson

from passgrid.cassettes.format import Cassette, Step

LONGEST = 400
"""Longer texts are cut in what is shown, never in what is compared."""


def told(cassette: Cassette, longest: int | None = LONGEST) -> Iterator[str]:
    """Turns, calls and answers in order, a line each."""
    yield f"{cassette.scenario}, sample {cassette.sample}: {cassette.label}, prompt {cassette.prompt}"
    yield f"tools: {', '.join(_names(cassette.tools)) or 'none'}"
    for step in cassette.steps:
        for line in _lines(step):
            yield line if longest is None or len(line) <= longest else f"{line[:longest]} … ({len(line)} characters)"
    yield f"ended: {' '.join(str(value) for value in cassette.ending.values())}"


def differences(old: Cassette, new: Cassette, old_name: str, new_name: str) -> Iterator[str]:
    """Lines as `diff -u` prints them; times, costs and usage are no difference."""
    before, after = list(told(old, None)), list(told(new, None))
    for line in difflib.unified_diff(before, after, old_name, new_name, lineterm="", n=1):
        yield line if len(line) <= LONGEST else f"{line[:LONGEST]} …"


def _names(tools: Any) -> list[str]:
    return [tool["name"] for tool in tools or ()]


def _lines(step: Step) -> Iterator[str]:
    if "user" in step:
        yield f"user: {_shown(step['user'])}"
    elif "feedback" in step:
        yield f"library asks again: {step['feedback']}"
    elif "model" in step:
        for part in step["model"]["parts"]:
            if "call" in part:
                yield f"calls {part['call']} {_shown(part['args'])}"
            else:
                kind = next(iter(part))
                yield f"{'says' if kind == 'text' else kind}: {_shown(part[kind])}"
    elif "alone" in step:
        call = step["alone"]
        yield f"the program calls {call['tool']} {_shown(call['args'])}"
        yield from _answer(call, "it")
    else:
        for call in step["calls"]:
            yield from _answer(call, f"call {call['call']}")


def _answer(call: dict[str, Any], of: str) -> Iterator[str]:
    kind = next(name for name in ("result", "error", "library") if name in call)
    yield f"  {'own ' if call.get('own') else ''}{kind} of {of}: {_shown(call[kind])}"
    if "told" in call:
        yield f"  told instead: {_shown(call['told'])}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
