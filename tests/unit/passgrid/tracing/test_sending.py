"""When spans are sent at all."""

from __future__ import annotations

import subprocess
import sys

import pytest

from passgrid.tracing.sending import tracing_wanted


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, False),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, False),
    ],
)
def test_a_collector_in_the_environment_is_what_it_takes(environment: dict[str, str], wanted: bool) -> None:
    assert tracing_wanted(environment) is wanted


def test_without_a_collector_nothing_of_opentelemetry_is_imported() -> None:
    program = (
        "import sys, workers.tracing, api.run_tracing\n"
        "from passgrid.tracing.sending import send_the_rest\n"
        "workers.tracing.trace_results(None, [])\n"
        "api.run_tracing.RunTraces().look(None)\n"
        "send_the_rest()\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env={})
    assert found.stdout.strip() == "[]"
