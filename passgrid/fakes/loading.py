"""Load files of fakes: all of their blocks or none, with every mistake named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from passgrid.fakes.block_reading import BlockReader
from passgrid.fakes.blocks import DEFAULT_MOUNT, Block
from passgrid.fakes.load_errors import Complaints, Rule, UnusableFakes
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.json_values import is_array, is_object, json_type

DEEPEST = 64
"""Levels a document of fakes may be nested."""
CODE = "code"
CONTROL_API = "control-api"
_NUMBERED = frozenset({CODE, CONTROL_API})
"""Sources without a file: their loads are numbered on each mount."""


@dataclass(frozen=True)
class Fakes:
    """Everything loaded, by mount; frozen, so that a load that fails changes nothing."""

    mounts: Mapping[str, MountFakes] = field(default_factory=dict[str, MountFakes])
    version: int = 0

    def mount(self, path: str) -> MountFakes:
        """The fakes of a mount; none where nothing was loaded."""
        return self.mounts.get(path) or MountFakes(path, version=self.version)

    def at_version(self, version: int) -> Fakes:
        """The same, known by this version."""
        return Fakes({path: replace(one, version=version) for path, one in self.mounts.items()}, version)

    def emptied(self) -> Fakes:
        """Without any block; numbers of loads go on."""
        kept = {path: MountFakes(path, counter=one.counter) for path, one in self.mounts.items()}
        return Fakes(kept)

    def without(self, source: str) -> Fakes:
        """Without what a file brought."""
        kept = {
            path: replace(
                one,
                blocks=tuple(block for block in one.blocks if _source_of(block.block_id) != source),
                loads={name: count for name, count in one.loads.items() if name != source},
            )
            for path, one in self.mounts.items()
        }
        return Fakes(kept)


@dataclass(frozen=True)
class Loaded:
    """A load that went well."""

    fakes: Fakes
    added: int
    """How many blocks."""
    warnings: tuple[str, ...] = ()


def load(fakes: Fakes, document: Any, source: str) -> Loaded:
    """Add the blocks of a document.

    Args:
        fakes: what is loaded so far.
        document: an object with `mcpFakes`, one block or several; without it nothing is added.
        source: the file's name, or `code`, or `control-api`.

    Raises `UnusableFakes` with every mistake.
    """
    complaints = Complaints(source)
    declared, is_list = _declared(document, complaints)
    mounts = dict(fakes.mounts)
    sources: dict[str, tuple[str, str]] = {}
    for index, raw in enumerate(declared):
        path = _mount_of(raw)
        if path not in sources:
            mounts[path], sources[path] = _begun(mounts.get(path) or MountFakes(path), source)
        _, prefix = sources[path]
        block = BlockReader(f"{prefix}[{index}]" if is_list else prefix, complaints).read(raw)
        if block is not None:
            mounts[path] = replace(mounts[path], blocks=(*mounts[path].blocks, block))
            _check_ids(mounts[path], block, complaints)
    if complaints.errors:
        raise UnusableFakes(tuple(complaints.errors))
    return Loaded(Fakes(mounts), len(declared), tuple(complaints.warnings))


def load_files(fakes: Fakes, paths: Mapping[str, Path]) -> Loaded:
    """Add the blocks of files, by the name each is known under; all of them or none. Raises `UnusableFakes`."""
    errors: list[Any] = []
    warnings: list[str] = []
    added = 0
    for source, path in paths.items():
        try:
            one = load(fakes, read_document(path.read_bytes(), source), source)
        except UnusableFakes as error:
            errors += error.errors
        else:
            fakes, added = one.fakes, added + one.added
            warnings += one.warnings
    if errors:
        raise UnusableFakes(tuple(errors))
    return Loaded(fakes, added, tuple(warnings))


def fake_files(path: Path) -> dict[str, Path]:
    """The files a path stands for, by the name their blocks are known under: itself, or every .json file below it."""
    if not path.is_dir():
        return {str(path): path}
    return {found.relative_to(path).as_posix(): found for found in sorted(path.rglob("*.json")) if found.is_file()}


def read_document(data: bytes, source: str) -> Any:
    """The JSON of a file: whole numbers exact, of a key that stands twice the last. Raises `UnusableFakes`."""
    try:
        return json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        complaints = Complaints(source)
        message = "nested too deep" if isinstance(error, RecursionError) else str(error)
        complaints.bad(Rule.BAD_SHAPE, f"not a JSON document: {message}")
        raise UnusableFakes(tuple(complaints.errors)) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _declared(document: Any, complaints: Complaints) -> tuple[list[Any], bool]:
    if not is_object(document):
        complaints.bad(Rule.WRONG_TYPE, f"a file of fakes holds an object, not {json_type(document)}")
        return [], False
    if "mcpFakes" not in document:
        return [], False
    declared: Any = document["mcpFakes"]
    if deeper_than(declared, DEEPEST):
        complaints.bad(Rule.BAD_SHAPE, f"mcpFakes is nested deeper than {DEEPEST} levels")
        return [], False
    if is_object(declared):
        return [declared], False
    if is_array(declared) and declared:
        return list(declared), True
    complaints.bad(Rule.WRONG_TYPE, "mcpFakes must be a block, or a non-empty array of blocks")
    return [], False


def deeper_than(value: Any, levels: int) -> bool:
    """Whether arrays and objects are nested deeper than so many levels."""
    layer = [value]
    for _ in range(levels + 1):
        inner: list[Any] = []
        for one in layer:
            if is_object(one):
                inner.extend(one.values())
            elif is_array(one):
                inner.extend(one)
        if not inner:
            return False
        layer = inner
    return any(is_object(one) or is_array(one) for one in layer)


def _mount_of(raw: Any) -> str:
    mount: Any = raw.get("mount", DEFAULT_MOUNT) if is_object(raw) else DEFAULT_MOUNT
    return mount if isinstance(mount, str) and mount.startswith("/") else DEFAULT_MOUNT


def _begun(mount: MountFakes, source: str) -> tuple[MountFakes, tuple[str, str]]:
    """The mount with this load counted, and the source's name there with how often it was loaded."""
    if source in _NUMBERED:
        number = mount.counter + 1
        name = f"{source}#{number}"
        return replace(mount, counter=number), (name, name)
    count = mount.loads.get(source, 0) + 1
    return replace(mount, loads={**mount.loads, source: count}), (source, source if count == 1 else f"{source}@{count}")


def _source_of(block_id: str) -> str:
    """The source in a block's id: without the position in a list, without the number of its load."""
    if block_id.endswith("]"):
        block_id = block_id[: block_id.rindex("[")]
    name, mark, number = block_id.rpartition("@")
    return name if mark and number.isdigit() else block_id


def _check_ids(mount: MountFakes, block: Block, complaints: Complaints) -> None:
    others = [other for other in mount.blocks if other is not block]
    if any(other.block_id == block.block_id for other in others):
        complaints.bad(Rule.ID_COLLISION, f"another block on {mount.mount} has this id", block.block_id)
    known = {entry.entry_id for other in others for entry in other.entries}
    for entry in block.entries:
        if entry.entry_id in known:
            complaints.bad(
                Rule.ID_COLLISION, f"two calls on {mount.mount} have this id", block.block_id, entry.entry_id
            )
        known.add(entry.entry_id)
