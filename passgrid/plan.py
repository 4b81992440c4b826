"""From what was asked for to a matrix with everything it needs, or every reason why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from passgrid.agent_axis import DEFAULT_AGENT
from passgrid.agent_choice import agent_problems
from passgrid.harness import installed_harness
from passgrid.library import Suite, find_suite, load_prompt, load_suite
from passgrid.matrix import Attempt, Cell, Matrix, Mode, Prompt, SuiteSlice
from passgrid.model_reference import ModelReference, parse_model_reference
from passgrid.packing import Packing
from passgrid.problems import InvalidInput, Problem
from passgrid.request import Request, request_problems
from passgrid.scenario import Scenario
from passgrid.target import DEFAULT_TARGET
from passgrid.targeting import target_problems


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


def current_cells(request: Request, library: Path | None = None) -> tuple[tuple[Cell, ...], dict[str, Suite]]:
    """The cells a request names, as its suites are now, and those suites; recordings and models are not looked at.

    Raises `InvalidInput` with every problem found.
    """
    problems: list[Problem] = []
    models = _models(request, problems)
    suites = {suite.name: suite for suite in _suites(request, library, problems)}
    slices = _filtered([_slice(suite, request, problems) for suite in suites.values()], request, problems)
    if problems:
        raise InvalidInput(problems)
    return tuple(_matrix(request, slices, models).cells()), suites


def _matrix(request: Request, slices: Sequence[SuiteSlice], models: Sequence[ModelReference]) -> Matrix:
    return Matrix(
        slices=tuple(slices),
        models=tuple(models),
        mode=Mode(request.mode),
        k=request.k,
        label=request.label,
        harness=installed_harness(),
        targets=request.targets or (DEFAULT_TARGET,),
        agents=request.agents or (DEFAULT_AGENT,),
    )


def make_plan(request: Request, library: Path | None = None) -> Plan:
    """Read and check everything a request names. Nothing is written.

    Args:
        request: what was asked for.
        library: the folder in which suites are looked up by name.

    Raises:
        InvalidInput: with every problem found.
    """
    problems = request_problems(request)
    models = _models(request, problems)
    suites = {suite.name: suite for suite in _suites(request, library, problems)}
    slices = _filtered([_slice(suite, request, problems) for suite in suites.values()], request, problems)
    if request.mode not in list(Mode) or request.k < 1:
        raise InvalidInput(problems)
    matrix = _matrix(request, slices, models)
    cells = tuple(matrix.cells())
    packing = Packing()
    # Looked at even where there are problems already: all of them are told at once.
    problems += target_problems(slices, cells, matrix)
    problems += agent_problems(
        slices, cells, request.agents, {name: suite.files.keys() for name, suite in suites.items()}
    )
    if matrix.mode.needs_recorded_model:
        problems += packing.take_cassettes(cells, suites, request.k)
    else:
        problems += _live_problems(cells, suites, request)
    if matrix.mode is Mode.SANDBOX:
        problems += packing.take_recordings(cells, suites, request.k, request.recordings)
    if problems:
        raise InvalidInput(problems)
    packing.take_orders(cells, suites, matrix.mode)
    return Plan(
        request=request,
        matrix=matrix,
        cells=cells,
        run_id=matrix.run_id(cells),
        cassettes=packing.cassettes,
        orders=packing.orders,
        blobs=packing.blobs,
        suite_folders={name: suite.folder for name, suite in suites.items()},
    )


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
        else:
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
        else:
            suites.append(suite)
    return suites


def _slice(suite: Suite, request: Request, problems: list[Problem]) -> SuiteSlice:
    prompts: list[Prompt] = []
    for name in request.prompts or (None,):
        try:
            prompts.append(load_prompt(suite, name))
        except InvalidInput as error:
            problems += error.problems
    if len({prompt.name for prompt in prompts}) != len(prompts):
        problems.append(Problem("--prompt", "one prompt is given twice"))
    return SuiteSlice(suite.name, suite.scenarios, tuple(prompts), suite.facts.targets, suite.facts.agents)


def _filtered(slices: Sequence[SuiteSlice], request: Request, problems: list[Problem]) -> list[SuiteSlice]:
    known = {scenario.name for part in slices for scenario in part.scenarios}
    for name in request.scenarios:
        if name not in known and slices:
            problems.append(Problem(f"--scenario {name}", f"no such scenario in {', '.join(request.suites)}"))
    left = request.limit
    kept: list[SuiteSlice] = []
    for part in slices:
        scenarios = [scenario for scenario in part.scenarios if _selected(scenario, request)]
        if left is not None:
            scenarios = scenarios[:left]
            left -= len(scenarios)
        if scenarios:
            kept.append(replace(part, scenarios=tuple(scenarios)))
    if slices and not kept and request.tags:
        problems.append(Problem("--tag " + ",".join(request.tags), "no scenario carries it"))
    return kept


def _selected(scenario: Scenario, request: Request) -> bool:
    named = not request.scenarios or scenario.name in request.scenarios
    tagged = not request.tags or bool(set(request.tags) & set(scenario.tags))
    return named and tagged


def _live_problems(cells: Sequence[Cell], suites: Mapping[str, Suite], request: Request) -> list[Problem]:
    """What stands in the way of live attempts."""
    # Brings the agent library in: only where it is needed.
    from passgrid.models.checking import budget_problems, judge_problems, model_problems

    problems = model_problems(cells, suites)
    if request.budget is not None:
        problems += budget_problems(sorted({cell.arm.model for cell in cells}, key=str), request.allow_unpriced)
    judges = sorted({cell.scenario.judge.reference for cell in cells if cell.scenario.judge}, key=str)
    problems += judge_problems(cells, suites)
    if request.budget is not None:
        problems += budget_problems(judges, request.allow_unpriced)
    for cell in cells:
        if cell.scenario.user_turns is None:
            place = f"{cell.suite}/{cell.scenario.name}"
            problems.append(Problem(place, "takes its user turns from recordings", "only --mode replay can run it"))
    return sorted(set(problems))
