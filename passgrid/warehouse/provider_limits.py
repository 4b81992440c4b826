"""Limits of providers over all workers: what the providers file says, and what was learned from answers.

A request holds its slot while its intent is open and its attempt's lease lives: a slot comes back when its holder dies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from passgrid.admission import ProviderRoom
from passgrid.failure_kinds import AUTHENTICATION, RATE_LIMIT
from passgrid.gate import ModelCall, Settlement, ToolCall

FIRST_CONCURRENCY = 4
"""Requests at once before anything is known: a wrong key is noticed before it was used often."""
DEFAULT_CONCURRENCY = 64
"""Most requests at once where the providers file says nothing."""
MINUTE_SECONDS = 60.5
"""A minute and the time a request may spend on its way."""
PAUSE_SECONDS = 1.0
"""After a rate limit that does not say how long to wait."""


def lock(connection: sa.Connection, keys: Iterable[str]) -> None:
    """Hold these accounts until the end of the transaction, so that no two workers count the same room."""
    for key in sorted(keys):
        connection.execute(
            sa.text("INSERT INTO providers (key, concurrency) VALUES (:key, :first) ON CONFLICT DO NOTHING"),
            {"key": key, "first": FIRST_CONCURRENCY},
        )
        connection.execute(sa.text("SELECT 1 FROM providers WHERE key = :key FOR UPDATE"), {"key": key})


_ROOMS = sa.text("""
SELECT providers.key, blocked_until > clock_timestamp() AS blocked, auth_failures,
    least(providers.concurrency, coalesce(provider_limits.concurrency, :most)) AS concurrency,
    requests_per_minute, tokens_per_minute,
    (SELECT count(*) FROM intents JOIN attempts ON attempts.key = attempt_key AND attempts.fence = intents.fence
        WHERE provider = providers.key AND settled_at IS NULL AND status IS NULL
        AND attempts.state = 'running' AND lease_until > clock_timestamp()) AS under_way,
    CASE WHEN auth_failures > 0 THEN (
        SELECT count(*) FROM attempts JOIN intents ON attempt_key = attempts.key AND intents.fence = attempts.fence
        WHERE attempts.state = 'running' AND lease_until > clock_timestamp()
            AND provider = providers.key AND status = :refused
    ) ELSE 0 END AS refused,
    minute.requests, minute.tokens
FROM providers LEFT JOIN provider_limits ON provider_limits.provider = split_part(providers.key, ':', 1)
CROSS JOIN LATERAL (
    SELECT count(*) AS requests, coalesce(sum(tokens), 0) AS tokens FROM intents WHERE provider = providers.key
    AND started_at > clock_timestamp() - make_interval(secs => :minute)
    AND (requests_per_minute IS NOT NULL OR tokens_per_minute IS NOT NULL)
) minute
WHERE providers.key = ANY(:keys)
""")


def rooms(connection: sa.Connection, keys: Collection[str]) -> dict[str, ProviderRoom]:
    """What each account has room for now."""
    if not keys:
        return {}
    rows = connection.execute(
        _ROOMS, {"keys": list(keys), "most": DEFAULT_CONCURRENCY, "minute": MINUTE_SECONDS, "refused": AUTHENTICATION}
    )
    found = [dict[str, Any](row) for row in rows.mappings()]
    return {facts["key"]: _room(facts) for facts in found}


def _room(facts: Mapping[str, Any]) -> ProviderRoom:
    # After a refused key one request at a time finds out whether the next is refused too, once it is written that the
    # attempts before it were: then their arm may be stopped.
    concurrency = 1 if facts["auth_failures"] else int(facts["concurrency"])
    requests, tokens = facts["requests_per_minute"], facts["tokens_per_minute"]
    return ProviderRoom(
        blocked=bool(facts["blocked"]),
        slots=concurrency - facts["under_way"] - facts["refused"],
        requests=None if requests is None else requests - facts["requests"],
        tokens=None if tokens is None else int(tokens - facts["tokens"]),
    )


# It rises only where all slots were taken: to twice as many with every round of good answers until the first refusal,
# by one a round after it. It falls to half at a refusal, once only for all that were under way together.
_LEARN = sa.text("""
WITH under_way AS (
    SELECT count(*) AS n FROM intents JOIN attempts ON attempts.key = attempt_key AND attempts.fence = intents.fence
    WHERE provider = :key AND settled_at IS NULL AND status IS NULL
        AND attempts.state = 'running' AND lease_until > clock_timestamp()
)
UPDATE providers SET
    concurrency = CASE
        WHEN :limited > 0 AND (blocked_until IS NULL OR blocked_until < clock_timestamp())
            THEN greatest(1, providers.concurrency / 2)
        WHEN :limited > 0 OR :good + under_way.n < floor(providers.concurrency) THEN providers.concurrency
        WHEN limited_once THEN least(:most, providers.concurrency + :good / greatest(1, providers.concurrency))
        ELSE least(:most, providers.concurrency + :good) END,
    limited_once = limited_once OR :limited > 0,
    blocked_until = CASE WHEN :limited > 0
        THEN greatest(blocked_until, clock_timestamp() + make_interval(secs => :pause)) ELSE blocked_until END,
    auth_failures = CASE WHEN :good > 0 THEN 0 ELSE auth_failures + :refused END
FROM under_way WHERE key = :key
""")


def learn(connection: sa.Connection, answered: Sequence[tuple[ModelCall | ToolCall, Settlement]]) -> None:
    """Adapt to what came back: rises while answers are good, falls at a rate limit, waits as long as asked."""
    by_provider: dict[str, list[Settlement]] = {}
    for call, settlement in answered:
        if isinstance(call, ModelCall) and call.provider is not None:
            by_provider.setdefault(call.provider, []).append(settlement)
    for key, settlements in sorted(by_provider.items()):
        pauses = [s.retry_after_s or PAUSE_SECONDS for s in settlements if s.status == RATE_LIMIT]
        connection.execute(
            _LEARN,
            {
                "key": key,
                "good": sum(s.status == "ok" for s in settlements),
                "limited": len(pauses),
                "refused": sum(s.status == AUTHENTICATION for s in settlements),
                "pause": max(pauses, default=0.0),
                "most": _most(connection, key),
            },
        )


def _most(connection: sa.Connection, key: str) -> int:
    configured = connection.execute(
        sa.text("SELECT concurrency FROM provider_limits WHERE provider = :provider"),
        {"provider": key.partition(":")[0]},
    ).scalar_one_or_none()
    return configured or DEFAULT_CONCURRENCY


@dataclass(frozen=True, slots=True)
class ProviderUse:
    """One account of a provider: its limits, and what is used of them."""

    key: str
    concurrency: float
    """Requests at once, as adapted."""
    most: int | None
    """Requests at once, as configured; None: the default."""
    requests_per_minute: int | None
    tokens_per_minute: int | None
    under_way: int
    requests: int
    """Of the last minute."""
    tokens: int
    blocked_s: float
    """Seconds the provider still asks to wait."""

    def to_json(self) -> dict[str, Any]:
        """As `passgrid providers --json` prints it."""
        return asdict(self)


def provider_use(connection: sa.Connection) -> list[ProviderUse]:
    """Every account that was ever asked, and every provider that is limited."""
    rows = connection.execute(_USE, {"first": FIRST_CONCURRENCY})
    return [ProviderUse(*row) for row in rows]


_USE = sa.text("""
SELECT coalesce(providers.key, provider_limits.provider), coalesce(providers.concurrency, :first)::float8,
    provider_limits.concurrency, requests_per_minute, tokens_per_minute,
    (SELECT count(*) FROM intents JOIN attempts ON attempts.key = attempt_key AND attempts.fence = intents.fence
        WHERE provider = providers.key AND settled_at IS NULL AND status IS NULL
        AND attempts.state = 'running' AND lease_until > clock_timestamp()),
    minute.requests, minute.tokens::bigint,
    greatest(0, coalesce(extract(epoch FROM blocked_until - clock_timestamp()), 0))::float8
FROM providers FULL JOIN provider_limits ON provider_limits.provider = split_part(providers.key, ':', 1)
CROSS JOIN LATERAL (
    SELECT count(*) AS requests, coalesce(sum(tokens), 0) AS tokens FROM intents WHERE provider = providers.key
    AND started_at > clock_timestamp() - interval '60 s'
) minute ORDER BY 1
""")


def configure(engine: sa.Engine, limits: Mapping[str, Mapping[str, int | None]]) -> None:
    """Make the configured limits these, from the next request on."""
    with engine.begin() as connection:
        connection.execute(
            sa.text("DELETE FROM provider_limits WHERE provider <> ALL(:names)"), {"names": sorted(limits)}
        )
        for provider, values in sorted(limits.items()):
            connection.execute(
                sa.text(
                    "INSERT INTO provider_limits (provider, concurrency, requests_per_minute, tokens_per_minute) "
                    "VALUES (:provider, :concurrency, :requests, :tokens) ON CONFLICT (provider) DO UPDATE SET "
                    "concurrency = :concurrency, requests_per_minute = :requests, tokens_per_minute = :tokens"
                ),
                {
                    "provider": provider,
                    "concurrency": values.get("concurrency"),
                    "requests": values.get("requests_per_minute"),
                    "tokens": values.get("tokens_per_minute"),
                },
            )
