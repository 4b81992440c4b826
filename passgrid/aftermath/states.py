"""Reading the state of a platform, and comparing it with that after the reference's calls."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import orjson

from passgrid.aftermath.asking import AskedInVain, AsksServers
from passgrid.differences import EXPECTATION, first_difference
from passgrid.end_state import EndState
from passgrid.identity import value_hash
from passgrid.json_paths import at_path
from passgrid.json_values import is_object

KEPT_BYTES = 100_000
"""A state that is larger is compared and not kept."""
MOST_DIFFERENCES = 5


class FreshServers(Protocol):
    """Opens a session of the same servers that nothing happened in."""

    def __call__(self) -> AbstractAsyncContextManager[AsksServers]:
        """One session."""
        ...


_references: dict[str, dict[str, Any]] = {}
"""States after the reference's calls, by everything that decides them: the trials of a task share one."""
_MOST_REFERENCES = 256


async def end_state(declared: EndState, servers: AsksServers, fresh: FreshServers | None, key: str) -> dict[str, Any]:
    """The state now: `{"state"?, "equal"?, "differences"?}`, or `{"error"}`.

    Args:
        declared: how it is read.
        servers: of the attempt.
        fresh: opens a session for the reference's calls; None where a state cannot be had twice.
        key: of everything but `declared` that decides the reference's state.
    """
    try:
        state = await _read(declared, servers)
        found: dict[str, Any] = {"declared": value_hash(declared.model_dump(mode="json"))[:16]}
        if len(orjson.dumps(state)) <= KEPT_BYTES:
            found["state"] = state
        if declared.reference is not None:
            differences = list(_differences(await _reference(declared, fresh, key), state))
            found |= {"equal": not differences, "differences": differences}
    except AskedInVain as error:
        return {"error": str(error)}
    return found


async def _reference(declared: EndState, fresh: FreshServers | None, key: str) -> dict[str, Any]:
    if fresh is None:
        raise AskedInVain("a hosted server has no fresh state in which the reference's calls could be made")
    name = value_hash([key, declared.model_dump(mode="json")])
    if name not in _references:
        async with fresh() as servers:
            for call in declared.reference or ():
                try:
                    await servers.ask(declared.server, call.tool, dict(call.arguments))
                except AskedInVain:
                    continue  # a right solution may hold a call that errs: its state is what counts
            state = await _read(declared, servers)
        while len(_references) >= _MOST_REFERENCES:
            del _references[next(iter(_references))]
        _references[name] = state
    return _references[name]


async def _read(declared: EndState, servers: AsksServers) -> dict[str, Any]:
    """What is compared, by path; the whole state under an empty one."""
    whole = await _whole(declared, servers)
    if not declared.parts:
        return {"": whole} if not is_object(whole) else whole
    found: dict[str, Any] = {}
    for path in declared.parts:
        try:
            found[path] = at_path(whole, path)
        except LookupError as missing:
            raise AskedInVain(f"the state has no {missing.args[0]}") from None
    return found


async def _whole(declared: EndState, servers: AsksServers) -> Any:
    if declared.first is not None:
        await servers.ask(declared.server, declared.first.tool, dict(declared.first.arguments))
    if declared.tool is not None:
        return await servers.ask(declared.server, declared.tool, dict(declared.arguments))
    if declared.resource is not None:
        return await servers.read(declared.server, declared.resource)
    folder = servers.private_folder(declared.server)
    if folder is None:
        raise AskedInVain("its server has no ${private} folder to keep files in")
    found: dict[str, Any] = {}
    for path in sorted(folder.glob(declared.files or "")):
        try:
            document: Any = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise AskedInVain(f"{path.name} is no JSON file: {error}") from None
        found |= document if is_object(document) else {path.name: document}
    if not found:
        remedy = "name a call in end_state.first, for a server that writes only when it is called"
        raise AskedInVain(f"it keeps no file {declared.files}; {remedy}")
    return found


def _differences(reference: Mapping[str, Any], state: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    for path in [*reference, *(path for path in state if path not in reference)]:
        ours, theirs = reference.get(path), state.get(path)
        if is_object(ours) and is_object(theirs):
            keys = [*ours, *(key for key in theirs if key not in ours)]
            pairs = [(f"{path}.{key}", ours.get(key), theirs.get(key)) for key in keys]
        else:
            pairs = [(path, ours, theirs)]
        for place, one, other in pairs:
            if (difference := first_difference(one, other, place, EXPECTATION)) is not None:
                found.append(difference)
                if len(found) >= MOST_DIFFERENCES:
                    return found
    return found
