"""What was asked for, before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from passgrid.json_values import is_array
from passgrid.matrix import Mode
from passgrid.problems import Problem


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
    targets: tuple[str, ...] = ()
    """Whose servers the tools come from; the scenarios' own when empty."""
    agents: tuple[str, ...] = ()
    """Who does the job; the scenarios' own, or the built-in agent, when empty."""
    recordings: str | None = None
    """In the mode sandbox: the label whose recordings answer; what `suite.yaml` says, or the only one, when None."""
    tags: tuple[str, ...] = ()
    """Only scenarios that carry one of these."""
    limit: int | None = None
    """Only the first so many scenarios."""
    label: str = "default"
    priority: int = 0
    record: bool = False
    max_tries: int = 3
    """Of each attempt, for failures that may pass; 1 tries nothing again, 0 runs nothing until it is raised."""
    budget: float | None = None
    """US dollars the run may spend."""
    allow_unpriced: bool = False
    """Whether a model without a known price may run under a budget."""

    def to_json(self) -> dict[str, Any]:
        """As it is kept with the run."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def request_of(values: Mapping[str, Any]) -> Request:
    """A request from options by name, as a spec file or a JSON body holds them; what is absent has its default."""
    defaults: dict[str, Any] = {"suites": (), "models": (), "k": 1}
    plain: dict[str, Any] = {name: tuple(value) if is_array(value) else value for name, value in values.items()}
    return Request(**{**defaults, **plain})


def request_problems(request: Request) -> list[Problem]:
    """What is wrong with the request whatever it names."""
    problems: list[Problem] = []
    if request.k < 1:
        problems.append(Problem(f"-k {request.k}", "the number of samples must be at least 1"))
    if request.limit is not None and request.limit < 1:
        problems.append(Problem(f"--limit {request.limit}", "must be at least 1"))
    if request.mode not in list(Mode):
        problems.append(Problem(f"--mode {request.mode}", f"no such mode; there are: {', '.join(Mode)}"))
    if not request.suites:
        problems.append(Problem("--suite", "name at least one suite", "for example --suite demo"))
    if not request.models:
        problems.append(Problem("--model", "name at least one model", "for example --model recorded:gpt-4o"))
    if request.record and request.mode == Mode.REPLAY:
        problems.append(Problem("--record", "a replay has nothing new to record", "use --mode live"))
    if request.record and request.mode == Mode.DRIFT:
        message = "what a recorded model says to other answers is no recording of an agent"
        problems.append(Problem("--record --mode drift", message, "use --mode live"))
    if request.targets and request.mode in {Mode.REPLAY, Mode.SANDBOX}:
        place = " ".join(f"--target {target}" for target in request.targets)
        problems.append(Problem(place, f"a {request.mode} asks no server", "use --mode live or --mode drift"))
    if request.recordings is not None and request.mode != Mode.SANDBOX:
        message = "only in the mode sandbox is it chosen whose recordings answer"
        problems.append(Problem(f"--recordings {request.recordings}", message, "use --mode sandbox"))
    if len(set(request.targets)) != len(request.targets):
        problems.append(Problem("--target", "one target is given twice"))
    if len(set(request.agents)) != len(request.agents):
        problems.append(Problem("--agent", "one agent is given twice"))
    if request.max_tries < 0:
        problems.append(Problem(f"--max-tries {request.max_tries}", "must not be negative"))
    if request.budget is not None and not 0 < request.budget < float("inf"):
        problems.append(Problem(f"--budget {request.budget}", "must be more than 0 US dollars"))
    if len(request.label) > 100 or not request.label.strip():
        problems.append(Problem("--label", "must be 1 to 100 characters"))
    return problems
