"""OpenTelemetry traces of runs: what a span says (`spans`), and sending them off (`sending`)."""
