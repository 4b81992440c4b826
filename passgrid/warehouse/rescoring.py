"""New verdicts on finished attempts: from what was stored of them, written over the old ones, which are kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.attempt import AttemptResult
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.transcript import Message
from passgrid.warehouse import blobs
from passgrid.warehouse.blobs import decompress
from passgrid.warehouse.texts import stored_text

BATCH = 200


@dataclass(frozen=True, slots=True)
class StoredAttempt:
    """One finished attempt as it was stored."""

    key: int
    cell_id: str
    scenario: str
    sample: int
    outcome: Outcome
    """How it ended, verdict aside: passed stands for completed."""
    verdict: str
    """What it was judged so far."""
    passed: bool
    messages: list[Message]
    journal: tuple[dict[str, Any], ...]
    evidence: Mapping[str, Any]
    cassette: Mapping[str, Any]
    """The document of the recording it replayed; empty without one."""
    duration_s: float


@dataclass(frozen=True, slots=True)
class Rescored:
    """One attempt with its new verdict."""

    key: int
    result: AttemptResult
    digest: str


_ATTEMPTS = sa.text("""
SELECT attempts.key, cells.cell_id, cells.scenario, sample, outcome, outcome_detail, reason, attempts.passed,
    duration_s, evidence_hash, cassette_hash, body
FROM attempts JOIN cells ON cells.key = cell_key LEFT JOIN transcripts ON attempt_key = attempts.key
WHERE attempts.run_id = :run AND attempts.state = 'done' AND valid AND attempts.key > :after
ORDER BY attempts.key LIMIT :most
""")
_JOURNAL = sa.text("SELECT * FROM tool_calls WHERE attempt_key = ANY(:keys) ORDER BY attempt_key, seq")


def stored_attempts(connection: sa.Connection, run_id: str) -> Iterator[list[StoredAttempt]]:
    """Every valid finished attempt of a run, in batches; what is not valid has no verdict."""
    after = 0
    while rows := connection.execute(_ATTEMPTS, {"run": run_id, "after": after, "most": BATCH}).all():
        after = rows[-1].key
        journal: dict[int, list[dict[str, Any]]] = {}
        for row in connection.execute(_JOURNAL, {"keys": [row.key for row in rows]}).mappings():
            journal.setdefault(row["attempt_key"], []).append(dict(row))
        named = {name for row in rows for name in (row.evidence_hash, row.cassette_hash) if name}
        bodies = blobs.load(connection, named)
        yield [_stored(row, journal.get(row.key, []), bodies) for row in rows]


def _stored(row: Any, journal: Sequence[dict[str, Any]], bodies: Mapping[str, bytes]) -> StoredAttempt:
    kind = OutcomeKind(row.outcome)
    judged = kind in {OutcomeKind.PASSED, OutcomeKind.FAILED}
    return StoredAttempt(
        key=row.key,
        cell_id=row.cell_id,
        scenario=row.scenario,
        sample=row.sample,
        outcome=Outcome(OutcomeKind.PASSED) if judged else Outcome(kind, row.outcome_detail or "", row.reason or ""),
        verdict=row.outcome,
        passed=row.passed is True,
        messages=orjson.loads(decompress(row.body)) if row.body is not None else [],
        journal=tuple(journal),
        evidence=_document(row.evidence_hash, bodies),
        cassette=_document(row.cassette_hash, bodies),
        duration_s=row.duration_s or 0.0,
    )


def _document(name: str | None, bodies: Mapping[str, bytes]) -> dict[str, Any]:
    return orjson.loads(bodies[name]) if name is not None and name in bodies else {}


_KEEP = sa.text("""
INSERT INTO verdicts (attempt_key, n, outcome, reason, checks, flags, verdict_hash)
SELECT attempts.key, coalesce((SELECT max(n) + 1 FROM verdicts WHERE attempt_key = attempts.key), 0), outcome, reason,
    (SELECT coalesce(jsonb_agg(to_jsonb(checks) - 'attempt_key' ORDER BY stage, name), '[]') FROM checks
     WHERE attempt_key = attempts.key),
    (SELECT coalesce(jsonb_agg(to_jsonb(flags) - 'attempt_key' ORDER BY name), '[]') FROM flags
     WHERE attempt_key = attempts.key),
    cells.verdict_hash
FROM attempts JOIN cells ON cells.key = cell_key WHERE attempts.key = ANY(:keys)
""")
_REPLACE = sa.text("""
UPDATE attempts SET outcome = g.outcome, outcome_detail = g.detail, reason = g.reason, passed = g.passed,
    digest = g.digest, xid = pg_current_xact_id()
FROM unnest(
    cast(:keys AS bigint[]), cast(:outcomes AS text[]), cast(:details AS text[]), cast(:reasons AS text[]),
    cast(:passed AS bool[]), cast(:digests AS text[])
) AS g(key, outcome, detail, reason, passed, digest)
WHERE attempts.key = g.key
""")
_CHECKS = sa.text(
    "INSERT INTO checks (attempt_key, name, kind, stage, required, passed, detail, imported) "
    "VALUES (:attempt_key, :name, :kind, :stage, :required, :passed, :detail, :imported)"
)
_FLAGS = sa.text("INSERT INTO flags (attempt_key, name, detail) VALUES (:attempt_key, :name, :detail)")


def write_verdicts(connection: sa.Connection, rescored: Sequence[Rescored]) -> None:
    """Replace these verdicts and keep the old ones. In the caller's transaction, before the cells' new verdict hash."""
    keys = [one.key for one in rescored]
    outcomes = [one.result.outcome for one in rescored]
    connection.execute(_KEEP, {"keys": keys})
    connection.execute(
        _REPLACE,
        {
            "keys": keys,
            "outcomes": [str(outcome.kind) for outcome in outcomes],
            "details": [outcome.detail for outcome in outcomes],
            "reasons": [stored_text(outcome.reason) for outcome in outcomes],
            "passed": [outcome.passed for outcome in outcomes],
            "digests": [one.digest for one in rescored],
        },
    )
    for table in ("checks", "flags"):
        connection.execute(sa.text(f"DELETE FROM {table} WHERE attempt_key = ANY(:keys)"), {"keys": keys})  # noqa: S608
    checks = [
        {**asdict(check), "detail": stored_text(check.detail), "attempt_key": one.key}
        for one in rescored
        for check in one.result.checks
    ]
    flags = [
        {"attempt_key": one.key, "name": flag.name, "detail": stored_text(flag.detail)}
        for one in rescored
        for flag in one.result.flags
    ]
    if checks:
        connection.execute(_CHECKS, checks)
    if flags:
        connection.execute(_FLAGS, flags)


def write_cells(connection: sa.Connection, run_id: str, cells: Mapping[str, tuple[str, str]]) -> None:
    """The verdict hash and the order of cells, by their id, with which they are judged from now on."""
    connection.execute(
        sa.text(
            "UPDATE cells SET verdict_hash = g.verdict, order_hash = g.order_hash, xid = pg_current_xact_id() "
            "FROM unnest(cast(:ids AS text[]), cast(:verdicts AS text[]), cast(:orders AS text[])) "
            "AS g(id, verdict, order_hash) WHERE cells.run_id = :run AND cells.cell_id = g.id"
        ),
        {
            "run": run_id,
            "ids": list(cells),
            "verdicts": [verdict for verdict, _ in cells.values()],
            "orders": [order for _, order in cells.values()],
        },
    )


def run_cells(connection: sa.Connection, run_id: str) -> dict[str, tuple[str, str]]:
    """Suite and scenario of every cell of a run, by id."""
    rows = connection.execute(
        sa.text("SELECT cell_id, suite, scenario FROM cells WHERE run_id = :run"), {"run": run_id}
    )
    return {row.cell_id: (row.suite, row.scenario) for row in rows}


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A run nobody else can change until the transaction ends."""

    spec: dict[str, Any]
    """What it was submitted as."""
    imported_from: str | None
    under_way: int
    """Attempts that workers hold, or may take at any moment: they are judged by the checks they begin with."""


def hold_run(connection: sa.Connection, run_id: str) -> HeldRun:
    """Take hold of a run; who judges it at the same time waits."""
    row = connection.execute(
        sa.text("SELECT spec, imported_from FROM runs WHERE run_id = :run FOR UPDATE"), {"run": run_id}
    ).one()
    under_way = connection.execute(
        sa.text("SELECT count(*) FROM attempts WHERE run_id = :run AND state IN ('running', 'queued')"),
        {"run": run_id},
    ).scalar_one()
    return HeldRun(row.spec, row.imported_from, under_way)
