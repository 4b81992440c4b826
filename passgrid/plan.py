"""From what was asked for to a matrix with everything it needs, or every reason why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from passgrid.cassettes.format import BrokenCassette, read_cassette, write_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.payloads import read_payload, references
from passgrid.harness import installed_harness
from passgrid.identity import canonical_json, content_hash
from passgrid.json_values import is_array
from passgrid.library import Suite, find_suite, load_prompt, load_suite
from passgrid.matrix import Attempt, Cell, Matrix, Mode, Prompt, SuiteSlice
from passgrid.model_reference import ModelReference, parse_model_reference
from passgrid.problems import InvalidInput, Problem
from passgrid.scenario import Scenario

NOT_YET = {Mode.SANDBOX: "a live model on recorded tools", Mode.DRIFT: "a recorded model on live tools"}
"""Modes the design names and this version does not have: refused, never ignored."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for, as it came from the command line, a spec file or the HTTP API."""

    suites: tuple[str, ...]
    models: tuple[str, ...]
    k: int
    mode: str = "replay"
    scenarios: tuple[str, ...] = ()
    """Only these; all of the suites when empty."""
    prompts: tuple[str, ...] = ()
    """The suites' defaults when empty."""
    tags: tuple[str, ...] = ()
    """Only scenarios that carry one of these."""
    limit: int | None = None
    """Only the first so many scenarios."""
    label: str = "default"
    priority: int = 0
    record: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is kept with the run."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def request_of(values: Mapping[str, Any]) -> Request:
    """A request from options by name, as a spec file or a JSON body holds them; what is absent has its default."""
    defaults: dict[str, Any] = {"suites": (), "models": (), "k": 1}
    plain: dict[str, Any] = {name: tuple(value) if is_array(value) else value for name, value in values.items()}
    return Request(**{**defaults, **plain})


@dataclass(frozen=True)
class Plan:
    """A checked matrix, ready to be written."""

    request: Request
    matrix: Matrix
    cells: tuple[Cell, ...]
    run_id: str
    cassettes: Mapping[tuple[str, int], str]
    """Hash of the recording that a cell's sample replays, by cell id and sample."""
    orders: Mapping[str, str]
    """Hash of the order blob by cell id: what a worker needs besides the cassette."""
    blobs: Mapping[str, bytes] = field(repr=False)
    """Everything that travels to workers, by content hash."""
    suite_folders: Mapping[str, Path]
    """Where each suite lies."""

    @property
    def wanted(self) -> int:
        """Attempts of the whole matrix."""
        return len(self.cells) * self.matrix.k

    @property
    def queue(self) -> str:
        """Which workers take it."""
        return "replay" if self.matrix.mode is Mode.REPLAY else "live"

    def attempts(self) -> Iterator[Attempt]:
        """Every wanted attempt, sample by sample."""
        return self.matrix.attempts(self.cells, lambda cell, sample: self.cassettes.get((cell.cell_id, sample)))


def make_plan(request: Request, library: Path | None = None) -> Plan:
    """Read and check everything a request names. Nothing is written.

    Args:
        request: what was asked for.
        library: the folder in which suites are looked up by name.

    Raises:
        InvalidInput: with every problem found.
    """
    problems = _flag_problems(request)
    models = _models(request, problems)
    suites = _suites(request, library, problems)
    slices = [part for suite in suites if (part := _slice(suite, request, problems)) is not None]
    if suites and not problems:
        slices = _filtered(slices, request, problems)
    if problems:
        raise InvalidInput(problems)
    matrix = Matrix(
        slices=tuple(slices),
        models=tuple(models),
        mode=Mode(request.mode),
        k=request.k,
        label=request.label,
        harness=installed_harness(),
    )
    cells = tuple(matrix.cells())
    by_name = {suite.name: suite for suite in suites}
    packing = _Packing()
    if matrix.mode is Mode.REPLAY:
        problems += packing.take_cassettes(cells, by_name, request.k)
    else:
        problems += _live_problems(cells, by_name)
    if problems:
        raise InvalidInput(problems)
    packing.take_orders(cells, by_name, matrix.mode)
    return Plan(
        request=request,
        matrix=matrix,
        cells=cells,
        run_id=matrix.run_id(cells),
        cassettes=packing.cassettes,
        orders=packing.orders,
        blobs=packing.blobs,
        suite_folders={name: suite.folder for name, suite in by_name.items()},
    )


def _flag_problems(request: Request) -> list[Problem]:
    problems: list[Problem] = []
    if request.k < 1:
        problems.append(Problem(f"-k {request.k}", "the number of samples must be at least 1"))
    if request.limit is not None and request.limit < 1:
        problems.append(Problem(f"--limit {request.limit}", "must be at least 1"))
    if request.mode not in list(Mode):
        problems.append(Problem(f"--mode {request.mode}", f"no such mode; there are: {', '.join(Mode)}"))
    elif Mode(request.mode) in NOT_YET:
        message = f"{NOT_YET[Mode(request.mode)]} is not in this version"
        problems.append(Problem(f"--mode {request.mode}", message, "use replay or live"))
    if not request.suites:
        problems.append(Problem("--suite", "name at least one suite", "for example --suite demo"))
    if not request.models:
        problems.append(Problem("--model", "name at least one model", "for example --model recorded:gpt-4o"))
    if request.record and request.mode == Mode.REPLAY:
        problems.append(Problem("--record", "a replay has nothing new to record", "use --mode live"))
    if len(request.label) > 100 or not request.label.strip():
        problems.append(Problem("--label", "must be 1 to 100 characters"))
    return problems


def _models(request: Request, problems: list[Problem]) -> list[ModelReference]:
    models: list[ModelReference] = []
    for text in request.models:
        try:
            model = parse_model_reference(text)
        except ValueError as error:
            problems.append(Problem("--model", str(error)))
            continue
        if request.mode in list(Mode) and Mode(request.mode).needs_recorded_model != model.recorded:
            if model.recorded:
                message, remedy = "a recorded model has no live turns to give", "use --mode replay, or a live model"
            else:
                message, remedy = "only recorded models can be replayed", "use recorded:<label>, or --mode live"
            problems.append(Problem(f"--model {text} --mode {request.mode}", message, remedy))
        elif model in models:
            problems.append(Problem(f"--model {text}", "is given twice"))
        models.append(model)
    return models


def _suites(request: Request, library: Path | None, problems: list[Problem]) -> list[Suite]:
    suites: list[Suite] = []
    for reference in request.suites:
        try:
            suite = load_suite(find_suite(reference, library))
        except InvalidInput as error:
            problems += error.problems
            continue
        if any(suite.name == other.name for other in suites):
            problems.append(Problem(f"--suite {reference}", f"a suite called {suite.name} is given twice"))
        suites.append(suite)
    return suites


def _slice(suite: Suite, request: Request, problems: list[Problem]) -> SuiteSlice | None:
    prompts: list[Prompt] = []
    for name in request.prompts or (None,):
        try:
            prompts.append(load_prompt(suite, name))
        except InvalidInput as error:
            problems += error.problems
    if len({prompt.name for prompt in prompts}) != len(prompts):
        problems.append(Problem("--prompt", "one prompt is given twice"))
    return SuiteSlice(suite.name, suite.scenarios, tuple(prompts))


def _filtered(slices: Sequence[SuiteSlice], request: Request, problems: list[Problem]) -> list[SuiteSlice]:
    known = {scenario.name for part in slices for scenario in part.scenarios}
    for name in request.scenarios:
        if name not in known:
            problems.append(Problem(f"--scenario {name}", f"no such scenario in {', '.join(request.suites)}"))
    left = request.limit
    kept: list[SuiteSlice] = []
    for part in slices:
        scenarios = [scenario for scenario in part.scenarios if _selected(scenario, request)]
        if left is not None:
            scenarios = scenarios[:left]
            left -= len(scenarios)
        if scenarios:
            kept.append(SuiteSlice(part.suite, tuple(scenarios), part.prompts))
    if not kept and not problems:
        problems.append(Problem("--tag " + ",".join(request.tags), "no scenario carries it"))
    return kept


def _selected(scenario: Scenario, request: Request) -> bool:
    named = not request.scenarios or scenario.name in request.scenarios
    tagged = not request.tags or bool(set(request.tags) & set(scenario.tags))
    return named and tagged


def _live_problems(cells: Sequence[Cell], suites: Mapping[str, Suite]) -> list[Problem]:
    """What stands in the way of live attempts."""
    from passgrid.models.checking import model_problems  # brings the agent library in: only where it is needed

    problems = model_problems(cells, suites)
    for cell in cells:
        if cell.scenario.user_turns is None:
            place = f"{cell.suite}/{cell.scenario.name}"
            problems.append(Problem(place, "takes its user turns from recordings", "only --mode replay can run it"))
    return sorted(set(problems))


class _Packing:
    """Collects what travels to workers as content-addressed blobs."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.cassettes: dict[tuple[str, int], str] = {}
        self.orders: dict[str, str] = {}
        self._checked_payloads: set[tuple[str, str]] = set()

    def add(self, data: bytes) -> str:
        digest = content_hash(data)
        self.blobs[digest] = data
        return digest

    def take_cassettes(self, cells: Sequence[Cell], suites: Mapping[str, Suite], k: int) -> list[Problem]:
        """The recordings of samples 0 to k-1 of every cell; every missing or broken one is a problem."""
        problems: list[Problem] = []
        unknown: set[tuple[str, str]] = set()
        for cell in cells:
            folder = suites[cell.suite].cassettes
            label = cell.arm.model.name
            if label not in folder.labels():
                unknown.add((cell.suite, label))
                continue
            there = folder.recordings(label, cell.arm.prompt.name, cell.scenario.name)
            if there < k:
                problems.append(_missing(cell, there, k))
                continue
            for sample in range(k):
                problems += self._take_cassette(cell, folder, sample)
        for suite, label in sorted(unknown):
            there = ", ".join(f"recorded:{name}" for name in suites[suite].cassettes.labels()) or "none"
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
