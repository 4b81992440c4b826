"""Sending spans to a collector over OTLP/HTTP, from a thread of its own, where the environment names a collector.

OpenTelemetry is imported at the first span and never without a collector. A collector that is away delays nothing: what
does not fit into the queue is dropped, with a warning in the log. The thread has a context of its own, so the seal of a
replayed attempt (`passgrid.sealing`) does not reach it, and it reaches nothing of the attempt.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from passgrid.tracing.spans import SpanValues

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
QUEUE = 50_000
"""Spans that wait at most, unless OTEL_BSP_MAX_QUEUE_SIZE says otherwise: some seconds of a busy replay process."""
SCHEDULE_MS = 1000
"""How often spans are sent, unless OTEL_BSP_SCHEDULE_DELAY says otherwise: what a killed process loses at most."""
LAST_SECONDS = 3.0
"""How long a process that ends waits for its last spans to be taken."""


def tracing_wanted(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment names a collector, and does not turn OpenTelemetry off."""
    if environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if environment.get("OTEL_TRACES_EXPORTER", "otlp") == "none":
        return False
    return any(environment.get(name) for name in ENDPOINTS)


def send(spans: Iterable[SpanValues]) -> None:
    """Put spans into the queue. Never waits for the collector, and never raises because of it."""
    tracer = _tracer()
    for span in spans:
        tracer.take(span)


def send_the_rest(seconds: float = LAST_SECONDS) -> None:
    """Before this process ends: give what is queued to the collector, for at most so long.

    Does nothing where no span was ever sent.
    """
    with _first:
        made = list(_made)
        _made.clear()
    for tracer in made:
        tracer.close(seconds)


_made: list[_Tracer] = []
_first = threading.Lock()


def _tracer() -> _Tracer:
    """This process's own: made at its first span, so after the fork. Many threads may ask at once."""
    with _first:
        if not _made:
            _made.append(_Tracer())
        return _made[0]


class _Tracer:
    """The queue, its thread and the exporter behind them."""

    def __init__(self) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        named = os.environ.get("OTEL_SERVICE_NAME") or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
        self._resource = Resource.create({} if named else {"service.name": "passgrid"})
        self._scope = InstrumentationScope("passgrid")
        self._processor: BatchSpanProcessor = BatchSpanProcessor(
            OTLPSpanExporter(),
            max_queue_size=None if os.environ.get("OTEL_BSP_MAX_QUEUE_SIZE") else QUEUE,
            schedule_delay_millis=None if os.environ.get("OTEL_BSP_SCHEDULE_DELAY") else SCHEDULE_MS,
        )

    def take(self, values: SpanValues) -> None:
        """Queue one span."""
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanContext, SpanKind, TraceFlags
        from opentelemetry.trace.status import Status, StatusCode

        def context(span_id: int) -> SpanContext:
            return SpanContext(values.trace_id, span_id, is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

        self._processor.on_end(
            ReadableSpan(
                name=values.name,
                context=context(values.span_id),
                parent=context(values.parent_id) if values.parent_id is not None else None,
                resource=self._resource,
                attributes=dict(values.attributes),
                kind=SpanKind.CLIENT if values.calls_out else SpanKind.INTERNAL,
                status=Status(StatusCode.ERROR, values.error) if values.error else Status(StatusCode.UNSET),
                start_time=values.start_ns,
                end_time=values.end_ns,
                instrumentation_scope=self._scope,
            )
        )

    def close(self, seconds: float) -> None:
        """Send the rest. In a thread that may be left behind: the processor itself would wait half a minute."""
        closing = threading.Thread(target=self._processor.shutdown, name="last spans", daemon=True)
        closing.start()
        closing.join(seconds)
