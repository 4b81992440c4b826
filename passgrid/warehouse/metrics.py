"""What can be measured of the whole installation, read from Postgres in one snapshot: no process has to be asked.

Counts are over everything that is stored, so they shrink when runs are pruned. Durations are over attempts that ended
lately: the last `RECENT_SECONDS`, and of these the newest `MOST_ATTEMPTS`, which bounds what a look costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from passgrid.warehouse.heartbeats import Kin, kinds

RECENT_SECONDS = 900
MOST_ATTEMPTS = 10_000
TIMEOUT = "5s"
"""A look that takes longer is given up: measuring must not be what keeps the database busy."""

ATTEMPT_BOUNDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
CALL_BOUNDS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
"""Upper bounds of the buckets, in seconds."""


@dataclass(frozen=True, slots=True)
class QueueLook:
    """One queue."""

    queue: str
    due: int
    """Queued attempts whose time has come."""
    oldest_s: float | None
    """How long the first of them has waited: since its run was made, or since its back-off was over."""


@dataclass(frozen=True, slots=True)
class SpendLook:
    """Runs of one state."""

    state: str
    runs: int
    spent_usd: float
    """Of settled calls with a known price."""
    reserved_usd: float


@dataclass(frozen=True, slots=True)
class ProviderLook:
    """One provider account."""

    key: str
    concurrency: float
    """Adapted: so many requests at once are let through now."""
    in_flight: int
    blocked_s: float
    """Until it is asked again; 0: it is not blocked."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Durations by one label."""

    label: str
    buckets: tuple[int, ...]
    """How many lasted at most as long as each bound, and at last all."""
    total_s: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything, at one moment."""

    attempts: dict[tuple[str, str], int]
    """By queue and state."""
    outcomes: dict[str, int]
    """Finished attempts by outcome, such as `passed` or `limit(turns)`."""
    cost_known_usd: float
    cost_unknown: int
    """Finished attempts whose cost is not known."""
    last_claim_s: dict[str, float]
    """Seconds since anything was claimed, by queue."""
    queues: tuple[QueueLook, ...]
    expired_leases: int
    tries: dict[str, int]
    """By reason; `running` for those that have not ended."""
    intents: dict[tuple[str, str], int]
    """Unsettled calls by kind, and whether their try still runs (`open`) or was lost with them (`lost`)."""
    spend: tuple[SpendLook, ...]
    providers: tuple[ProviderLook, ...]
    processes: dict[str, Kin]
    attempt_durations: tuple[Histogram, ...]
    """By queue."""
    call_durations: tuple[Histogram, ...]
    """Of model calls, by how they were answered."""


def take_snapshot(engine: sa.Engine) -> Snapshot:
    """Look at everything. Raises `OperationalError` where the database is away, or takes longer than `TIMEOUT`."""
    with engine.connect() as connection, connection.begin():
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{TIMEOUT}'")
        counted = connection.execute(_COUNTED).all()
        return Snapshot(
            attempts=_summed(((row.queue, row.state), row.n) for row in counted),
            outcomes=_summed((row.outcome, row.n) for row in counted if row.outcome is not None),
            cost_known_usd=sum(row.cost_known or 0.0 for row in counted),
            cost_unknown=sum(row.cost_unknown for row in counted),
            last_claim_s=_last_claims(counted),
            queues=queue_looks(connection),
            expired_leases=expired_leases(connection),
            tries={row.reason: row.n for row in connection.execute(_TRIES)},
            intents={(row.kind, row.state): row.n for row in connection.execute(_INTENTS)},
            spend=tuple(SpendLook(*row) for row in connection.execute(_SPEND)),
            providers=tuple(ProviderLook(*row) for row in connection.execute(_PROVIDERS)),
            processes=kinds(connection),
            attempt_durations=_histograms(connection, _ATTEMPT_DURATIONS, ATTEMPT_BOUNDS),
            call_durations=_histograms(connection, _CALL_DURATIONS, CALL_BOUNDS),
        )


def queue_looks(connection: sa.Connection) -> tuple[QueueLook, ...]:
    """Queues in which something waits."""
    return tuple(QueueLook(*row) for row in connection.execute(_QUEUES))


def expired_leases(connection: sa.Connection) -> int:
    """Running attempts whose lease is over: the scheduler queues them again at its next tick."""
    return connection.execute(_EXPIRED).scalar_one()


def _summed(pairs: Any) -> dict[Any, int]:
    sums: dict[Any, int] = {}
    for key, n in pairs:
        sums[key] = sums.get(key, 0) + n
    return sums


def _last_claims(counted: Sequence[Any]) -> dict[str, float]:
    last: dict[str, float] = {}
    for row in counted:
        if row.claimed_s is not None:
            last[row.queue] = min(last.get(row.queue, row.claimed_s), row.claimed_s)
    return last


def _histograms(connection: sa.Connection, query: sa.TextClause, bounds: Sequence[float]) -> tuple[Histogram, ...]:
    parameters = {
        # Negated, so that a duration equal to a bound counts as not longer than it.
        "bounds": [-bound for bound in reversed(bounds)],
        "recent": RECENT_SECONDS,
        "most": MOST_ATTEMPTS,
    }
    found: dict[str, dict[int, Any]] = {}
    for row in connection.execute(query, parameters):
        found.setdefault(row.label, {})[row.fits] = row
    return tuple(
        Histogram(
            label,
            tuple(
                sum(row.n for fits, row in rows.items() if fits >= least) for least in range(len(bounds), -1, -1)
            ),
            sum(row.total_s for row in rows.values()),
        )
        for label, rows in sorted(found.items())
    )  # fmt: skip


_COUNTED = sa.text("""
SELECT queue, state, CASE WHEN outcome_detail <> '' THEN outcome || '(' || outcome_detail || ')' ELSE outcome END
        AS outcome,
    count(*) AS n, sum(cost_usd) AS cost_known,
    count(*) FILTER (WHERE state = 'done' AND cost_usd IS NULL) AS cost_unknown,
    extract(epoch FROM clock_timestamp() - max(started_at))::float8 AS claimed_s
FROM attempts GROUP BY 1, 2, 3
""")

_QUEUES = sa.text("""
SELECT queue, count(*), extract(epoch FROM clock_timestamp() - min(greatest(not_before, created_at)))::float8
FROM attempts JOIN runs USING (run_id)
WHERE attempts.state = 'queued' AND (not_before IS NULL OR not_before <= clock_timestamp()) GROUP BY queue
""")

_EXPIRED = sa.text("SELECT count(*) FROM attempts WHERE state = 'running' AND lease_until < clock_timestamp()")

_TRIES = sa.text("SELECT coalesce(reason, 'running') AS reason, count(*) AS n FROM tries GROUP BY 1")

_INTENTS = sa.text("""
SELECT kind, CASE WHEN state = 'running' AND a.fence = i.fence THEN 'open' ELSE 'lost' END AS state, count(*) AS n
FROM intents i JOIN attempts a ON a.key = i.attempt_key WHERE settled_at IS NULL GROUP BY 1, 2
""")

_SPEND = sa.text("SELECT state, count(*), sum(spent_usd), sum(reserved_usd) FROM runs GROUP BY state ORDER BY state")

_PROVIDERS = sa.text("""
SELECT key, concurrency,
    (SELECT count(*) FROM intents JOIN attempts ON attempts.key = attempt_key AND attempts.fence = intents.fence
        WHERE provider = providers.key AND settled_at IS NULL
        AND state = 'running' AND lease_until > clock_timestamp()),
    greatest(0, coalesce(extract(epoch FROM blocked_until - clock_timestamp()), 0))::float8
FROM providers ORDER BY key
""")

_RECENT = (
    "SELECT key, queue, duration_s FROM attempts WHERE state = 'done' "
    "AND finished_at > clock_timestamp() - make_interval(secs => :recent) ORDER BY finished_at DESC LIMIT :most"
)

_ATTEMPT_DURATIONS = sa.text(
    "SELECT queue AS label, width_bucket(-duration_s, cast(:bounds AS float8[])) AS fits, count(*) AS n, "  # noqa: S608
    f"sum(duration_s) AS total_s FROM ({_RECENT}) recent WHERE duration_s IS NOT NULL GROUP BY 1, 2"
)

_CALL_DURATIONS = sa.text(
    "SELECT answered AS label, width_bucket(-duration_ms / 1000, cast(:bounds AS float8[])) AS fits, "  # noqa: S608
    f"count(*) AS n, sum(duration_ms) / 1000 AS total_s FROM ({_RECENT}) recent "
    "JOIN model_calls ON attempt_key = recent.key GROUP BY 1, 2"
)
