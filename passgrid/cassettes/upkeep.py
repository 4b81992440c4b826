"""Looking after the recordings of a suite: sizes, secrets, and payloads nothing refers to any more."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import zstandard

from passgrid.cassettes.format import BrokenCassette, Cassette, read_cassette
from passgrid.cassettes.layout import PAYLOADS, TIMINGS_SUFFIX, CassetteFolder
from passgrid.cassettes.payloads import references, resolve
from passgrid.cassettes.redacting import redacted_cassette, secrets_in
from passgrid.problems import Problem
from passgrid.redaction import Redactor

PACK_LEVEL = 19


@dataclass(frozen=True, slots=True)
class LabelSize:
    """What the recordings of one label take."""

    suite: str
    label: str
    prompts: int
    scenarios: int
    cassettes: int
    own_bytes: int
    """Of the cassette files."""
    payload_bytes: int
    """Of the payloads they refer to; payloads are shared, so the sum over labels may be more than there is."""


def label_sizes(folder: CassetteFolder) -> Iterator[LabelSize]:
    """The sizes of every label. Raises `BrokenCassette` for a file that cannot be read."""
    for label in folder.labels():
        paths = [path for path in folder.files() if path.relative_to(folder.root).parts[0] == label]
        names = {name for path in paths for name in references(read_cassette(path.read_bytes()).to_document())}
        yield LabelSize(
            suite=folder.suite.name,
            label=label,
            prompts=len({path.parts[-3] for path in paths}),
            scenarios=len({path.parts[-2] for path in paths}),
            cassettes=len(paths),
            own_bytes=sum(path.stat().st_size for path in paths),
            payload_bytes=sum((folder.root / PAYLOADS / name).stat().st_size for name in names),
        )


def verify(folder: CassetteFolder, redactor: Redactor) -> list[Problem]:
    """Everything wrong with the recordings: files that cannot be read, payloads that are missing, secrets."""
    problems: list[Problem] = []
    for path in folder.files():
        try:
            cassette = whole(folder, path)
        except BrokenCassette as error:
            problems.append(Problem(str(path), str(error), "restore the file, or record it again"))
            continue
        if kinds := secrets_in(cassette, redactor):
            remedy = f"passgrid cassette redact {folder.suite}"
            problems.append(Problem(str(path), f"holds secrets ({', '.join(sorted(kinds))})", remedy))
    return problems


def redact(folder: CassetteFolder, redactor: Redactor, *, dry_run: bool = False) -> list[Path]:
    """Replace the secrets in every recording; returns the files that change. Payloads that held them go."""
    changed: list[Path] = []
    for path in folder.files():
        cassette = whole(folder, path)
        if secrets_in(cassette, redactor):
            changed.append(path)
            if not dry_run:
                folder.write(redacted_cassette(cassette, redactor))
    if changed and not dry_run:
        for path in unreachable(folder):
            path.unlink()
    return changed


def replaced(folder: CassetteFolder, labels: str, keep: int = 1) -> list[Path]:
    """Recordings that newer ones replace: of the same attempt, under a label that fits and comes later by name.

    labels: a pattern such as `nightly-*`. keep: how many of the newest labels stay whole.
    """
    fitting = sorted((label for label in folder.labels() if fnmatchcase(label, labels)), reverse=True)
    newer: set[tuple[str, ...]] = set()
    found: list[Path] = []
    for age, label in enumerate(fitting):
        paths = sorted((folder.root / label).glob("*/*/*.json"))
        places = [path.relative_to(folder.root / label).parts for path in paths]
        if age >= keep:
            found += [path for path, place in zip(paths, places, strict=True) if place in newer]
        newer.update(places)
    return sorted(found)


def removable(folder: CassetteFolder, labels: str | None = None, keep: int = 1) -> list[Path]:
    """Everything that can go: what newer recordings replace, and then nothing refers to any more."""
    gone = replaced(folder, labels, keep) if labels is not None else []
    return [*gone, *unreachable(folder, without=gone)]


def unreachable(folder: CassetteFolder, without: Collection[Path] = ()) -> list[Path]:
    """Payloads no recording refers to, timings of no recording, and files a broken off writing left.

    without: recordings that are about to go, and count as gone.
    """
    kept = [path for path in folder.files() if path not in set(without)]
    used = {name for path in kept for name in references(read_cassette(path.read_bytes()).to_document())}
    payloads = folder.root / PAYLOADS
    there = sorted(payloads.iterdir()) if payloads.is_dir() else []
    left = sorted(path for path in folder.root.rglob(".*.json.*") if path.is_file()) if folder.root.is_dir() else []
    recordings = set(kept)
    alone = [path for path in folder.root.rglob(f"*{TIMINGS_SUFFIX}") if path.with_suffix(".json") not in recordings]
    return [path for path in there if path.name not in used] + left + sorted(alone)


def whole(folder: CassetteFolder, path: Path) -> Cassette:
    """A recording with its payloads in place. Raises `BrokenCassette`."""
    cassette = resolve(read_cassette(path.read_bytes()), folder.payload)
    return replace(cassette, timings=folder.timings(path))


def packed_size(folder: CassetteFolder) -> int:
    """Bytes of all recordings and payloads as `pack` writes them."""
    return len(pack(folder))


def pack(folder: CassetteFolder) -> bytes:
    """All recordings and payloads in one zstd stream, deterministic: name and length of each file, then its bytes."""
    timings = sorted(folder.root.rglob(f"*{TIMINGS_SUFFIX}"))
    files = [*folder.files(), *timings, *sorted((folder.root / PAYLOADS).glob("*"))]
    plain = bytearray()
    for path in files:
        data = path.read_bytes()
        plain += f"{path.relative_to(folder.root).as_posix()} {len(data)}\n".encode() + data
    return zstandard.ZstdCompressor(level=PACK_LEVEL).compress(bytes(plain))


def unpack(data: bytes, folder: CassetteFolder) -> int:
    """Write what `pack` packed; returns how many files. Raises `BrokenCassette` where it is none, or would leave it."""
    try:
        plain = zstandard.ZstdDecompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise BrokenCassette(f"not a pack of recordings: {error}") from None
    root = folder.root.resolve()
    files: dict[Path, bytes] = {}
    at = 0
    while at < len(plain):
        end = plain.index(b"\n", at)
        name, _, length = plain[at:end].decode().rpartition(" ")
        target = (root / name).resolve()
        if not target.is_relative_to(root):
            raise BrokenCassette(f"a file of the pack would leave its folder: {name}")
        files[target] = plain[end + 1 : end + 1 + int(length)]
        at = end + 1 + int(length)
    for target, body in files.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(body)
    return len(files)
