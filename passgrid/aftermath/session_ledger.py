"""The ledger of a session: what was there before, what is different after, and taking away what the attempt made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from passgrid.aftermath.asking import AskedInVain, AsksServers
from passgrid.cassettes.canonical import canonical_arguments
from passgrid.json_paths import as_json, at_path
from passgrid.json_values import is_array, is_object
from passgrid.ledger import LedgerKind, removal_order
from passgrid.scoring.afterwards import Leftover
from passgrid.scoring.evidence import Artifact
from passgrid.transcript import ToolCallRecord

Items = Mapping[str, Mapping[str, Any]]
"""What is on the platform: by kind, then by id."""
Made = frozenset[tuple[str, str]]
"""Kinds and ids of artifacts that calls of the attempt made, by their answers."""


async def listed(servers: AsksServers, kinds: Mapping[str, LedgerKind]) -> dict[str, dict[str, Any]]:
    """Everything there is of every kind. Raises `AskedInVain` where a kind cannot be listed."""
    return {name: await _items(servers, name, kind) for name, kind in kinds.items()}


async def _items(servers: AsksServers, name: str, kind: LedgerKind) -> dict[str, Any]:
    way = kind.list
    if way.tool is not None:
        answer = await servers.ask(kind.server, way.tool, dict(way.arguments))
    else:
        answer = await servers.read(kind.server, way.resource or "")
    try:
        items = as_json(at_path(answer, way.items))
        if is_object(items):
            # By id already, or one alone where servers unwrap a list of one.
            items = [items] if way.id in items else [{way.id: key, **value} for key, value in items.items()]
        return {str(at_path(item, way.id)): item for item in (items if is_array(items) else ())}
    except (LookupError, TypeError) as error:
        raise AskedInVain(f"the list of kind {name} is not as the ledger says: nothing at {error}") from None


def made_by(kinds: Mapping[str, LedgerKind], tool: str, result: Any) -> list[tuple[str, str]]:
    """Kind and id of what a call made, by its answer."""
    made: list[tuple[str, str]] = []
    for name, kind in kinds.items():
        if tool in kind.made_by:
            try:
                made.append((name, str(at_path(result, kind.made_by[tool]))))
            except LookupError:
                continue
    return made


def made_by_calls(kinds: Mapping[str, LedgerKind], calls: Iterable[ToolCallRecord]) -> Made:
    """What the calls of an attempt made."""
    return frozenset(one for call in calls if not call.error for one in made_by(kinds, call.tool, call.result))


def differences(
    kinds: Mapping[str, LedgerKind], before: Items, after: Items, made: Made, namespace: str,
    calls: Sequence[ToolCallRecord],
) -> tuple[Artifact, ...]:  # fmt: skip
    """Everything that is different, and whether this attempt made the difference."""
    mentioned = {text for call in calls if not call.error for text in _texts(call.arguments)}
    found: list[Artifact] = []
    for name, kind in kinds.items():
        old, new = before.get(name, {}), after.get(name, {})
        for item, value in new.items():
            if item not in old:
                ours = belongs(name, kind, item, value, made, namespace)
                found.append(Artifact(name, item, "created", value, ours))
            elif canonical_arguments({"": old[item]}) != canonical_arguments({"": value}):
                found.append(Artifact(name, item, "changed", value, item in mentioned))
        found += [Artifact(name, item, "gone", old[item], item in mentioned) for item in old if item not in new]
    return tuple(found)


def belongs(name: str, kind: LedgerKind, item: str, value: Any, made: Made, namespace: str) -> bool:
    """Whether an item is the attempt's: its call made it, or it carries the attempt's namespace."""
    if (name, item) in made:
        return True
    if kind.owner is None or not namespace:
        return False
    try:
        return kind.owner.contains.replace("${namespace}", namespace) in str(at_path(value, kind.owner.path))
    except LookupError:
        return False


async def torn_down(
    servers: AsksServers, kinds: Mapping[str, LedgerKind], ours: Iterable[tuple[str, str]]
) -> tuple[int, tuple[Leftover, ...]]:
    """Take these away, what depends on others first. Returns how many are gone, and what is left with its reason."""
    wanted = list(ours)
    asked: dict[tuple[str, str], str] = {}
    for name in removal_order(dict(kinds)):
        removal = kinds[name].delete
        for item in [item for kind, item in wanted if kind == name]:
            if removal is None:
                asked[name, item] = "the ledger declares no deletion"
                continue
            try:
                await servers.ask(kinds[name].server, removal.tool, _with_id(removal.arguments, item))
            except AskedInVain as error:
                asked[name, item] = str(error)
    try:
        there = await listed(servers, {name: kinds[name] for name in {kind for kind, _ in wanted}})
    except AskedInVain as error:
        return 0, tuple(Leftover(name, item, f"nobody knows: {error}") for name, item in wanted)
    left = [
        Leftover(name, item, asked.get((name, item), "it is still listed"))
        for name, item in wanted
        if item in there[name]
    ]
    return len(wanted) - len(left), tuple(left)


def _with_id(arguments: Any, item: str) -> Any:
    if is_object(arguments):
        return {key: _with_id(value, item) for key, value in arguments.items()}
    if arguments == "${id}":
        return int(item) if item.isdigit() and str(int(item)) == item else item
    return arguments.replace("${id}", item) if isinstance(arguments, str) else arguments


def _texts(value: Any) -> Iterable[str]:
    if is_object(value):
        return [text for item in value.values() for text in _texts(item)]
    if is_array(value):
        return [text for item in value for text in _texts(item)]
    return [str(value)]
