"""A run that another tool, or another Passgrid, measured: what every importer makes, and the warehouse writes.

Run → arms → attempts. What a source does not tell is None, never 0: reports say "unknown" then. Importers make these
values and nothing else; `passgrid.warehouse.importing.write_run` is the one place that stores them.

    ImportedRun(
        source="inspect",
        label="gpt-4o, July",
        arms=(ImportedArm("openai/gpt-4o", attempts=(
            ImportedAttempt("airline", "cancel-flight", 0, Outcome(OutcomeKind.PASSED), steps=7, cost_usd=0.021),
            ImportedAttempt("airline", "cancel-flight", 1, Outcome(OutcomeKind.INFRA_ERROR, "lost", "cut off")),
        )),),
    )
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from passgrid.identity import ID_LENGTH, canonical_json, short_id
from passgrid.outcome import Outcome
from passgrid.storable import storable
from passgrid.transcript import Message, ModelCallRecord


@dataclass(frozen=True, slots=True)
class ImportedToolCall:
    """One tool call, in the order they were asked for."""

    tool: str
    server: str = ""
    arguments: Any = None
    """As the model wrote them."""
    error: bool = False
    error_text: str | None = None
    turn: int = 1
    """The model turn that asked for it, from 1."""
    answered: str = "live"
    """One of `passgrid.report.arms.ANSWERS`, or `library`."""
    result_bytes: int | None = None
    started_ms: float = 0.0
    """From the start of the attempt; 0 where it is unknown."""
    duration_ms: float | None = None
    asked: int | None = None
    """Position by request; None: that in the list."""
    answered_at: int | None = None
    """Position by response; None: unknown."""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class ImportedCheck:
    """One check or stage and what it found. Names are unique within an attempt."""

    name: str
    passed: bool | None
    """None: it could not be made."""
    stage: bool = False
    """A milestone of the job, counted in the stage profile; never part of the pass."""
    required: bool = True
    kind: str = "imported"
    detail: str = ""
    imported: bool = True
    """The verdict is another tool's."""


@dataclass(frozen=True, slots=True)
class ImportedAttempt:
    """One wanted attempt, the lost ones too: those have an `infra_error`, so that n and coverage stay honest.

    Raises `ValueError` where two checks have one name.
    """

    suite: str
    scenario: str
    sample: int
    """From 0."""
    outcome: Outcome
    """Whether it counts and passed follows from it; `reason` is one line for people."""
    attempt_id: str | None = None
    """That of the source, unique in the run; None: made of run, arm, scenario and sample."""
    steps: int | None = None
    """Tool calls, errored ones included."""
    wasted_calls: int | None = None
    """Tool calls that ended in an error."""
    model_turns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    duration_s: float | None = None
    working_s: float | None = None
    """Of its duration, without waiting for a provider."""
    recovered_structured: int | None = None
    """Errors with a code and a suggestion that it got over."""
    recovered_opaque: int | None = None
    """Other errors that it got over."""
    leftovers: int | None = None
    """Artifacts it made that are still there; None: nobody looked."""
    checks: tuple[ImportedCheck, ...] = ()
    """Stages too."""
    flags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Detectors that fired, each with what it saw."""
    tool_calls: tuple[ImportedToolCall, ...] = ()
    """Empty where the source does not list them, whatever `steps` says."""
    model_calls: tuple[ModelCallRecord, ...] = ()
    messages: list[Message] | None = None
    """The transcript (`passgrid.transcript`); None: there is none."""
    tags: tuple[str, ...] = ()
    """Of the scenario."""
    digest: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None

    def __post_init__(self) -> None:
        place = f"{self.suite}/{self.scenario}, sample {self.sample}"
        _unique(place, "checks of the name", (check.name for check in self.checks))

    @property
    def scenario_key(self) -> tuple[str, str]:
        """Suite and scenario."""
        return self.suite, self.scenario


@dataclass(frozen=True, slots=True)
class ImportedArm:
    """What is compared: one combination of every axis but the scenario.

    Raises `ValueError` where a sample of a scenario comes twice.
    """

    model: str
    prompt: str = "default"
    target: str = "default"
    fault: str = "none"
    mitigation: str = "none"
    agent: str = "default"
    attempts: tuple[ImportedAttempt, ...] = ()
    """Scenario by scenario: a report adds them up in this order."""

    def __post_init__(self) -> None:
        names = (f"{one.suite}/{one.scenario}, {one.sample}" for one in self.attempts)
        _unique(f"{self.model}, {self.prompt}", "attempts of the sample", names)

    @property
    def axes(self) -> tuple[str, str, str, str, str, str]:
        """Model, prompt, target, fault, mitigation and agent."""
        return self.model, self.prompt, self.target, self.fault, self.mitigation, self.agent


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """Everything of one run. Its id is a hash of all of it: the same content is the same run.

    Raises `ValueError` without an attempt, or where two arms have the same axes.
    """

    source: str
    """The format it came in, such as `inspect`: shown beside the run as "imported"."""
    label: str
    arms: tuple[ImportedArm, ...]
    mode: str = "live"
    """replay, sandbox, live or drift."""
    created_at: datetime | None = None
    """None: when it is imported."""
    finished_at: datetime | None = None
    harness: Mapping[str, str] = field(default_factory=dict[str, str])
    """Versions of passgrid, pydantic_ai and mcp, where they are known."""

    def __post_init__(self) -> None:
        if not any(arm.attempts for arm in self.arms):
            raise ValueError("a run without any attempt cannot be imported")
        _unique(f"run {self.label}", "arms of the name", (", ".join(arm.axes) for arm in self.arms))

    @property
    def wanted(self) -> int:
        """Attempts."""
        return sum(len(arm.attempts) for arm in self.arms)

    @property
    def k(self) -> int:
        """The most samples of a scenario."""
        return max(max(Counter(one.scenario_key for one in arm.attempts).values(), default=0) for arm in self.arms)

    def run_id(self) -> str:
        """Hash of the content, so that an import never takes the id of a run that was measured here."""
        digest = hashlib.sha256(_stored([self.source, self.label, self.mode, dict(self.harness)]))
        for arm in self.arms:
            # An agent that nobody chose is left out: ids of before there was a choice stay.
            digest.update(_stored(arm.axes if arm.agent != "default" else arm.axes[:-1]))
            for attempt in arm.attempts:
                digest.update(_stored(asdict(attempt)))
        return digest.hexdigest()[:ID_LENGTH]

    def with_attempt_ids(self) -> ImportedRun:
        """The same run with an id for each attempt."""
        run_id = self.run_id()
        arms = tuple(
            replace(
                arm,
                attempts=tuple(
                    one
                    if one.attempt_id
                    else replace(one, attempt_id=short_id([run_id, arm.axes, one.scenario_key, one.sample]))
                    for one in arm.attempts
                ),
            )
            for arm in self.arms
        )
        return replace(self, arms=arms)


def _stored(value: Any) -> bytes:
    return canonical_json(storable(value))


def _unique(place: str, what: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{place}: two {what} {twice[0]}")
