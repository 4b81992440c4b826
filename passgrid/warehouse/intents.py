"""Live calls in Postgres: written before they are made, settled afterwards, and what follows for budgets and limits.

Locks are taken in one order, providers, then runs, each sorted: workers never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import orjson
import sqlalchemy as sa

from passgrid.admission import Answer, Asked, RunFunds, Verdict, admit
from passgrid.gate import ModelCall, Settlement
from passgrid.storable import storable
from passgrid.warehouse import provider_limits

ARGUMENT_BYTES = 20_000
"""Arguments of a tool call longer than this are cut in its intent; the journal has them whole."""

# Sums of binary fractions leave dust when they are taken away in another order: below a trillionth there is no money.
_RELEASED = "greatest(0, round((reserved_usd - by_run.reserved)::numeric, 12)::double precision)"


@dataclass(frozen=True, slots=True)
class Settled:
    """What came of a call that was let through."""

    asked: Asked
    settlement: Settlement


def exchange(connection: sa.Connection, settled: Sequence[Settled], asked: Sequence[Asked]) -> list[Verdict]:
    """Settle calls and decide about new ones, in one transaction. Returns a verdict for each call asked for."""
    keys = {provider for one in (*(s.asked for s in settled), *asked) if (provider := _provider(one))}
    provider_limits.lock(connection, keys)
    paying = {one.run_id for one in (*(s.asked for s in settled), *asked) if _provider(one)}
    funds = _lock_runs(connection, paying)
    if settled:
        _settle(connection, settled)
        provider_limits.learn(connection, [(s.asked.call, s.settlement) for s in settled])
        if funds:
            funds = _lock_runs(connection, paying)
    verdicts: list[Verdict] = []
    if asked:
        rooms = provider_limits.rooms(connection, {provider for one in asked if (provider := _provider(one))})
        verdicts, empty = admit(asked, _stopped(connection, asked), funds, rooms)
        _write(connection, [one for one, verdict in zip(asked, verdicts, strict=True) if _granted(verdict)])
        for run_id in empty:
            _stop_for_budget(connection, run_id, funds[run_id])
    connection.commit()
    return verdicts


def _granted(verdict: Verdict) -> bool:
    return verdict.answer is Answer.GRANTED


def _provider(one: Asked) -> str | None:
    return one.call.provider if isinstance(one.call, ModelCall) else None


def _lock_runs(connection: sa.Connection, runs: Collection[str]) -> dict[str, RunFunds]:
    """Hold the accounts of these runs; the funds of those that have a budget."""
    if not runs:
        return {}
    rows = connection.execute(
        sa.text(
            "SELECT run_id, budget_usd, spent_usd, reserved_usd, allow_unpriced FROM runs "
            "WHERE run_id = ANY(:runs) ORDER BY run_id FOR NO KEY UPDATE"
        ),
        {"runs": sorted(runs)},
    )
    return {
        row.run_id: RunFunds(row.budget_usd, row.spent_usd, row.reserved_usd, row.allow_unpriced)
        for row in rows
        if row.budget_usd is not None
    }


def _stopped(connection: sa.Connection, asked: Sequence[Asked]) -> dict[int, tuple[str, str]]:
    """Attempts that may make no further call: cancelled, stopped, or no longer held by who asks."""
    rows = connection.execute(
        sa.text(
            "SELECT asked.key, attempts.state = 'running' AS ours, attempts.stop_reason, runs.state AS run_state, "
            "runs.stop_reason AS run_reason FROM unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) "
            "AS asked(key, fence) LEFT JOIN attempts ON attempts.key = asked.key AND attempts.fence = asked.fence "
            "LEFT JOIN runs ON runs.run_id = attempts.run_id"
        ),
        {"keys": [one.key for one in asked], "fences": [one.fence for one in asked]},
    )
    stopped: dict[int, tuple[str, str]] = {}
    for row in rows:
        if not row.ours:
            stopped[row.key] = ("claim_lost", "another worker has this attempt now")
        elif row.run_state == "cancelled":
            stopped[row.key] = ("", "the run was cancelled")
        elif row.run_state == "stopped":
            stopped[row.key] = ("stopped", row.run_reason)
        elif row.stop_reason is not None:
            stopped[row.key] = ("stopped", row.stop_reason)
    return stopped


_INSERT = sa.text("""
INSERT INTO intents (attempt_key, fence, n, kind, name, arguments, provider, reserved_usd, tokens)
SELECT * FROM unnest(
    cast(:key AS bigint[]), cast(:fence AS int[]), cast(:n AS int[]), cast(:kind AS text[]), cast(:name AS text[]),
    cast(:arguments AS text[]), cast(:provider AS text[]), cast(:reserved AS double precision[]),
    cast(:tokens AS bigint[])
)
""")


def _write(connection: sa.Connection, granted: Sequence[Asked]) -> None:
    # A call that only reads needs no account: nothing is bought, and there is nothing to clean up.
    kept = [one for one in granted if isinstance(one.call, ModelCall) or one.call.writes]
    if not kept:
        return
    rows = [_row(one) for one in kept]
    connection.execute(_INSERT, {name: [row[name] for row in rows] for name in rows[0]})
    reserved: dict[str, float] = {}
    for one in kept:
        if isinstance(one.call, ModelCall) and one.call.worst_case_usd:
            reserved[one.run_id] = reserved.get(one.run_id, 0.0) + one.call.worst_case_usd
    for run_id, usd in sorted(reserved.items()):
        connection.execute(
            sa.text("UPDATE runs SET reserved_usd = reserved_usd + :usd WHERE run_id = :run"),
            {"usd": usd, "run": run_id},
        )


def _row(one: Asked) -> dict[str, object]:
    call = one.call
    place: dict[str, object] = {"key": one.key, "fence": one.fence, "n": one.n}
    if isinstance(call, ModelCall):
        return place | {
            "kind": "model",
            "name": call.model,
            "arguments": None,
            "provider": call.provider,
            "reserved": call.worst_case_usd,
            "tokens": call.tokens,
        }
    return place | {
        "kind": "tool",
        "name": storable(f"{call.server}/{call.tool}").replace("\0", "\ufffd"),
        "arguments": orjson.dumps(storable(call.arguments)).decode()[:ARGUMENT_BYTES],
        "provider": None,
        "reserved": 0.0,
        "tokens": 0,
    }


_SETTLE = sa.text(f"""
WITH given AS (
    SELECT * FROM unnest(
        cast(:key AS bigint[]), cast(:fence AS int[]), cast(:n AS int[]), cast(:status AS text[]),
        cast(:cost AS double precision[]), cast(:source AS text[]), cast(:tokens AS bigint[]), cast(:made AS text[])
    ) AS g(key, fence, n, status, cost, source, tokens, made)
), settled AS (
    UPDATE intents SET settled_at = clock_timestamp(), status = g.status, cost_source = g.source,
        cost_usd = g.cost, tokens = coalesce(g.tokens, intents.tokens), made = g.made
    FROM given g WHERE attempt_key = g.key AND intents.fence = g.fence AND intents.n = g.n
        AND intents.status IS NULL
    RETURNING attempt_key, coalesce(reserved_usd, 0) AS reserved, coalesce(cost_usd, reserved_usd, 0) AS spent
), by_run AS (
    SELECT run_id, sum(reserved) AS reserved, sum(spent) AS spent
    FROM settled JOIN attempts ON attempts.key = attempt_key GROUP BY run_id
)
UPDATE runs SET reserved_usd = {_RELEASED}, spent_usd = spent_usd + by_run.spent
FROM by_run WHERE runs.run_id = by_run.run_id AND (by_run.reserved > 0 OR by_run.spent > 0)
""")  # noqa: S608 - a constant of ours


def _settle(connection: sa.Connection, settled: Sequence[Settled]) -> None:
    connection.execute(
        _SETTLE,
        {
            "key": [one.asked.key for one in settled],
            "fence": [one.asked.fence for one in settled],
            "n": [one.asked.n for one in settled],
            "status": [one.settlement.status for one in settled],
            "cost": [one.settlement.cost_usd for one in settled],
            "source": [one.settlement.cost_source for one in settled],
            "tokens": [one.settlement.tokens for one in settled],
            "made": [orjson.dumps(one.settlement.made).decode() if one.settlement.made else None for one in settled],
        },
    )


# An open call of a try that ended counts as spent: nobody will ever know.
_CLOSE = sa.text(f"""
WITH ended AS (
    SELECT * FROM unnest(cast(:keys AS bigint[]), cast(:fences AS int[])) AS e(key, fence)
), abandoned AS (
    UPDATE intents SET status = 'abandoned'
    FROM ended WHERE attempt_key = ended.key AND intents.fence = ended.fence AND intents.status IS NULL
    RETURNING attempt_key, coalesce(reserved_usd, 0) AS reserved
), by_run AS (
    SELECT run_id, sum(reserved) AS reserved
    FROM abandoned JOIN attempts ON attempts.key = attempt_key GROUP BY run_id
), funds AS (
    UPDATE runs SET reserved_usd = {_RELEASED}, spent_usd = spent_usd + by_run.reserved
    FROM by_run WHERE runs.run_id = by_run.run_id AND by_run.reserved > 0
), sums AS (
    SELECT ended.key, ended.fence, count(n) FILTER (WHERE kind = 'model') AS calls,
        CASE WHEN count(n) FILTER (WHERE coalesce(cost_usd, reserved_usd) IS NULL) = 0
            THEN sum(coalesce(cost_usd, reserved_usd)) END AS cost
    FROM ended JOIN intents ON attempt_key = ended.key AND intents.fence = ended.fence GROUP BY ended.key, ended.fence
)
UPDATE tries SET model_calls = sums.calls, cost_usd = sums.cost
FROM sums WHERE tries.attempt_key = sums.key AND tries.fence = sums.fence
""")  # noqa: S608 - a constant of ours


def close_tries(connection: sa.Connection, ended: Sequence[tuple[int, int]]) -> None:
    """Add up what tries, given by key and fence, spent. In the caller's transaction."""
    if ended:
        connection.execute(_CLOSE, {"keys": [key for key, _ in ended], "fences": [fence for _, fence in ended]})


def _stop_for_budget(connection: sa.Connection, run_id: str, funds: RunFunds) -> None:
    reason = f"budget: ${funds.spent_usd:.4f} of ${funds.budget_usd:g} is spent"
    connection.execute(
        sa.text(
            "UPDATE runs SET state = 'stopped', stop_reason = :reason, xid = pg_current_xact_id() "
            "WHERE run_id = :run AND state = 'active'"
        ),
        {"run": run_id, "reason": reason},
    )
    connection.execute(
        sa.text(
            "UPDATE attempts SET state = 'paused', xid = pg_current_xact_id() WHERE run_id = :run AND state = 'queued'"
        ),
        {"run": run_id},
    )
