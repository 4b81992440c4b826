"""What travels to workers: recordings, orders and the suite's files, as content-addressed blobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passgrid.cassettes.format import BrokenCassette, read_cassette, write_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.payloads import read_payload, references
from passgrid.identity import canonical_json, content_hash
from passgrid.library import Suite
from passgrid.matrix import Cell, Mode
from passgrid.problems import Problem


class Packing:
    """Collects what travels to workers as content-addressed blobs."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.cassettes: dict[tuple[str, int], str] = {}
        self.orders: dict[str, str] = {}
        self._checked_payloads: set[tuple[str, str]] = set()

    def add(self, data: bytes) -> str:
        """Take a blob; returns its hash."""
        digest = content_hash(data)
        self.blobs[digest] = data
        return digest

    def take_cassettes(self, cells: Sequence[Cell], suites: Mapping[str, Suite], k: int) -> list[Problem]:
        """The recordings of samples 0 to k-1 of every cell; every missing or broken one is a problem."""
        problems: list[Problem] = []
        unknown: set[tuple[str, str]] = set()
        labels = {suite: frozenset(suites[suite].cassettes.labels()) for suite in {cell.suite for cell in cells}}
        for cell in cells:
            folder = suites[cell.suite].cassettes
            label = cell.arm.model.name
            if label not in labels[cell.suite]:
                unknown.add((cell.suite, label))
                continue
            there = folder.recordings(label, cell.arm.prompt.name, cell.scenario.name)
            if there < k:
                problems.append(_missing(cell, there, k))
                continue
            for sample in range(k):
                problems += self._take_cassette(cell, folder, sample)
        for suite, label in sorted(unknown):
            there = ", ".join(f"recorded:{name}" for name in sorted(labels[suite])) or "none"
            problems.append(Problem(f"--model recorded:{label}", f"unknown in suite {suite}; there are: {there}"))
        return problems

    def _take_cassette(self, cell: Cell, folder: CassetteFolder, sample: int) -> list[Problem]:
        path = folder.path(cell.arm.model.name, cell.arm.prompt.name, cell.scenario.name, sample)
        try:
            cassette = read_cassette(path.read_bytes())
            named = (cassette.label, cassette.prompt, cassette.scenario, cassette.sample)
            expected = (cell.arm.model.name, cell.arm.prompt.name, cell.scenario.name, sample)
            if named != expected:
                raise BrokenCassette(f"it says it records {named}, and lies where {expected} belongs")
            for name in references(cassette.to_document()):
                self._take_payload(name, folder)
        except BrokenCassette as error:
            return [Problem(str(path), str(error), "restore the file, or record it again")]
        except OSError as error:
            return [Problem(str(path), f"cannot be read: {error}")]
        self.cassettes[cell.cell_id, sample] = self.add(write_cassette(cassette))
        return []

    def _take_payload(self, name: str, folder: CassetteFolder) -> None:
        key = (str(folder.root), name)
        if key not in self._checked_payloads:
            read_payload(name, folder.payload)
            self.add(folder.payload(name))
            self._checked_payloads.add(key)

    def take_orders(self, cells: Sequence[Cell], suites: Mapping[str, Suite], mode: Mode) -> None:
        """What else a worker needs for each cell: one blob, naming the blobs of the suite's files."""
        files = {name: {path: self.add(data) for path, data in suite.files.items()} for name, suite in suites.items()}
        for cell in cells:
            order = {
                "suite": cell.suite,
                "scenario": cell.scenario.model_dump(mode="json", by_alias=True, exclude_defaults=True),
                "prompt": {"name": cell.arm.prompt.name, "text": cell.arm.prompt.text},
                "model": str(cell.arm.model),
                "mode": mode,
                "files": files[cell.suite],
            }
            self.orders[cell.cell_id] = self.add(canonical_json(order))


def _missing(cell: Cell, there: int, k: int) -> Problem:
    missing = ", ".join(str(sample) for sample in range(there, min(k, there + 5)))
    missing += ", …" if k > there + 5 else ""
    place = f"{cell.suite}/{cell.scenario.name}, {cell.arm.model}, prompt {cell.arm.prompt.name}"
    return Problem(place, f"{there} recordings, {k} wanted; missing: {missing}", f"use -k {there}" if there else "")
