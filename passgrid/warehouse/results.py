"""Write results: all rows of an attempt in one transaction, refused to whoever no longer holds the claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.attempt import AttemptResult
from passgrid.cassettes.format import write_cassette
from passgrid.cassettes.payloads import packed
from passgrid.failure_kinds import AUTHENTICATION
from passgrid.identity import canonical_json, content_hash
from passgrid.scoring.afterwards import NOTHING
from passgrid.scoring.efficiency import efficiency
from passgrid.storable import storable
from passgrid.warehouse import blobs
from passgrid.warehouse.claims import Claim
from passgrid.warehouse.copying import copy_rows
from passgrid.warehouse.drift import FINDING_COLUMNS, TOOL_COLUMNS, finding_rows, tool_rows
from passgrid.warehouse.evidence import evidence_blob
from passgrid.warehouse.intents import close_tries
from passgrid.warehouse.ledger import LEDGER_COLUMNS, ledger_rows
from passgrid.warehouse.refused_arms import hold_runs, stop_refused_arms
from passgrid.warehouse.teardowns import want_teardowns
from passgrid.warehouse.texts import stored_json, stored_text

FLAG_COLUMNS = ("attempt_key", "name", "detail")
RESULTS_CHANNEL = "passgrid_results"
"""Notified when results were written."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A claim and what came of it."""

    claim: Claim
    result: AttemptResult


_ACCEPT = sa.text("""
WITH given AS (
    SELECT * FROM unnest(
        cast(:key AS bigint[]), cast(:fence AS int[]), cast(:outcome AS text[]), cast(:detail AS text[]),
        cast(:reason AS text[]), cast(:valid AS bool[]), cast(:passed AS bool[]), cast(:turns AS int[]),
        cast(:calls AS int[]), cast(:wasted AS int[]), cast(:input AS bigint[]), cast(:output AS bigint[]),
        cast(:cost AS double precision[]), cast(:duration AS double precision[]), cast(:digest AS text[]),
        cast(:surface AS text[]), cast(:recording AS text[]), cast(:evidence AS text[]), cast(:leftovers AS int[]),
        cast(:working AS double precision[]), cast(:most_called AS text[]), cast(:most_calls AS int[]),
        cast(:structured AS int[]), cast(:opaque AS int[])
    ) AS g(key, fence, outcome, detail, reason, valid, passed, turns, calls, wasted, input, output, cost, duration,
           digest, surface, recording, evidence, leftovers, working, most_called, most_calls, structured, opaque)
), accepted AS (
    UPDATE attempts SET state = 'done', outcome = g.outcome, outcome_detail = g.detail, reason = g.reason,
        valid = g.valid, passed = g.passed, model_turns = g.turns, tool_calls = g.calls, wasted_calls = g.wasted,
        input_tokens = g.input, output_tokens = g.output, cost_usd = g.cost, duration_s = g.duration,
        digest = g.digest, surface_hash = g.surface, recording_hash = g.recording, evidence_hash = g.evidence,
        leftovers = g.leftovers, working_s = g.working, most_called = g.most_called, most_calls = g.most_calls,
        recovered_structured = g.structured, recovered_opaque = g.opaque, lease_until = NULL,
        finished_at = clock_timestamp(), xid = pg_current_xact_id()
    FROM given g WHERE attempts.key = g.key AND attempts.fence = g.fence AND attempts.state = 'running'
    RETURNING attempts.key, attempts.fence
), logged AS (
    UPDATE tries SET ended_at = clock_timestamp(), reason = 'finished'
    FROM accepted WHERE tries.attempt_key = accepted.key AND tries.fence = accepted.fence
)
SELECT key FROM accepted
""")


def write_results(connection: sa.Connection, finished: Sequence[Finished]) -> set[int]:
    """Write these results in one transaction.

    Returns the keys that were accepted: a claim that was lost meanwhile is left out, and its late result is dropped.
    """
    surfaces = {one.claim.key: canonical_json(storable(one.result.tools)) for one in finished}
    recordings = {one.claim.key: _recording_blobs(one) for one in finished if one.result.recording is not None}
    kept_evidence = {one.claim.key: data for one in finished if (data := evidence_blob(one.result)) is not None}
    refused = {one.claim.run_id for one in finished if one.result.outcome.detail == AUTHENTICATION}
    if refused:
        hold_runs(connection, refused)
    accepted = {row.key for row in connection.execute(_ACCEPT, _columns(finished, surfaces, recordings, kept_evidence))}
    kept = [one for one in finished if one.claim.key in accepted]
    close_tries(connection, [(one.claim.key, one.claim.fence) for one in kept if one.claim.live])
    files = [surfaces[one.claim.key] for one in kept]
    files += [data for one in kept for data in recordings.get(one.claim.key, ())]
    files += [kept_evidence[one.claim.key] for one in kept if one.claim.key in kept_evidence]
    blobs.store(connection, {content_hash(data): data for data in files})
    for table, columns, rows in _CHILDREN:
        copy_rows(connection, table, columns, (row for one in kept for row in rows(one)))
    # What could not be looked at is looked at again, by whoever has time.
    want_teardowns(connection, [(one.claim.key, one.claim.fence) for one in kept if one.result.afterwards.trouble])
    _write_drift(connection, kept)
    _write_ledger(connection, kept)
    flags = [(one.claim.key, flag.name, stored_text(flag.detail)) for one in kept for flag in one.result.flags]
    if flags:
        copy_rows(connection, "flags", FLAG_COLUMNS, iter(flags))
    stop_refused_arms(connection, refused)
    connection.execute(sa.text(f"NOTIFY {RESULTS_CHANNEL}"))
    connection.commit()
    return accepted


def _write_drift(connection: sa.Connection, kept: Sequence[Finished]) -> None:
    """Only where something was compared: a replay compares nothing, and its batches are not to wait for empty COPYs."""
    accounts = [(one.claim.key, one.result.drift) for one in kept if one.result.drift is not None]
    if accounts:
        tools = (row for key, drift in accounts for row in tool_rows(key, drift))
        copy_rows(connection, "drift_tools", TOOL_COLUMNS, tools)
        findings = (row for key, drift in accounts for row in finding_rows(key, drift))
        copy_rows(connection, "drift_findings", FINDING_COLUMNS, findings)


def _write_ledger(connection: sa.Connection, kept: Sequence[Finished]) -> None:
    """Only where something was different; see `_write_drift`."""
    diffs = [
        (one.claim.key, one.result.files.diff) for one in kept if one.result.files and one.result.files.diff.changes
    ]
    if diffs:
        copy_rows(
            connection, "ledger_changes", LEDGER_COLUMNS, (r for key, diff in diffs for r in ledger_rows(key, diff))
        )


def _recording_blobs(one: Finished) -> list[bytes]:
    """The cassette file, and after it the payloads it refers to."""
    assert one.result.recording is not None, "only asked where there is one"
    light, payloads = packed(one.result.recording)
    return [write_cassette(light, with_timings=True), *payloads.values()]


def _columns(
    finished: Sequence[Finished],
    surfaces: dict[int, bytes],
    recordings: dict[int, list[bytes]],
    kept_evidence: dict[int, bytes],
) -> dict[str, list[Any]]:
    keys = [one.claim.key for one in finished]
    results = [one.result for one in finished]
    went = [efficiency(result.tool_calls) for result in results]
    return {
        "key": [one.claim.key for one in finished],
        "fence": [one.claim.fence for one in finished],
        "outcome": [str(result.outcome.kind) for result in results],
        "detail": [result.outcome.detail for result in results],
        "reason": [stored_text(result.outcome.reason) for result in results],
        "valid": [result.outcome.valid for result in results],
        "passed": [result.outcome.passed for result in results],
        "turns": [len(result.model_calls) for result in results],
        "calls": [len(result.tool_calls) for result in results],
        "wasted": [sum(call.error for call in result.tool_calls) for result in results],
        "input": [_total(result, "input_tokens") for result in results],
        "output": [_total(result, "output_tokens") for result in results],
        "cost": [_total(result, "cost_usd") for result in results],
        "duration": [result.duration_s for result in results],
        "digest": [result.digest() for result in results],
        "surface": [content_hash(surfaces[key]) for key in keys],
        "recording": [content_hash(recordings[key][0]) if key in recordings else None for key in keys],
        "evidence": [content_hash(kept_evidence[key]) if key in kept_evidence else None for key in keys],
        "working": [result.working_s for result in results],
        "most_called": [stored_text(one.most_called) if one.most_called else None for one in went],
        "most_calls": [one.most_calls for one in went],
        "structured": [one.recovered_structured for one in went],
        "opaque": [one.recovered_opaque for one in went],
        "leftovers": [_leftovers(result) for result in results],
    }


def _leftovers(result: AttemptResult) -> int | None:
    """None where nobody looked, or nobody could."""
    after = result.afterwards
    return None if after == NOTHING or after.trouble else len(after.leftovers)


def _total(result: AttemptResult, column: str) -> Any:
    """The sum over the model turns; unknown as soon as one of them is unknown, and where there is none."""
    values = [getattr(call, column) for call in result.model_calls]
    return None if not values or None in values else sum(values)


def _tool_calls(one: Finished) -> Iterator[tuple[Any, ...]]:
    for seq, call in enumerate(one.result.tool_calls):
        yield (
            one.claim.key, seq, call.turn, call.server, stored_text(call.tool), stored_json(call.arguments),
            None if call.result is None else len(stored_json(call.result)), call.answered, call.error,
            None if call.error_text is None else stored_text(call.error_text), call.started_ms, call.duration_ms,
            call.asked, call.answered_at, call.score,
        )  # fmt: skip


def _model_calls(one: Finished) -> Iterator[tuple[Any, ...]]:
    for call in one.result.model_calls:
        yield (
            one.claim.key, call.turn, call.answered, call.served_model, call.finish_reason, call.input_tokens,
            call.output_tokens, call.cache_read_tokens, call.cache_write_tokens, call.cost_usd, call.cost_source,
            call.started_ms, call.duration_ms,
        )  # fmt: skip


def _checks(one: Finished) -> Iterator[tuple[Any, ...]]:
    for check in one.result.checks:
        yield (
            one.claim.key, check.name, check.kind, check.stage, check.required, check.passed, stored_text(check.detail),
            check.imported,
        )  # fmt: skip


def _transcripts(one: Finished) -> Iterator[tuple[Any, ...]]:
    yield one.claim.key, blobs.compress(orjson.dumps(storable(one.result.messages)))


_Rows = Callable[[Finished], Iterator[tuple[Any, ...]]]
_CHILDREN: tuple[tuple[str, tuple[str, ...], _Rows], ...] = (
    (
        "tool_calls",
        (
            "attempt_key", "seq", "turn", "server", "tool", "arguments", "result_bytes", "answered", "error",
            "error_text", "started_ms", "duration_ms", "asked", "answered_at", "score",
        ),
        _tool_calls,
    ),
    (
        "model_calls",
        (
            "attempt_key", "turn", "answered", "served_model", "finish_reason", "input_tokens", "output_tokens",
            "cache_read_tokens", "cache_write_tokens", "cost_usd", "cost_source", "started_ms", "duration_ms",
        ),
        _model_calls,
    ),
    (
        "checks",
        ("attempt_key", "name", "kind", "stage", "required", "passed", "detail", "imported"),
        _checks,
    ),
    ("transcripts", ("attempt_key", "body"), _transcripts),
)  # fmt: skip
"""What is written for each accepted attempt: table, columns, rows."""
