"""Read a folder that `passgrid export --format` wrote, here or elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast

import orjson
from pydantic import ValidationError

from passgrid.importers.export_rows import (
    KINDS,
    MANIFEST,
    READABLE,
    ROWS,
    VERSION,
    AttemptRow,
    CheckRow,
    FlagRow,
    ModelCallRow,
    OfAttempt,
    Row,
    RunRow,
    ToolCallRow,
    TranscriptRow,
)
from passgrid.importers.imported_run import ImportedArm, ImportedAttempt, ImportedCheck, ImportedRun, ImportedToolCall
from passgrid.outcome import Outcome
from passgrid.problems import InvalidInput, Problem
from passgrid.transcript import ModelCallRecord

SOURCE = "passgrid"
MOST_PROBLEMS = 20

_Row = TypeVar("_Row", bound=OfAttempt)
_Key = tuple[str, str]


def read_export(folder: Path) -> list[ImportedRun]:
    """Every run of the folder.

    Raises:
        InvalidInput: it is no such folder, or of a newer version, or rows are missing or wrong; each with its place.
    """
    kind = _kind(folder)
    tables = {name: folder / f"{name}.{kind}" for name in ROWS}
    missing = [file for file in tables.values() if not file.is_file()]
    if missing:
        raise InvalidInput(Problem(str(file), "is missing", "export the runs again") for file in missing)
    problems: list[Problem] = []
    rows = {name: list(_rows(file, ROWS[name], problems)) for name, file in tables.items()}
    if not problems:
        problems += _strays(tables, rows)
    if problems:
        raise InvalidInput(problems[:MOST_PROBLEMS])
    return list(_runs(folder, rows))


def _kind(folder: Path) -> str:
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        version, kind = manifest["version"], manifest["kind"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = f"name a folder that `passgrid export --format` made: it holds {MANIFEST}"
        raise InvalidInput([Problem(str(folder), f"is no export of Passgrid ({error})", remedy)]) from error
    if version not in READABLE or kind not in KINDS:
        message = f"has the version {version} and the kind {kind}; this Passgrid reads version {VERSION}"
        raise InvalidInput([Problem(str(folder / MANIFEST), message, "import it with the Passgrid that made it")])
    return kind


def _rows(file: Path, kind: type[Row], problems: list[Problem]) -> Iterator[Row]:
    for number, row in enumerate(_raw(file, problems), 1):
        try:
            yield kind.model_validate(row)
        except ValidationError as error:
            for one in error.errors():
                where = ".".join(map(str, one["loc"]))
                problems.append(Problem(f"{file}, row {number}", f"{where}: {one['msg']}"))
        if len(problems) >= MOST_PROBLEMS:
            return


def _raw(file: Path, problems: list[Problem]) -> Iterator[Any]:
    if file.suffix == ".parquet":
        yield from _parquet(file, problems)
        return
    for number, line in enumerate(file.read_bytes().splitlines(), 1):
        try:
            yield orjson.loads(line)
        except ValueError as error:
            problems.append(Problem(f"{file}, row {number}", f"is no JSON: {error}"))


def _parquet(file: Path, problems: list[Problem]) -> Iterator[Any]:
    import pyarrow.parquet

    try:
        yield from cast(Any, pyarrow.parquet).read_table(str(file)).to_pylist()
    except (OSError, ValueError) as error:
        problems.append(Problem(str(file), f"is no Parquet file: {error}"))


def _strays(tables: Mapping[str, Path], rows: Mapping[str, list[Any]]) -> Iterator[Problem]:
    """Rows of a run or attempt that is not there: files of several exports were mixed, or one was cut."""
    runs = {row.run_id for row in rows["runs"]}
    attempts = {(row.run_id, row.attempt_id) for row in rows["attempts"]}
    for number, row in enumerate(rows["attempts"], 1):
        if row.run_id not in runs:
            yield Problem(f"{tables['attempts']}, row {number}", f"run {row.run_id} is not in {tables['runs'].name}")
    for run_id in sorted(runs - {run for run, _ in attempts}):
        yield Problem(str(tables["runs"]), f"run {run_id} has no attempts", "export it again")
    for name in set(ROWS) - {"runs", "attempts"}:
        for number, row in enumerate(rows[name], 1):
            if (row.run_id, row.attempt_id) not in attempts:
                yield Problem(f"{tables[name]}, row {number}", f"attempt {row.attempt_id} is not in the export")


def _runs(folder: Path, rows: Mapping[str, list[Any]]) -> Iterator[ImportedRun]:
    calls: dict[_Key, list[ToolCallRow]] = _by_attempt(rows["tool_calls"])
    turns: dict[_Key, list[ModelCallRow]] = _by_attempt(rows["model_calls"])
    checks: dict[_Key, list[CheckRow]] = _by_attempt(rows["checks"])
    flags: dict[_Key, list[FlagRow]] = _by_attempt(rows["flags"])
    texts: dict[_Key, list[TranscriptRow]] = _by_attempt(rows["transcripts"])
    arms: dict[str, dict[tuple[str, ...], list[ImportedAttempt]]] = {}
    for row in cast("list[AttemptRow]", rows["attempts"]):
        key = (row.run_id, row.attempt_id)
        axes = (row.model, row.prompt, row.target, row.fault, row.mitigation, row.agent)
        one = _attempt(row, calls.get(key, []), turns.get(key, []), checks.get(key, []), texts.get(key, []))
        one = replace(one, flags={flag.name: flag.detail for flag in flags.get(key, [])})
        arms.setdefault(row.run_id, {}).setdefault(axes, []).append(one)
    for run in cast("list[RunRow]", rows["runs"]):
        try:
            found = tuple(ImportedArm(*axes, attempts=tuple(of)) for axes, of in arms[run.run_id].items())
            yield _run(run, found)
        except ValueError as error:
            raise InvalidInput([Problem(str(folder), str(error), "export it again")]) from error


def _by_attempt(rows: Iterable[_Row]) -> dict[_Key, list[_Row]]:
    found: dict[_Key, list[_Row]] = {}
    for row in rows:
        found.setdefault((row.run_id, row.attempt_id), []).append(row)
    return found


def _run(row: RunRow, arms: tuple[ImportedArm, ...]) -> ImportedRun:
    versions = {"passgrid": row.passgrid, "pydantic_ai": row.pydantic_ai, "mcp": row.mcp}
    harness = {name: version for name, version in versions.items() if version is not None}
    return ImportedRun(SOURCE, row.label, arms, str(row.mode), row.created_at, row.finished_at, harness)


def _attempt(
    row: AttemptRow,
    calls: list[ToolCallRow],
    turns: list[ModelCallRow],
    checks: list[CheckRow],
    texts: list[TranscriptRow],
) -> ImportedAttempt:
    return ImportedAttempt(
        suite=row.suite,
        scenario=row.scenario,
        sample=row.sample,
        outcome=Outcome(row.outcome, row.outcome_detail or "", row.reason or ""),
        attempt_id=row.attempt_id,
        steps=row.tool_calls,
        wasted_calls=row.wasted_calls,
        model_turns=row.model_turns,
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        cost_usd=row.cost_usd,
        duration_s=row.duration_s,
        working_s=row.working_s,
        recovered_structured=row.recovered_structured,
        recovered_opaque=row.recovered_opaque,
        leftovers=row.leftovers,
        checks=tuple(ImportedCheck(**_of(check)) for check in checks),
        tool_calls=tuple(_tool_call(call) for call in calls),
        model_calls=tuple(ModelCallRecord(**_of(turn)) for turn in turns),
        messages=texts[0].messages if texts else None,
        tags=tuple(row.tags),
        digest=row.digest,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _tool_call(row: ToolCallRow) -> ImportedToolCall:
    values = _of(row)
    del values["seq"]
    return ImportedToolCall(**values)


def _of(row: OfAttempt) -> dict[str, Any]:
    """Its columns without those that say whose it is."""
    return row.model_dump(exclude={"run_id", "attempt_id"})
