"""Files of results that other tools wrote: one arm each, put together into runs by their labels."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from passgrid.importers.imported_run import ImportedArm, ImportedAttempt, ImportedRun
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.problems import InvalidInput, Problem
from passgrid.redaction import Redactor, secrets_of

LOST = "lost"
"""Detail of an attempt that was wanted and is not in the file."""
UNREADABLE = "unreadable"
"""Detail of an attempt that is in the file and says too little."""


@dataclass(frozen=True, slots=True)
class ResultFile:
    """What one file says."""

    place: str
    label: str
    arm: ImportedArm
    created_at: datetime | None = None
    finished_at: datetime | None = None
    harness: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()
    """What of the file could not be read, besides attempts: those are in the arm, as `infra_error`."""


@dataclass(frozen=True, slots=True)
class Results:
    """What files came to."""

    runs: tuple[ImportedRun, ...]
    notes: tuple[str, ...] = ()
    """What could not be read, besides attempts."""


def file_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where it is gzip. Raises `InvalidInput` where it cannot be read."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except FileNotFoundError:
        raise InvalidInput([Problem(str(path), "no such file")]) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInput([Problem(str(path), f"cannot be read: {error}")]) from None


def lost(suite: str, scenario: str, sample: int, reason: str) -> ImportedAttempt:
    """An attempt that was wanted and is not there: not valid, so that n and coverage stay honest."""
    return ImportedAttempt(suite, scenario, sample, Outcome(OutcomeKind.INFRA_ERROR, LOST, reason))


def results_of(source: str, files: Sequence[ResultFile]) -> Results:
    """Runs of these files, without secrets: those of one label are one run, unless they hold the same arm twice.

    Raises:
        InvalidInput: files without any attempt.
    """
    empty = [Problem(one.place, "holds no attempt", "give a file with results") for one in files if not _any(one)]
    if empty:
        raise InvalidInput(empty)
    groups: list[list[ResultFile]] = []
    for one in files:
        fitting = [group for group in groups if _fits(group, one)]
        if fitting:
            fitting[0].append(one)
        else:
            groups.append([one])
    notes = [note for one in files for note in one.notes]
    redactor = Redactor(secrets_of(os.environ))
    return Results(tuple(_run(source, group, redactor) for group in groups), tuple(notes))


def _any(one: ResultFile) -> bool:
    return bool(one.arm.attempts)


def _fits(group: Sequence[ResultFile], one: ResultFile) -> bool:
    return group[0].label == one.label and all(other.arm.axes != one.arm.axes for other in group)


def _run(source: str, group: Sequence[ResultFile], redactor: Redactor) -> ImportedRun:
    return ImportedRun(
        source=source,
        label=group[0].label,
        arms=tuple(
            replace(one.arm, attempts=tuple(_redacted(attempt, redactor) for attempt in one.arm.attempts))
            for one in group
        ),
        created_at=min(_known(one.created_at for one in group), default=None),
        finished_at=max(_known(one.finished_at for one in group), default=None),
        harness={name: value for one in group for name, value in one.harness.items()},
    )


def _redacted(one: ImportedAttempt, redactor: Redactor) -> ImportedAttempt:
    return replace(
        one,
        outcome=replace(one.outcome, reason=redactor.text(one.outcome.reason)),
        checks=tuple(replace(check, detail=redactor.text(check.detail)) for check in one.checks),
        tool_calls=tuple(
            replace(
                call,
                arguments=redactor.value(call.arguments),
                error_text=None if call.error_text is None else redactor.text(call.error_text),
            )
            for call in one.tool_calls
        ),
        messages=None if one.messages is None else redactor.value(one.messages),
    )


def _known(moments: Iterable[datetime | None]) -> list[datetime]:
    return [moment for moment in moments if moment is not None]
