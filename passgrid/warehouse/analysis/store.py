"""Read the analysis file: what the dashboard asks of it. Needs DuckDB and nothing else; never writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson
import zstandard

from passgrid.report.facts import ARM_AXES, ArmName, AttemptFact, fact_of
from passgrid.transcript import Message
from passgrid.warehouse.analysis.publishing import TRANSCRIPTS, current_file


class NothingExported(Exception):
    """There is no analysis file yet; the message says how to make one."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run, for lists."""

    run_id: str
    label: str
    mode: str
    state: str
    k: int
    wanted: int
    done: int
    valid: int
    passed: int
    created_at: Any
    finished_at: Any
    models: tuple[str, ...]
    suites: tuple[str, ...]
    agents: tuple[str, ...]
    imported_from: str | None = None
    """The format it was imported from; None: measured here."""


@dataclass(frozen=True, slots=True)
class ToolCallRow:
    """One tool call of one attempt, for its timeline. Times are milliseconds from its start."""

    seq: int
    turn: int
    server: str
    tool: str
    arguments: str
    result_bytes: int | None
    answered: str
    error: bool
    error_text: str | None
    started_ms: float
    duration_ms: float | None


@dataclass(frozen=True, slots=True)
class ModelCallRow:
    """One model turn of one attempt."""

    turn: int
    answered: str
    served_model: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    started_ms: float
    duration_ms: float


@dataclass(frozen=True, slots=True)
class CheckRow:
    """What one check found; `passed` is None where it could not be made."""

    name: str
    kind: str
    stage: bool
    required: bool
    passed: bool | None
    detail: str
    imported: bool


@dataclass(frozen=True, slots=True)
class FlagRow:
    """What a detector found."""

    name: str
    detail: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One thing that was different after an attempt; null hashes: it was not there before, or is gone."""

    kind: str
    subject: str
    change: str
    before_hash: str | None
    before_bytes: int | None
    after_hash: str | None
    after_bytes: int | None


@dataclass(frozen=True, slots=True)
class TryRow:
    """One execution of an attempt."""

    fence: int
    worker: str
    started_at: Any
    ended_at: Any
    reason: str | None


_RUNS = """
SELECT r.run_id, r.label, r.mode, r.state, r.k, r.wanted,
    count(*) FILTER (WHERE a.state = 'done') AS done, count(*) FILTER (WHERE a.valid) AS valid,
    count(*) FILTER (WHERE a.passed) AS passed, r.created_at, r.finished_at, r.imported_from,
    coalesce(list_sort(list(DISTINCT a.model) FILTER (WHERE a.model IS NOT NULL)), []) AS models,
    coalesce(list_sort(list(DISTINCT a.suite) FILTER (WHERE a.suite IS NOT NULL)), []) AS suites,
    coalesce(list_sort(list(DISTINCT a.agent) FILTER (WHERE a.agent IS NOT NULL)), []) AS agents
FROM runs r LEFT JOIN attempts a USING (run_id) GROUP BY ALL ORDER BY r.created_at DESC
"""

_FACTS = """
SELECT a.*, a.input_tokens + a.output_tokens AS tokens, r.label, r.mode, r.imported_from
FROM attempts a JOIN runs r USING (run_id) WHERE a.run_id IN (SELECT unnest(?))
ORDER BY list_position(?, a.run_id), a.attempt_key
"""


class AnalysisStore:
    """One published version of the analysis file, read-only. Open a new one to see a newer version."""

    def __init__(self, folder: Path) -> None:
        """Open the current version. Raises `NothingExported`."""
        file = current_file(folder)
        if file is None:
            raise NothingExported("nothing is exported yet: run `passgrid export`")
        self.file = file
        self._folder = folder
        self._connection = duckdb.connect(str(file), read_only=True)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def exported_at(self) -> Any:
        """When this version was made."""
        row = self._connection.cursor().execute("SELECT exported_at FROM exports").fetchone()
        return row[0] if row else None

    def runs(self) -> list[RunRow]:
        """Every run, the newest first."""
        rows = self._rows(_RUNS)
        for row in rows:
            row |= {name: tuple(row[name]) for name in ("models", "suites", "agents")}
        return [RunRow(**row) for row in rows]

    def facts(self, run_ids: Sequence[str]) -> list[AttemptFact]:
        """Every wanted attempt of these runs: what `passgrid.report.arms.arm_reports` takes."""
        runs = list(run_ids)
        answers: dict[int, dict[str, int]] = {}
        for row in self._rows(_ANSWERS, [runs]):
            answers.setdefault(row["attempt_key"], {})[row["answered"]] = row["n"]
        stages: dict[int, dict[str, bool]] = {}
        for row in self._rows(_STAGES, [runs]):
            stages.setdefault(row["attempt_key"], {})[row["name"]] = row["passed"] is True
        flags: dict[int, list[str]] = {}
        for row in self._rows(_FLAGS, [runs]):
            flags.setdefault(row["attempt_key"], []).append(row["name"])
        names: dict[tuple[Any, ...], ArmName] = {}
        facts: list[AttemptFact] = []
        for row in self._rows(_FACTS, [runs, runs]):
            axes = tuple(row[name] for name in ARM_AXES)
            arm = names.setdefault(axes, ArmName(*axes, imported_from=row["imported_from"]))
            key = row["attempt_key"]
            odd = tuple(flags.get(key, ()))
            facts.append(fact_of(arm, row, answers.get(key, {}), stages.get(key, {}), odd))
        return facts

    def attempt(self, run_id: str, attempt_id: str) -> dict[str, Any] | None:
        """One attempt with all its columns (see `tables.ATTEMPTS`); None where there is none of this id."""
        rows = self._rows("SELECT * FROM attempts WHERE run_id = ? AND attempt_id = ?", [run_id, attempt_id])
        return rows[0] if rows else None

    def tool_calls(self, attempt_key: int) -> list[ToolCallRow]:
        """Its journal, in order."""
        return [ToolCallRow(**row) for row in self._of(ToolCallRow, "tool_calls", attempt_key, "seq")]

    def model_calls(self, attempt_key: int) -> list[ModelCallRow]:
        """Its model turns, in order."""
        return [ModelCallRow(**row) for row in self._of(ModelCallRow, "model_calls", attempt_key, "turn")]

    def checks(self, attempt_key: int) -> list[CheckRow]:
        """What its checks and stages found."""
        return [CheckRow(**row) for row in self._of(CheckRow, "checks", attempt_key, "stage, name")]

    def flags(self, attempt_key: int) -> list[FlagRow]:
        """What detectors found, by name."""
        return [FlagRow(**row) for row in self._of(FlagRow, "flags", attempt_key, "name")]

    def tries(self, attempt_key: int) -> list[TryRow]:
        """Its executions, in order."""
        return [TryRow(**row) for row in self._of(TryRow, "tries", attempt_key, "fence")]

    def transcript(self, run_id: str, attempt_key: int) -> list[Message]:
        """Its messages (see `passgrid.transcript`); empty where none was kept."""
        parts = sorted((self._folder / TRANSCRIPTS / run_id).glob("*.parquet"))
        for part in reversed(parts):
            row = (
                self._connection.cursor()
                .execute("SELECT body FROM read_parquet(?) WHERE attempt_key = ?", [str(part), attempt_key])
                .fetchone()
            )
            if row is not None:
                return orjson.loads(zstandard.ZstdDecompressor().decompress(row[0]))
        return []

    def changes(self, attempt_key: int) -> list[ChangeRow]:
        """What was different after it."""
        return [ChangeRow(**row) for row in self._of(ChangeRow, "ledger_changes", attempt_key, "n")]

    def _of(self, kind: type, table: str, attempt_key: int, order: str) -> list[dict[str, Any]]:
        columns = ", ".join(kind.__dataclass_fields__)  # type: ignore[attr-defined]
        return self._rows(
            f"SELECT {columns} FROM {table} WHERE attempt_key = ? ORDER BY {order}",  # noqa: S608 - names of ours
            [attempt_key],
        )

    def _rows(self, query: str, parameters: Sequence[Any] = ()) -> list[dict[str, Any]]:
        cursor = self._connection.cursor()
        found = cursor.execute(query, list(parameters))
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


_ANSWERS = """
SELECT attempt_key, answered, count(*) AS n FROM tool_calls JOIN attempts USING (attempt_key)
WHERE run_id IN (SELECT unnest(?)) GROUP BY ALL
"""

_STAGES = """
SELECT attempt_key, name, checks.passed FROM checks JOIN attempts USING (attempt_key)
WHERE run_id IN (SELECT unnest(?)) AND stage
"""

_FLAGS = """
SELECT attempt_key, name FROM flags JOIN attempts USING (attempt_key)
WHERE run_id IN (SELECT unnest(?)) ORDER BY name
"""
