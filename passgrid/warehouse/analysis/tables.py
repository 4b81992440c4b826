"""The tables of the analysis file. Every column is documented; `export_sql` is what fills it from Postgres."""

from __future__ import annotations

from dataclasses import dataclass

VERSION = 7
"""Grows with every change here: a file of another version is rebuilt."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its DuckDB type, what it means, and where it comes from in Postgres."""

    name: str
    type: str
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Table:
    """One table, filled by a query over what changed since the last export."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    origin: str
    """FROM clause in Postgres; `changed` is the set of attempts (or the run) that changed."""
    key: str
    """Rows with a changed key are deleted before the new ones come."""

    def ddl(self) -> list[str]:
        """Statements that make it, comments included."""
        columns = ", ".join(f"{column.name} {column.type}" for column in self.columns)
        comments = [
            f"COMMENT ON COLUMN {self.name}.{column.name} IS '{column.meaning.replace(chr(39), chr(39) * 2)}'"
            for column in self.columns
        ]
        meaning = self.meaning.replace("'", "''")
        return [f"CREATE TABLE {self.name} ({columns})", f"COMMENT ON TABLE {self.name} IS '{meaning}'", *comments]

    def export_sql(self) -> str:
        """The query in Postgres: $1 and $2 are the transaction ids from (inclusive) and to (exclusive)."""
        return f"SELECT {', '.join(f'{c.source} AS {c.name}' for c in self.columns)} FROM {self.origin}"  # noqa: S608


_RANGE = "xid >= cast(cast($1 AS text) AS xid8) AND {0}.xid < cast(cast($2 AS text) AS xid8)"
_CHANGED_ATTEMPTS = f"attempts a JOIN cells c ON c.key = a.cell_key WHERE a.{_RANGE.format('a')}"
_OF_CHANGED = f"JOIN attempts a ON a.key = t.attempt_key WHERE a.{_RANGE.format('a')}"

_ATTEMPT_KEY = Column("attempt_key", "BIGINT", "the attempt it belongs to", "t.attempt_key")

RUNS = Table(
    "runs",
    "One submitted matrix each",
    (
        Column("run_id", "VARCHAR", "hash of the matrix without k, its label and the harness", "r.run_id"),
        Column("label", "VARCHAR", "given with --label", "r.label"),
        Column("mode", "VARCHAR", "replay, sandbox, live or drift", "r.mode"),
        Column("state", "VARCHAR", "active, done or cancelled", "r.state"),
        Column("k", "INTEGER", "largest number of samples submitted", "r.k"),
        Column("wanted", "INTEGER", "attempts", "r.wanted"),
        Column("created_at", "TIMESTAMPTZ", "first submission", "r.created_at"),
        Column("finished_at", "TIMESTAMPTZ", "null while active", "r.finished_at"),
        Column("passgrid", "VARCHAR", "version that ran it", "r.harness->>'passgrid'"),
        Column("pydantic_ai", "VARCHAR", "version of the agent library", "r.harness->>'pydantic_ai'"),
        Column("mcp", "VARCHAR", "version of the MCP SDK", "r.harness->>'mcp'"),
        Column("imported_from", "VARCHAR", "format it was imported from; null: measured here", "r.imported_from"),
    ),
    f"runs r WHERE r.{_RANGE.format('r')}",
    "run_id",
)

ATTEMPTS = Table(
    "attempts",
    "One sample of one cell each, with the cell's axes; also those that are still to be done",
    (
        Column("attempt_key", "BIGINT", "short key, used by the other tables", "a.key"),
        Column("run_id", "VARCHAR", "the run it belongs to", "a.run_id"),
        Column(
            "attempt_id", "VARCHAR", "hash of what decides its course; equal in runs that repeat it", "a.attempt_id"
        ),
        Column("suite", "VARCHAR", "suite of the scenario", "c.suite"),
        Column("scenario", "VARCHAR", "scenario axis", "c.scenario"),
        Column("model", "VARCHAR", "model axis", "c.model"),
        Column("prompt", "VARCHAR", "prompt axis", "c.prompt"),
        Column("target", "VARCHAR", "target axis: which server the tools come from", "c.target"),
        Column("fault", "VARCHAR", "fault axis", "c.fault"),
        Column("mitigation", "VARCHAR", "mitigation axis", "c.mitigation"),
        Column("agent", "VARCHAR", "agent axis: default, built-in, or one the suite declares", "c.agent"),
        Column("tags", "VARCHAR[]", "tags of the scenario", "c.tags"),
        Column("sample", "INTEGER", "number of the sample, from 0", "a.sample"),
        Column("state", "VARCHAR", "queued, running or done", "a.state"),
        Column("outcome", "VARCHAR", "passed, failed, limit, replay_miss, infra_error or cancelled", "a.outcome"),
        Column("outcome_detail", "VARCHAR", "which limit, or kind of error", "a.outcome_detail"),
        Column("reason", "VARCHAR", "why, in one line", "a.reason"),
        Column("valid", "BOOLEAN", "whether it counts towards n; null until done", "a.valid"),
        Column("passed", "BOOLEAN", "whether it counts towards c; null until done", "a.passed"),
        Column("model_turns", "INTEGER", "requests to the model", "a.model_turns"),
        Column("tool_calls", "INTEGER", "steps: tool calls, errored ones included", "a.tool_calls"),
        Column("wasted_calls", "INTEGER", "tool calls that ended in an error", "a.wasted_calls"),
        Column("input_tokens", "BIGINT", "null: unknown", "a.input_tokens"),
        Column("output_tokens", "BIGINT", "null: unknown", "a.output_tokens"),
        Column("cost_usd", "DOUBLE", "US dollars; null: unknown", "a.cost_usd"),
        Column("duration_s", "DOUBLE", "wall-clock seconds", "a.duration_s"),
        Column("working_s", "DOUBLE", "without waiting for a provider; null: not measured", "a.working_s"),
        Column("most_called", "VARCHAR", "the tool it called most", "a.most_called"),
        Column("most_calls", "INTEGER", "calls of that tool", "a.most_calls"),
        Column(
            "recovered_structured", "INTEGER", "errors with code and suggestion it got over", "a.recovered_structured"
        ),
        Column("recovered_opaque", "INTEGER", "other errors it got over", "a.recovered_opaque"),
        Column("leftovers", "INTEGER", "artifacts of it that are still there; null: nobody looked", "a.leftovers"),
        Column("tries", "INTEGER", "executions: more than one after a crash", "a.fence"),
        Column("digest", "VARCHAR", "hash of outcome, messages, journal and checks", "a.digest"),
        Column("surface", "VARCHAR", "hash of the tools that were offered; null: unknown", "a.surface_hash"),
        Column("started_at", "TIMESTAMPTZ", "start of the last try", "a.started_at"),
        Column("finished_at", "TIMESTAMPTZ", "null until done", "a.finished_at"),
    ),
    _CHANGED_ATTEMPTS,
    "attempt_key",
)

TOOL_CALLS = Table(
    "tool_calls",
    "The journal: one tool call each",
    (
        _ATTEMPT_KEY,
        Column("seq", "INTEGER", "position in the attempt, from 0", "t.seq"),
        Column("turn", "INTEGER", "model turn that asked for it, from 1", "t.turn"),
        Column("server", "VARCHAR", "MCP server; empty when no tool was reached", "t.server"),
        Column("tool", "VARCHAR", "its name", "t.tool"),
        Column("arguments", "VARCHAR", "JSON as the model wrote it", "t.arguments"),
        Column("result_bytes", "INTEGER", "size of the answer; its text is in the transcript", "t.result_bytes"),
        Column(
            "answered", "VARCHAR", "live, recorded (_state, _semantic), faked, faulted, missed, library", "t.answered"
        ),
        Column("error", "BOOLEAN", "whether it ended in an error", "t.error"),
        Column("error_text", "VARCHAR", "null without an error", "t.error_text"),
        Column("started_ms", "DOUBLE", "milliseconds from the start of the attempt", "t.started_ms"),
        Column("duration_ms", "DOUBLE", "null: it never came back", "t.duration_ms"),
        Column("score", "DOUBLE", "how alike the recorded question is, where it was in other words", "t.score"),
    ),
    f"tool_calls t {_OF_CHANGED}",
    "attempt_key",
)

MODEL_CALLS = Table(
    "model_calls",
    "One model turn each",
    (
        _ATTEMPT_KEY,
        Column("turn", "INTEGER", "from 1", "t.turn"),
        Column("answered", "VARCHAR", "live, scripted or recorded", "t.answered"),
        Column("served_model", "VARCHAR", "the id the provider says it served", "t.served_model"),
        Column("input_tokens", "INTEGER", "null: unknown", "t.input_tokens"),
        Column("output_tokens", "INTEGER", "null: unknown", "t.output_tokens"),
        Column("cache_read_tokens", "INTEGER", "null: unknown", "t.cache_read_tokens"),
        Column("cache_write_tokens", "INTEGER", "null: unknown", "t.cache_write_tokens"),
        Column("cost_usd", "DOUBLE", "null: unknown", "t.cost_usd"),
        Column("started_ms", "DOUBLE", "milliseconds from the start of the attempt", "t.started_ms"),
        Column("duration_ms", "DOUBLE", "milliseconds", "t.duration_ms"),
    ),
    f"model_calls t {_OF_CHANGED}",
    "attempt_key",
)

CHECKS = Table(
    "checks",
    "What one check or stage found on one attempt",
    (
        _ATTEMPT_KEY,
        Column("name", "VARCHAR", "of the check or stage", "t.name"),
        Column("kind", "VARCHAR", "such as final_text or tool_called", "t.kind"),
        Column("stage", "BOOLEAN", "a milestone, never part of the pass", "t.stage"),
        Column("required", "BOOLEAN", "part of the pass", "t.required"),
        Column("passed", "BOOLEAN", "null: could not be made", "t.passed"),
        Column("detail", "VARCHAR", "what was found instead", "t.detail"),
        Column("imported", "BOOLEAN", "another tool's verdict", "t.imported"),
    ),
    f"checks t {_OF_CHANGED}",
    "attempt_key",
)

FLAGS = Table(
    "flags",
    "A failure that looks like a success, found by a detector on one attempt; no part of the pass",
    (
        _ATTEMPT_KEY,
        Column("name", "VARCHAR", "of the detector", "t.name"),
        Column("detail", "VARCHAR", "what is odd", "t.detail"),
    ),
    f"flags t {_OF_CHANGED}",
    "attempt_key",
)

TRIES = Table(
    "tries",
    "One execution of an attempt each",
    (
        _ATTEMPT_KEY,
        Column("fence", "INTEGER", "number of the claim", "t.fence"),
        Column("worker", "VARCHAR", "host and process", "t.worker"),
        Column("started_at", "TIMESTAMPTZ", "claim", "t.started_at"),
        Column("ended_at", "TIMESTAMPTZ", "null while it runs", "t.ended_at"),
        Column("reason", "VARCHAR", "finished, worker_lost or cancelled", "t.reason"),
    ),
    f"tries t {_OF_CHANGED}",
    "attempt_key",
)

DRIFT_TOOLS = Table(
    "drift_tools",
    "Live answers compared with recorded ones, by attempt and tool",
    (
        _ATTEMPT_KEY,
        Column("server", "VARCHAR", "MCP server", "t.server"),
        Column("tool", "VARCHAR", "its name", "t.tool"),
        Column("calls", "INTEGER", "calls that were made", "t.calls"),
        Column("compared", "INTEGER", "of these, those with a live and a recorded answer", "t.compared"),
        Column("equal", "INTEGER", "of these, equal apart from volatile values", "t.equal"),
        Column("missing", "BOOLEAN", "the server lacks it: answered from the recording", "t.missing"),
    ),
    f"drift_tools t {_OF_CHANGED}",
    "attempt_key",
)

DRIFT_FINDINGS = Table(
    "drift_findings",
    "Where servers differ from the recording, by attempt",
    (
        _ATTEMPT_KEY,
        Column("part", "VARCHAR", "surface or result", "t.part"),
        Column("server", "VARCHAR", "MCP server", "t.server"),
        Column("tool", "VARCHAR", "its name", "t.tool"),
        Column("place", "VARCHAR", "in the declaration or answer; empty: the whole of it", "t.place"),
        Column("change", "VARCHAR", "what happened to it", "t.change"),
        Column("severity", "VARCHAR", "breaking, compatible or value-only", "t.severity"),
        Column("recorded", "VARCHAR", "JSON, an example of what was there", "t.recorded"),
        Column("live", "VARCHAR", "JSON, an example of what is there now", "t.live"),
        Column("count", "INTEGER", "calls it was seen in; of the surface, 1", "t.count"),
    ),
    f"drift_findings t {_OF_CHANGED}",
    "attempt_key",
)

LEDGER_CHANGES = Table(
    "ledger_changes",
    "What was different after an attempt",
    (
        _ATTEMPT_KEY,
        Column("n", "INTEGER", "position", "t.n"),
        Column("kind", "VARCHAR", "file: of the workspace, compared with its template", "t.kind"),
        Column("subject", "VARCHAR", "path of a file", "t.subject"),
        Column("change", "VARCHAR", "created, changed or deleted", "t.change"),
        Column("before_hash", "VARCHAR", "SHA-256; null: it was not there", "t.before_hash"),
        Column("before_bytes", "BIGINT", "null: it was not there", "t.before_bytes"),
        Column("after_hash", "VARCHAR", "SHA-256; null: it is gone", "t.after_hash"),
        Column("after_bytes", "BIGINT", "null: it is gone", "t.after_bytes"),
    ),
    f"ledger_changes t {_OF_CHANGED}",
    "attempt_key",
)

TABLES = (RUNS, ATTEMPTS, TOOL_CALLS, MODEL_CALLS, CHECKS, FLAGS, TRIES, DRIFT_TOOLS, DRIFT_FINDINGS, LEDGER_CHANGES)

OFFERED_TOOLS = Table(
    "offered_tools",
    "The tools that attempts were offered, each once for each surface",
    (
        Column("surface", "VARCHAR", "hash of all that were offered together; see attempts.surface", ""),
        Column("server", "VARCHAR", "MCP server", ""),
        Column("tool", "VARCHAR", "its name", ""),
        Column("reads", "BOOLEAN", "its server says it only reads; null: the server does not say", ""),
    ),
    "",
    "surface",
)
"""Filled by `surfaces`: what a server listed is JSON, compressed, in Postgres."""

TRANSCRIPTS_SQL = (
    "SELECT a.run_id, t.attempt_key, a.attempt_id, t.body "  # noqa: S608 - made of constants
    f"FROM transcripts t {_OF_CHANGED} ORDER BY a.run_id, t.attempt_key"
)
"""Transcripts lie beside the file, in immutable parts by run: parquet with attempt_key, attempt_id, body (zstd JSON)"""

_LOOKS = [
    f"EXISTS (SELECT 1 FROM {table} WHERE {table}.{_RANGE.format(table)})"  # noqa: S608 - made of constants
    for table in ("runs", "attempts", "tombstones")
]
ANYTHING_CHANGED_SQL = f"SELECT {' OR '.join(_LOOKS)}"
"""Whether an export has anything to do."""
