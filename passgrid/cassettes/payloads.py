"""Large or repeated values, stored once per suite by content hash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from passgrid.cassettes.format import BrokenCassette, Cassette, Payloads, Step
from passgrid.identity import content_hash
from passgrid.json_values import is_array, is_object

REFERENCE = "$payload"
WORTH_A_PAYLOAD = 1024
"""Values of at least so many bytes become payloads."""


def payload_file(value: Any) -> tuple[str, bytes]:
    """The name and bytes of the payload that stands for `value`: text as it is, everything else as indented JSON.

    Keys stay in their order: it is what the model saw.
    """
    if isinstance(value, str):
        data, suffix = value.encode(), "txt"
    else:
        data, suffix = orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n", "json"
    return f"{content_hash(data)}.{suffix}", data


def references(value: Any) -> set[str]:
    """Every payload name that stands somewhere in a JSON value."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if is_object(item):
            if len(item) == 1 and REFERENCE in item:
                found.add(str(item[REFERENCE]))
            else:
                waiting += item.values()
        elif is_array(item):
            waiting += item
    return found


def read_payload(name: str, payloads: Payloads) -> Any:
    """The value a payload name stands for.

    Raises `BrokenCassette` where the payload is missing, or its bytes are not those its name promises.
    """
    try:
        data = payloads(name)
    except KeyError:
        raise BrokenCassette(f"its payload {name} is missing") from None
    digest, _, suffix = name.partition(".")
    if content_hash(data) != digest:
        raise BrokenCassette(f"its payload {name} does not have the content its name promises")
    return data.decode() if suffix == "txt" else orjson.loads(data)


def resolved(value: Any, payloads: Mapping[str, Any]) -> Any:
    """`value` with every reference replaced by what `payloads` holds for it."""
    if is_object(value):
        if len(value) == 1 and REFERENCE in value:
            return payloads[value[REFERENCE]]
        return {key: resolved(item, payloads) for key, item in value.items()}
    if is_array(value):
        return [resolved(item, payloads) for item in value]
    return value


def resolve(cassette: Cassette, payloads: Payloads) -> Cassette:
    """The cassette with its values in place, ready to replay. Raises `BrokenCassette`."""
    document = cassette.to_document()
    values = {name: read_payload(name, payloads) for name in references(document)}
    if not values:
        return cassette
    return replace(
        cassette,
        system=resolved(cassette.system, values),
        tools=resolved(cassette.tools, values),
        steps=tuple(resolved(step, values) for step in cassette.steps),
        workspace=resolved(dict(cassette.workspace), values),
        afterwards=resolved(dict(cassette.afterwards), values),
    )


def _with(part: dict[str, Any], keys: tuple[str, ...], change: Callable[[Any], Any]) -> dict[str, Any]:
    return {key: change(value) if key in keys else value for key, value in part.items()}


def packed(cassette: Cassette) -> tuple[Cassette, dict[str, bytes]]:
    """The cassette with its large values moved out, and the payload files that hold them."""
    files: dict[str, bytes] = {}

    def move_out(value: Any, always: bool = False) -> Any:
        size = len(value) if isinstance(value, str) else len(orjson.dumps(value))
        # What looks like a reference and is none goes out too: inside a payload nothing is resolved.
        if not always and size < WORTH_A_PAYLOAD and not references(value):
            return value
        name, data = payload_file(value)
        files[name] = data
        return {REFERENCE: name}

    def lightened(step: Step) -> Step:
        if "calls" in step:
            return {"calls": [_with(call, ("result", "error", "told"), move_out) for call in step["calls"]]}
        if "alone" in step:
            return {"alone": _with(step["alone"], ("args", "result", "error"), move_out)}
        if "model" in step:
            turn = step["model"]
            return {"model": {**turn, "parts": [_with(part, ("args", "image"), move_out) for part in turn["parts"]]}}
        if "user" in step and not isinstance(step["user"], str):
            return {"user": move_out(step["user"])}
        return step

    changed = {path: move_out(text) for path, text in cassette.workspace.get("changed", {}).items()}
    workspace = {**cassette.workspace, "changed": changed} if cassette.workspace else {}
    light = replace(
        cassette,
        system=cassette.system if cassette.system is None else move_out(cassette.system, always=True),
        tools=move_out(cassette.tools, always=True),
        steps=tuple(lightened(step) for step in cassette.steps),
        workspace=workspace,
        afterwards={name: move_out(part) for name, part in cassette.afterwards.items()},
    )
    return light, files
