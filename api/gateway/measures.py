"""The metrics of a gateway: calls that the fakes refused, by reason, over all of its processes."""

from __future__ import annotations

import sqlalchemy as sa
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from passgrid.fakes.state import FakeOutcome
from passgrid.warehouse.gateway_loads import failures


class _Failures(Collector):
    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts

    def collect(self) -> list[CounterMetricFamily]:
        family = CounterMetricFamily(
            "passgrid_mcp_fake_failures", "Calls of tools that the fakes refused.", labels=["code"]
        )
        for outcome in FakeOutcome:
            if outcome is not FakeOutcome.ANSWERED:
                family.add_metric([f"MCP_FAKE_{outcome.upper()}"], self._counts.get(outcome, 0))
        return [family]


def failure_metrics(engine: sa.Engine, space: str) -> bytes:
    """In the text form that Prometheus reads."""
    with engine.connect() as connection:
        counts = failures(connection, space)
    registry = CollectorRegistry()
    registry.register(_Failures(counts))
    return generate_latest(registry)
