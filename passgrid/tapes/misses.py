"""What is said when a tape has no answer: the nearest recorded requests, and how to record the missing one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from passgrid.json_values import is_array, is_object
from passgrid.tapes.frames import Body, params_of

MISS_CODE = -32010
"""The JSON-RPC error code of a miss, in the range left to implementations."""

NEAREST = 3
SHOWN_DIFFERENCES = 4
SHOWN = 80


def miss_text(asked: Body, recorded: Sequence[Body], times: int, source: Mapping[str, Any]) -> str:
    """The message of a miss.

    recorded: the recorded requests of the same method. times: how often this very request was recorded.
    """
    lines = [f"replay miss: {_spoken(asked)}"]
    if times:
        lines.append(f"  recorded {times} times, and asked once more")
    elif not recorded:
        lines.append(f"  no {asked['method']} was recorded")
    else:
        lines += [f"  {line}" for line in _nearest(asked, recorded)]
    lines.append(f"  {_remedy(source)}")
    return "\n".join(lines)


def differences(recorded: Any, now: Any) -> list[str]:
    """Every place where two JSON values differ, in words."""
    was, is_ = dict(_leaves(recorded)), dict(_leaves(now))
    lines: list[str] = []
    for path in [*was, *(path for path in is_ if path not in was)]:
        if path not in is_:
            lines.append(f"{path}: recorded {_shown(was[path])}, now nothing")
        elif path not in was:
            lines.append(f"{path}: not recorded, now {_shown(is_[path])}")
        elif was[path] != is_[path] or isinstance(was[path], bool) != isinstance(is_[path], bool):
            lines.append(f"{path}: recorded {_shown(was[path])}, now {_shown(is_[path])}")
    return lines


def without_meta(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters or a result without `_meta`, which changes from session to session."""
    return {name: value for name, value in params.items() if name != "_meta"}


def _nearest(asked: Body, recorded: Sequence[Body]) -> Iterator[str]:
    now = without_meta(params_of(asked))
    distinct = {_spoken(body): differences(without_meta(params_of(body)), now) for body in recorded}
    # Another tool is further away than any other arguments.
    ranked = sorted(
        distinct.items(), key=lambda one: (one[1][:1] != [] and one[1][0].startswith("$.name:"), len(one[1]))
    )
    for spoken, found in ranked[:NEAREST]:
        yield f"nearest: {spoken}"
        yield from (f"  {line}" for line in found[:SHOWN_DIFFERENCES])
        if len(found) > SHOWN_DIFFERENCES:
            yield f"  and {len(found) - SHOWN_DIFFERENCES} differences more"


def _remedy(source: Mapping[str, Any]) -> str:
    ways = {
        "stdio": f"passgrid record stdio --out NEW.tape.jsonl -- {source.get('program', 'COMMAND')} ARGS…",
        "http": "passgrid record http URL --out NEW.tape.jsonl",
    }
    way = ways.get(str(source.get("transport")))
    return f"to record it: {way}, and send this request too" if way else "to record it: record a session that sends it"


def _spoken(body: Body) -> str:
    return f"{body['method']} {_shown(without_meta(params_of(body)), 200)}"


def _leaves(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    if is_object(value) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}")
    elif is_array(value) and value:
        for i, item in enumerate(value):
            yield from _leaves(item, f"{path}[{i}]")
    else:
        yield path, value


def _shown(value: Any, length: int = SHOWN) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= length else text[:length] + "…"
