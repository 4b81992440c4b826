"""The tables in Postgres, the truth about every run. Migrations in `alembic/` make them; a test compares the two.

`xid` is the transaction that wrote the row last: what the export follows. Only roots carry it (run, cell, attempt):
calls, checks and transcripts are written with their attempt, and travel with it.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB
from sqlalchemy.types import UserDefinedType

metadata = sa.MetaData()


class Xid8(UserDefinedType[int]):
    """Postgres' 64-bit transaction id."""

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        """Its name in DDL."""
        return "xid8"


def _xid() -> sa.Column[Any]:
    return sa.Column("xid", Xid8(), nullable=False, server_default=sa.text("pg_current_xact_id()"))


def _now(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()"))


def _attempt_key() -> sa.Column[Any]:
    return sa.Column("attempt_key", sa.BigInteger, sa.ForeignKey("attempts.key", ondelete="CASCADE"), primary_key=True)


blobs = sa.Table(
    "blobs",
    metadata,
    sa.Column("hash", sa.Text, primary_key=True, comment="SHA-256 of the uncompressed bytes"),
    sa.Column("body", BYTEA, nullable=False, comment="zstd"),
    comment="Content-addressed files: orders, cassettes, payloads, suite files, tool surfaces",
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("run_id", sa.Text, primary_key=True, comment="Hash of the matrix without k, label and harness"),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("mode", sa.Text, nullable=False, comment="replay, sandbox, live or drift"),
    sa.Column(
        "state", sa.Text, nullable=False, comment="active, paused, stopped, cancelled, done, or pruned: being deleted"
    ),
    sa.Column("stop_reason", sa.Text, nullable=False, server_default="", comment="why it was stopped"),
    sa.Column("record", sa.Boolean, nullable=False, server_default=sa.false(), comment="attempts become cassettes"),
    sa.Column("k", sa.Integer, nullable=False, comment="the largest k submitted"),
    sa.Column("wanted", sa.Integer, nullable=False, comment="attempts"),
    sa.Column("priority", sa.Integer, nullable=False, comment="larger goes first"),
    sa.Column("max_tries", sa.Integer, nullable=False, server_default="3", comment="of each attempt; losses aside"),
    sa.Column("budget_usd", sa.Double, comment="null: none"),
    sa.Column("allow_unpriced", sa.Boolean, nullable=False, server_default=sa.false(), comment="under a budget"),
    sa.Column("spent_usd", sa.Double, nullable=False, server_default="0", comment="of settled calls"),
    sa.Column("reserved_usd", sa.Double, nullable=False, server_default="0", comment="of calls under way"),
    sa.Column("spec", JSONB, nullable=False, comment="as submitted"),
    sa.Column("harness", JSONB, nullable=False, comment="versions of passgrid, pydantic_ai and mcp"),
    sa.Column("imported_from", sa.Text, comment="format it was imported from; null: measured here"),
    _now("created_at"),
    sa.Column("finished_at", sa.DateTime(timezone=True)),
    _xid(),
    sa.Index("runs_xid", "xid"),
)

cells = sa.Table(
    "cells",
    metadata,
    sa.Column("key", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.run_id", ondelete="CASCADE"), nullable=False),
    sa.Column("cell_id", sa.Text, nullable=False),
    sa.Column("suite", sa.Text, nullable=False),
    sa.Column("scenario", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("prompt", sa.Text, nullable=False),
    sa.Column("target", sa.Text, nullable=False),
    sa.Column("fault", sa.Text, nullable=False),
    sa.Column("mitigation", sa.Text, nullable=False),
    sa.Column("agent", sa.Text, nullable=False, server_default="default", comment="agent axis: who runs the loop"),
    sa.Column("tags", ARRAY(sa.Text), nullable=False),
    sa.Column("verdict_hash", sa.Text, nullable=False, comment="what decides the verdict: checks and stages"),
    sa.Column("order_hash", sa.Text, nullable=False, comment="blob: scenario, prompt, model and suite files"),
    _xid(),
    sa.UniqueConstraint("run_id", "cell_id", name="cells_run_cell"),
    sa.Index("cells_xid", "xid"),
)

attempts = sa.Table(
    "attempts",
    metadata,
    sa.Column("key", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.run_id", ondelete="CASCADE"), nullable=False),
    sa.Column("cell_key", sa.BigInteger, sa.ForeignKey("cells.key", ondelete="CASCADE"), nullable=False),
    sa.Column("attempt_id", sa.Text, nullable=False),
    sa.Column("sample", sa.Integer, nullable=False),
    sa.Column("cassette_hash", sa.Text, comment="blob: the recording it replays"),
    sa.Column("queue", sa.Text, nullable=False, comment="replay or live: which workers take it"),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False, server_default="queued", comment="queued, paused, running or done"),
    sa.Column("not_before", sa.DateTime(timezone=True), comment="when it is tried again at the earliest"),
    sa.Column("stop_reason", sa.Text, comment="why a running one is to end before its next call"),
    sa.Column("failures", sa.Integer, nullable=False, server_default="0", comment="tries that failed, losses aside"),
    sa.Column("losses", sa.Integer, nullable=False, server_default="0", comment="tries whose worker was lost"),
    sa.Column(
        "lone_losses", sa.Integer, nullable=False, server_default="0", comment="of these, those in a process of its own"
    ),
    sa.Column("alone", sa.Boolean, nullable=False, server_default=sa.false(), comment="runs in a process of its own"),
    sa.Column("fence", sa.Integer, nullable=False, server_default="0", comment="grows with every claim"),
    sa.Column("worker", sa.Text),
    sa.Column("lease_until", sa.DateTime(timezone=True)),
    sa.Column("outcome", sa.Text),
    sa.Column("outcome_detail", sa.Text),
    sa.Column("reason", sa.Text),
    sa.Column("valid", sa.Boolean),
    sa.Column("passed", sa.Boolean),
    sa.Column("model_turns", sa.Integer),
    sa.Column("tool_calls", sa.Integer),
    sa.Column("wasted_calls", sa.Integer, comment="tool calls that ended in an error"),
    sa.Column("input_tokens", sa.BigInteger, comment="null: unknown"),
    sa.Column("output_tokens", sa.BigInteger, comment="null: unknown"),
    sa.Column("cost_usd", sa.Double, comment="null: unknown"),
    sa.Column("duration_s", sa.Double),
    sa.Column("digest", sa.Text),
    sa.Column("surface_hash", sa.Text, comment="blob: the tools that were offered"),
    sa.Column("recording_hash", sa.Text, comment="blob: the cassette made of it"),
    sa.Column("evidence_hash", sa.Text, comment="blob: files at the end and what servers said; null: neither"),
    sa.Column("leftovers", sa.Integer, comment="artifacts it made that are still there; null: nobody looked"),
    sa.Column("started_at", sa.DateTime(timezone=True)),
    sa.Column("finished_at", sa.DateTime(timezone=True)),
    sa.Column("working_s", sa.Double, comment="without waiting for a provider; null: not measured"),
    sa.Column("most_called", sa.Text, comment="the tool it called most"),
    sa.Column("most_calls", sa.Integer),
    sa.Column("recovered_structured", sa.Integer, comment="errors with code and suggestion that it got over"),
    sa.Column("recovered_opaque", sa.Integer, comment="other errors that it got over"),
    _xid(),
    sa.UniqueConstraint("run_id", "attempt_id", name="attempts_run_attempt"),
    sa.UniqueConstraint("cell_key", "sample", name="attempts_cell_sample"),
    sa.Index("attempts_xid", "xid"),
    sa.Index(
        "attempts_queued",
        "queue",
        "alone",
        sa.text("priority DESC"),
        "key",
        postgresql_where=sa.text("state = 'queued'"),
    ),
    sa.Index("attempts_leases", "lease_until", postgresql_where=sa.text("state = 'running'")),
    sa.Index("attempts_finished", "finished_at", postgresql_where=sa.text("state = 'done'")),
)

tries = sa.Table(
    "tries",
    metadata,
    _attempt_key(),
    sa.Column("fence", sa.Integer, primary_key=True),
    sa.Column("worker", sa.Text, nullable=False),
    _now("started_at"),
    sa.Column("ended_at", sa.DateTime(timezone=True)),
    sa.Column("reason", sa.Text, comment="finished, failed, worker_lost or handed_back; null while it runs"),
    sa.Column("detail", sa.Text, nullable=False, server_default="", comment="why it was not the last, in one line"),
    sa.Column("alone", sa.Boolean, nullable=False, server_default=sa.false(), comment="nothing else ran beside it"),
    sa.Column("model_calls", sa.Integer, comment="live ones it began"),
    sa.Column("cost_usd", sa.Double, comment="settled, and reserved where unsettled; null: unknown"),
    comment="Every execution of an attempt: a crash makes a second try of the same attempt",
)

tool_calls = sa.Table(
    "tool_calls",
    metadata,
    _attempt_key(),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("turn", sa.Integer, nullable=False),
    sa.Column("server", sa.Text, nullable=False),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("arguments", sa.Text, nullable=False, comment="JSON"),
    sa.Column("result_bytes", sa.Integer, comment="size of the answer; its text is in the transcript"),
    sa.Column("answered", sa.Text, nullable=False),
    sa.Column("error", sa.Boolean, nullable=False),
    sa.Column("error_text", sa.Text),
    sa.Column("started_ms", sa.Double, nullable=False, comment="from the start of the attempt"),
    sa.Column("duration_ms", sa.Double, comment="null: it never came back"),
    sa.Column("asked", sa.Integer, nullable=False, comment="position by request"),
    sa.Column("answered_at", sa.Integer, comment="position by response"),
    sa.Column("score", sa.Double, comment="how alike the recorded question is, where it was in other words"),
    comment="The journal",
)

model_calls = sa.Table(
    "model_calls",
    metadata,
    _attempt_key(),
    sa.Column("turn", sa.Integer, primary_key=True),
    sa.Column("answered", sa.Text, nullable=False),
    sa.Column("served_model", sa.Text),
    sa.Column("finish_reason", sa.Text),
    sa.Column("input_tokens", sa.Integer),
    sa.Column("output_tokens", sa.Integer),
    sa.Column("cache_read_tokens", sa.Integer),
    sa.Column("cache_write_tokens", sa.Integer),
    sa.Column("cost_usd", sa.Double),
    sa.Column("cost_source", sa.Text, comment="provider, prices, free or recorded; null: unknown"),
    sa.Column("started_ms", sa.Double, nullable=False),
    sa.Column("duration_ms", sa.Double, nullable=False),
)

checks = sa.Table(
    "checks",
    metadata,
    _attempt_key(),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("stage", sa.Boolean, nullable=False),
    sa.Column("required", sa.Boolean, nullable=False),
    sa.Column("passed", sa.Boolean, comment="null: could not be made"),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("imported", sa.Boolean, nullable=False, comment="another tool's verdict"),
)

transcripts = sa.Table(
    "transcripts",
    metadata,
    _attempt_key(),
    sa.Column("body", BYTEA, nullable=False, comment="zstd of a JSON list of messages"),
)

flags = sa.Table(
    "flags",
    metadata,
    _attempt_key(),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("detail", sa.Text, nullable=False),
    comment="What detectors of silent failures found; no part of the verdict",
)

verdicts = sa.Table(
    "verdicts",
    metadata,
    _attempt_key(),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("reason", sa.Text),
    sa.Column("checks", JSONB, nullable=False),
    sa.Column("flags", JSONB, nullable=False),
    sa.Column("verdict_hash", sa.Text, nullable=False, comment="of the checks and stages it was made with"),
    _now("replaced_at"),
    comment="Verdicts that a rescoring replaced, oldest first",
)

teardowns = sa.Table(
    "teardowns",
    metadata,
    _attempt_key(),
    sa.Column("fence", sa.Integer, primary_key=True),
    sa.Column("state", sa.Text, nullable=False, server_default="due", comment="due, done or failed"),
    sa.Column("worker", sa.Text),
    _now("not_before"),
    sa.Column("tries", sa.Integer, nullable=False, server_default="0"),
    sa.Column("removed", sa.Integer),
    sa.Column("leftovers", JSONB, comment="what is still there, and why"),
    sa.Column("detail", sa.Text, nullable=False, server_default=""),
    sa.Index("teardowns_due", "not_before", postgresql_where=sa.text("state = 'due'")),
    comment="Tries whose worker was lost, and what they made is to be taken away",
)

drift_tools = sa.Table(
    "drift_tools",
    metadata,
    _attempt_key(),
    sa.Column("server", sa.Text, primary_key=True),
    sa.Column("tool", sa.Text, primary_key=True),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("compared", sa.Integer, nullable=False, comment="calls with a live and a recorded answer"),
    sa.Column("equal", sa.Integer, nullable=False, comment="of these, apart from volatile values"),
    sa.Column("missing", sa.Boolean, nullable=False, comment="the server lacks it: answered from the recording"),
    comment="Live answers compared with recorded ones, by attempt and tool",
)

drift_findings = sa.Table(
    "drift_findings",
    metadata,
    _attempt_key(),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("part", sa.Text, nullable=False, comment="surface or result"),
    sa.Column("server", sa.Text, nullable=False),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("place", sa.Text, nullable=False, comment="in the declaration or answer; empty: the whole of it"),
    sa.Column("change", sa.Text, nullable=False, comment="what happened to it"),
    sa.Column("severity", sa.Text, nullable=False, comment="breaking, compatible or value-only"),
    sa.Column("recorded", sa.Text, nullable=False, comment="JSON, an example of what was there"),
    sa.Column("live", sa.Text, nullable=False, comment="JSON, an example of what is there now"),
    sa.Column("count", sa.Integer, nullable=False, comment="calls it was seen in; of the surface, 1"),
    comment="Where servers differ from the recording, by attempt",
)

ledger_changes = sa.Table(
    "ledger_changes",
    metadata,
    _attempt_key(),
    sa.Column("n", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False, comment="file: of the workspace, compared with its template"),
    sa.Column("subject", sa.Text, nullable=False, comment="path of a file"),
    sa.Column("change", sa.Text, nullable=False, comment="created, changed or deleted"),
    sa.Column("before_hash", sa.Text, comment="SHA-256; null: it was not there"),
    sa.Column("before_bytes", sa.BigInteger),
    sa.Column("after_hash", sa.Text, comment="SHA-256; null: it is gone"),
    sa.Column("after_bytes", sa.BigInteger),
    comment="What was different after an attempt",
)

intents = sa.Table(
    "intents",
    metadata,
    _attempt_key(),
    sa.Column("fence", sa.Integer, primary_key=True, comment="the try"),
    sa.Column("n", sa.Integer, primary_key=True, comment="position within the try"),
    sa.Column("kind", sa.Text, nullable=False, comment="model or tool"),
    sa.Column("name", sa.Text, nullable=False, comment="the model, or server/tool"),
    sa.Column("arguments", sa.Text, comment="of a tool call, JSON: what to clean up after a crash"),
    sa.Column("provider", sa.Text, comment="provider:account whose limits it counts against"),
    sa.Column("reserved_usd", sa.Double, comment="the worst case; null: no price is known"),
    sa.Column("tokens", sa.BigInteger, nullable=False, server_default="0", comment="estimated, then used"),
    sa.Column("started_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    sa.Column("settled_at", sa.DateTime(timezone=True), comment="null: under way, or lost with its worker"),
    sa.Column("status", sa.Text, comment="ok, or the kind of error"),
    sa.Column("cost_usd", sa.Double),
    sa.Column("cost_source", sa.Text),
    sa.Column("made", sa.Text, comment="JSON: kinds and ids of artifacts the call made"),
    sa.Index("intents_window", "provider", "started_at", postgresql_where=sa.text("provider IS NOT NULL")),
    sa.Index("intents_open", "provider", postgresql_where=sa.text("provider IS NOT NULL AND settled_at IS NULL")),
    sa.Index("intents_unsettled", "attempt_key", postgresql_where=sa.text("settled_at IS NULL")),
    comment="Live calls, written before they are made: an unsettled one counts as spent",
)

provider_limits = sa.Table(
    "provider_limits",
    metadata,
    sa.Column("provider", sa.Text, primary_key=True),
    sa.Column("concurrency", sa.Integer, comment="requests at once; null: the default"),
    sa.Column("requests_per_minute", sa.Integer, comment="null: no limit"),
    sa.Column("tokens_per_minute", sa.BigInteger, comment="null: no limit"),
    comment="What the providers file says, for every account of a provider",
)

providers = sa.Table(
    "providers",
    metadata,
    sa.Column("key", sa.Text, primary_key=True, comment="provider:account"),
    sa.Column("concurrency", sa.Double, nullable=False, comment="adapted: at most so many requests at once now"),
    sa.Column("limited_once", sa.Boolean, nullable=False, server_default=sa.false(), comment="rises slowly from there"),
    sa.Column("blocked_until", sa.DateTime(timezone=True), comment="by Retry-After"),
    sa.Column("auth_failures", sa.Integer, nullable=False, server_default="0", comment="in a row"),
    comment="What was learned of each account, over all workers",
)

tombstones = sa.Table(
    "tombstones",
    metadata,
    sa.Column("run_id", sa.Text, primary_key=True),
    _xid(),
    comment="Runs that were deleted, so that the export deletes them too",
)

api_tokens = sa.Table(
    "api_tokens",
    metadata,
    sa.Column("id", sa.Text, primary_key=True, comment="the public part of the token"),
    sa.Column("name", sa.Text, nullable=False, unique=True, comment="never given again, so that the audit is clear"),
    sa.Column("role", sa.Text, nullable=False, comment="read, submit, author or admin"),
    sa.Column("secret_hash", sa.Text, nullable=False, comment="SHA-256; the secret itself is kept nowhere"),
    _now("created_at"),
    sa.Column("last_used_at", sa.DateTime(timezone=True), comment="to the minute; null: never"),
    sa.Column("expires_at", sa.DateTime(timezone=True), comment="null: never"),
    sa.Column("revoked_at", sa.DateTime(timezone=True), comment="null: in force"),
    comment="Who may use the HTTP API over TCP",
)

suites = sa.Table(
    "suites",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("version", sa.Text, nullable=False, comment="hash of the manifest"),
    sa.Column("manifest", JSONB, nullable=False, comment="blob of each file by path, recordings included"),
    sa.Column("uploaded_by", sa.Text, nullable=False),
    _now("uploaded_at"),
    comment="Suites brought in over the HTTP API; a new upload replaces the one before",
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _now("at"),
    sa.Column("actor", sa.Text, comment="name of the token, or local; null: nobody that is known"),
    sa.Column("action", sa.Text, nullable=False, comment="method and route, or the command"),
    sa.Column("subject", sa.Text, nullable=False, comment="the path as it was asked for, or what the command named"),
    sa.Column("detail", JSONB, nullable=False, server_default=sa.text("'{}'::jsonb"), comment="what came of it"),
    sa.Column("outcome", sa.Text, nullable=False, server_default="begun", comment="begun, done, refused or failed"),
    sa.Column("status", sa.Integer, comment="of the HTTP answer"),
    comment="Everything that was asked to change something; what stays begun was lost with its process",
)

heartbeats = sa.Table(
    "heartbeats",
    metadata,
    sa.Column("name", sa.Text, primary_key=True, comment="kind@host:pid"),
    sa.Column("kind", sa.Text, nullable=False, comment="scheduler, beat, replay or live"),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    _now("started_at"),
    sa.Column(
        "at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()"), comment="the last one"
    ),
    comment="Processes that say they are there; whether they do anything, attempts say",
)

schedules = sa.Table(
    "schedules",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("slots", sa.Text, nullable=False, comment="cron and time zone: where they change, counting begins anew"),
    sa.Column(
        "since",
        sa.DateTime(timezone=True),
        nullable=False,
        comment="slots after this moment are fired, or reported as missed",
    ),
    comment="Schedules that were seen, and from when on their slots count",
)

firings = sa.Table(
    "firings",
    metadata,
    sa.Column("schedule", sa.Text, primary_key=True),
    sa.Column("slot", sa.DateTime(timezone=True), primary_key=True, comment="the moment it was due"),
    sa.Column("label", sa.Text, nullable=False, comment="of its runs"),
    sa.Column("manual", sa.Boolean, nullable=False, server_default=sa.false(), comment="asked for by hand, in no slot"),
    sa.Column("state", sa.Text, nullable=False, comment="running, done, skipped or failed"),
    sa.Column("run_id", sa.Text, comment="of its matrix; not a reference: runs are pruned"),
    sa.Column("drift_run_id", sa.Text, comment="of its matrix in the mode drift"),
    sa.Column(
        "record",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="its attempts become cassettes of their suites",
    ),
    sa.Column("recordings", sa.Integer, nullable=False, server_default="0", comment="cassettes that were written"),
    sa.Column(
        "detail", sa.Text, nullable=False, server_default="", comment="why it was skipped, failed or is not done"
    ),
    sa.Column("fired_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("ended_at", sa.DateTime(timezone=True)),
    sa.Index("firings_running", "schedule", postgresql_where=sa.text("state = 'running'")),
    comment="One for each slot, written with its run in one transaction",
)
