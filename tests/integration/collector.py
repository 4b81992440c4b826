"""A collector of OpenTelemetry spans on loopback, for tests."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Received:
    """One span, as it came over the wire."""

    name: str
    trace: str
    id: str
    parent: str
    seconds: float
    attributes: dict[str, Any]
    failed: bool
    service: str


@dataclass
class Collector:
    """What came."""

    endpoint: str
    spans: list[Received] = field(default_factory=list[Received])

    def named(self, start: str) -> list[Received]:
        """Spans whose name starts so."""
        return [span for span in self.spans if span.name.startswith(start)]

    def take(self, body: bytes) -> None:
        """Read one request."""
        request: Any = ExportTraceServiceRequest.FromString(body)
        for of_resource in request.resource_spans:
            service = _attributes(of_resource.resource.attributes).get("service.name", "")
            for of_scope in of_resource.scope_spans:
                self.spans += [_received(span, service) for span in of_scope.spans]


@contextmanager
def collector() -> Generator[Collector]:
    """Collect inside the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            made.take(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Collector(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()


def _received(span: Any, service: str) -> Received:
    return Received(
        name=span.name,
        trace=span.trace_id.hex(),
        id=span.span_id.hex(),
        parent=span.parent_span_id.hex(),
        seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        attributes=_attributes(span.attributes),
        failed=span.status.code == 2,
        service=service,
    )


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
