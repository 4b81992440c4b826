"""`GET /metrics`: the installation as Prometheus reads it. All of it comes from Postgres, none from this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from sqlalchemy.exc import OperationalError

from api.http.database import Engine
from api.http.roles import GuardedRoute, needs
from passgrid.access import Role
from passgrid.warehouse.metrics import (
    ATTEMPT_BOUNDS,
    CALL_BOUNDS,
    MOST_ATTEMPTS,
    RECENT_SECONDS,
    Histogram,
    Snapshot,
    take_snapshot,
)

router = APIRouter(tags=["health"], route_class=GuardedRoute, dependencies=[needs(Role.READ)])

_RECENT = f"over attempts that ended in the last {RECENT_SECONDS // 60} minutes, at most the newest {MOST_ATTEMPTS}"


@router.get("/metrics", response_class=Response)
def metrics(engine: Engine) -> Response:
    """Everything that is measured, in Prometheus' text format; 503 where the database cannot be asked."""
    try:
        snapshot = take_snapshot(engine)
    except OperationalError as error:
        reason = str(error.orig).splitlines()[0] if error.orig else ""
        return Response(f"# the database cannot be asked: {reason}\n", status_code=503, media_type="text/plain")
    return Response(metrics_text(snapshot), headers={"content-type": CONTENT_TYPE_LATEST})


def metrics_text(snapshot: Snapshot) -> bytes:
    """A snapshot in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Collector(snapshot))
    return generate_latest(registry)


class _Collector:
    """Hands a snapshot to a registry of Prometheus' client."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def collect(self) -> Iterator[Metric]:
        """Every family. What is unknown has no sample, never 0."""
        yield from _work(self._snapshot)
        yield from _money(self._snapshot)
        yield from _who_is_there(self._snapshot)
        yield _histogram(
            "passgrid_recent_attempt_duration_seconds", f"How long attempts took, {_RECENT}: no counter, ask for its "
            "quantiles and not for its rate", "queue", ATTEMPT_BOUNDS, self._snapshot.attempt_durations,
        )  # fmt: skip
        yield _histogram(
            "passgrid_recent_model_call_duration_seconds", f"How long model calls took, {_RECENT}", "answered",
            CALL_BOUNDS, self._snapshot.call_durations,
        )  # fmt: skip


def _work(found: Snapshot) -> Iterator[Metric]:
    yield _gauge("passgrid_attempts", "Stored attempts by state", ("queue", "state"), found.attempts)
    yield _gauge("passgrid_attempts_done", "Finished attempts by outcome", ("outcome",), _single(found.outcomes))
    due = {look.queue: look.due for look in found.queues}
    yield _gauge("passgrid_attempts_due", "Queued attempts whose time has come", ("queue",), _single(due))
    oldest = {look.queue: look.oldest_s for look in found.queues if look.oldest_s is not None}
    yield _gauge(
        "passgrid_oldest_due_seconds", "How long the first of them has waited: since its run was made, or its back-off "
        "was over", ("queue",), _single(oldest),
    )  # fmt: skip
    claims = _single(found.last_claim_s)
    yield _gauge("passgrid_last_claim_seconds", "Since anything of this queue was claimed", ("queue",), claims)
    leases = GaugeMetricFamily("passgrid_leases_expired", "Running attempts that lost their worker, not queued again")
    leases.add_metric([], found.expired_leases)
    yield leases
    yield _gauge("passgrid_tries", "Tries by how they ended", ("reason",), _single(found.tries))
    yield _gauge("passgrid_intents", "Unsettled calls: open, or lost with their try", ("kind", "state"), found.intents)


def _money(found: Snapshot) -> Iterator[Metric]:
    runs = {look.state: look.runs for look in found.spend}
    yield _gauge("passgrid_runs", "Stored runs by state", ("state",), _single(runs))
    spent = {look.state: look.spent_usd for look in found.spend}
    yield _gauge(
        "passgrid_spent_usd", "Settled calls with a known price, by state of the run", ("state",), _single(spent)
    )
    reserved = {look.state: look.reserved_usd for look in found.spend}
    yield _gauge("passgrid_reserved_usd", "Calls under way, at their worst case", ("state",), _single(reserved))
    cost = GaugeMetricFamily("passgrid_attempts_cost_usd", "What finished attempts with a known cost have cost")
    cost.add_metric([], found.cost_known_usd)
    yield cost
    unknown = GaugeMetricFamily("passgrid_attempts_cost_unknown", "Finished attempts whose cost is not known")
    unknown.add_metric([], found.cost_unknown)
    yield unknown


def _who_is_there(found: Snapshot) -> Iterator[Metric]:
    alive = {kind: kin.alive for kind, kin in found.processes.items()}
    yield _gauge("passgrid_processes", "Schedulers and worker processes that are there", ("kind",), _single(alive))
    silent = {kind: kin.silent_s for kind, kin in found.processes.items()}
    yield _gauge("passgrid_heartbeat_seconds", "Since any of this kind was heard of", ("kind",), _single(silent))
    now = {one.key: one.concurrency for one in found.providers}
    yield _gauge("passgrid_provider_concurrency", "Requests let through at once now", ("provider",), _single(now))
    flying = {one.key: float(one.in_flight) for one in found.providers}
    yield _gauge("passgrid_provider_in_flight", "Requests without an answer so far", ("provider",), _single(flying))
    blocked = {one.key: one.blocked_s for one in found.providers}
    yield _gauge("passgrid_provider_blocked_seconds", "Until it may be asked again", ("provider",), _single(blocked))


def _single(values: dict[str, Any]) -> dict[tuple[str, ...], float]:
    return {(name,): float(value) for name, value in values.items()}


def _gauge(name: str, meaning: str, labels: tuple[str, ...], values: Any) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=labels)
    for key in sorted(values):
        family.add_metric(key, values[key])
    return family


def _histogram(
    name: str, meaning: str, label: str, bounds: tuple[float, ...], histograms: tuple[Histogram, ...]
) -> Metric:
    family = HistogramMetricFamily(name, meaning, labels=(label,))
    names = [*(str(bound) for bound in bounds), "+Inf"]
    for one in histograms:
        family.add_metric((one.label,), list(zip(names, one.buckets, strict=True)), one.total_s)
    return family
