"""Names of failures in live calls, as they stand in tables, and which of them may pass."""

from __future__ import annotations

RATE_LIMIT = "rate_limit"
SERVER_ERROR = "server_error"
CONNECTION = "connection"
SERVER_LOST = "server_lost"
PROVIDER_WAIT = "provider_wait"
AUTHENTICATION = "authentication"
CONTEXT_OVERFLOW = "context_overflow"
UNEXPECTED = "unexpected"

RETRIED = frozenset({RATE_LIMIT, SERVER_ERROR, CONNECTION, SERVER_LOST, PROVIDER_WAIT})
"""Kinds that pass: the attempt is tried again. Everything else would fail again."""
