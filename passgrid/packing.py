"""What travels to workers: recordings, orders and the suite's files, as content-addressed blobs."""

from __future__ import annotations

import glob
from collections.abc import Mapping, Sequence
from pathlib import Path

from passgrid.agent_axis import DEFAULT_AGENT
from passgrid.cassettes.format import BrokenCassette, read_cassette, write_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.matching import MatchingRules
from passgrid.cassettes.payloads import read_payload, references
from passgrid.identity import canonical_json, content_hash
from passgrid.library import Suite
from passgrid.matrix import Cell, Mode
from passgrid.problems import InvalidInput, Problem


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

    def take_recordings(
        self, cells: Sequence[Cell], suites: Mapping[str, Suite], k: int, label: str | None
    ) -> list[Problem]:
        """What recorded tools answer from: all recordings of a scenario under one label.

        Sample i prefers recording i, the cell's own prompt first.
        """
        problems: list[Problem] = []
        for cell in cells:
            if cell.scenario.all_faked:
                continue
            suite = suites[cell.suite]
            try:
                chosen = _label(suite, label)
            except InvalidInput as error:
                problems += error.problems
                continue
            hashes, wrong = self._take_scenario(cell, suite.cassettes, chosen)
            problems += wrong
            if not hashes and not wrong:
                place = f"{cell.suite}/{cell.scenario.name}"
                problems.append(Problem(place, f"nothing is recorded under {chosen}", "--mode live --record"))
            for sample in range(k if hashes else 0):
                turned = hashes[sample % len(hashes) :] + hashes[: sample % len(hashes)]
                self.cassettes[cell.cell_id, sample] = self.add(recording_list(turned, suite.matching))
        return sorted(set(problems))

    def _take_scenario(self, cell: Cell, folder: CassetteFolder, label: str) -> tuple[list[str], list[Problem]]:
        paths = sorted((folder.root / label).glob(f"*/{glob.escape(cell.scenario.name)}/*.json"))
        own = cell.arm.prompt.name
        hashes: list[str] = []
        problems: list[Problem] = []
        for path in sorted(paths, key=lambda path: (path.parts[-3] != own, path.parts[-3], int(path.stem))):
            try:
                hashes.append(self._take_file(path, folder))
            except (BrokenCassette, OSError) as error:
                problems.append(Problem(str(path), str(error), "restore the file, or record it again"))
        return hashes, problems

    def _take_file(self, path: Path, folder: CassetteFolder) -> str:
        """Raises `BrokenCassette`, `OSError`."""
        cassette = read_cassette(path.read_bytes())
        for name in references(cassette.to_document()):
            self._take_payload(name, folder)
        return self.add(write_cassette(cassette))

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
            if cell.arm.agent != DEFAULT_AGENT:
                order["agent"] = cell.arm.agent
            self.orders[cell.cell_id] = self.add(canonical_json(order))


def recording_list(hashes: Sequence[str], matching: MatchingRules) -> bytes:
    """The blob that names the recordings of a sandbox attempt, and says when they may answer."""
    rules = matching.model_dump(mode="json", exclude_defaults=True)
    return canonical_json({"recordings": list(hashes), "matching": rules})


def _label(suite: Suite, given: str | None) -> str:
    """The label whose recordings answer. Raises `InvalidInput` where that is not clear."""
    there = suite.cassettes.labels()
    label = given or suite.facts.recordings or (there[0] if len(there) == 1 else None)
    if label in there:
        return label
    message = f"no recordings are called {label} in suite {suite.name}" if label else "whose recordings are to answer?"
    remedy = f"--recordings with one of {', '.join(there)}" if there else "record some: --mode live --record --wait"
    raise InvalidInput([Problem("--mode sandbox", message, remedy)])


def _missing(cell: Cell, there: int, k: int) -> Problem:
    missing = ", ".join(str(sample) for sample in range(there, min(k, there + 5)))
    missing += ", …" if k > there + 5 else ""
    place = f"{cell.suite}/{cell.scenario.name}, {cell.arm.model}, prompt {cell.arm.prompt.name}"
    return Problem(place, f"{there} recordings, {k} wanted; missing: {missing}", f"use -k {there}" if there else "")
