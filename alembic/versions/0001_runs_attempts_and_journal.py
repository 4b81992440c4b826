"""Runs, cells, attempts, their journal and transcripts."""

from alembic import op

revision = "0001"
down_revision = None

UPGRADE = """
CREATE TABLE blobs (
    hash TEXT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (hash)
);
COMMENT ON TABLE blobs IS 'Content-addressed files: orders, cassettes, payloads, suite files, tool surfaces';
COMMENT ON COLUMN blobs.hash IS 'SHA-256 of the uncompressed bytes';
COMMENT ON COLUMN blobs.body IS 'zstd';
CREATE TABLE runs (
    run_id TEXT NOT NULL,
    label TEXT NOT NULL,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    record BOOLEAN DEFAULT false NOT NULL,
    k INTEGER NOT NULL,
    wanted INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    spec JSONB NOT NULL,
    harness JSONB NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    finished_at TIMESTAMP WITH TIME ZONE,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    PRIMARY KEY (run_id)
);
CREATE INDEX runs_xid ON runs (xid);
COMMENT ON COLUMN runs.run_id IS 'Hash of the matrix without k, label and harness';
COMMENT ON COLUMN runs.mode IS 'replay, sandbox, live or drift';
COMMENT ON COLUMN runs.state IS 'active, done or cancelled';
COMMENT ON COLUMN runs.record IS 'attempts become cassettes';
COMMENT ON COLUMN runs.k IS 'the largest k submitted';
COMMENT ON COLUMN runs.wanted IS 'attempts';
COMMENT ON COLUMN runs.priority IS 'larger goes first';
COMMENT ON COLUMN runs.spec IS 'as submitted';
COMMENT ON COLUMN runs.harness IS 'versions of passgrid, pydantic_ai and mcp';
CREATE TABLE tombstones (
    run_id TEXT NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    PRIMARY KEY (run_id)
);
COMMENT ON TABLE tombstones IS 'Runs that were deleted, so that the export deletes them too';
CREATE TABLE cells (
    key BIGINT GENERATED ALWAYS AS IDENTITY,
    run_id TEXT NOT NULL,
    cell_id TEXT NOT NULL,
    suite TEXT NOT NULL,
    scenario TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    target TEXT NOT NULL,
    fault TEXT NOT NULL,
    mitigation TEXT NOT NULL,
    tags TEXT[] NOT NULL,
    verdict_hash TEXT NOT NULL,
    order_hash TEXT NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    PRIMARY KEY (key),
    CONSTRAINT cells_run_cell UNIQUE (run_id, cell_id),
    FOREIGN KEY(run_id) REFERENCES runs (run_id) ON DELETE CASCADE
);
CREATE INDEX cells_xid ON cells (xid);
COMMENT ON COLUMN cells.verdict_hash IS 'what decides the verdict: checks and stages';
COMMENT ON COLUMN cells.order_hash IS 'blob: scenario, prompt, model and suite files';
CREATE TABLE attempts (
    key BIGINT GENERATED ALWAYS AS IDENTITY,
    run_id TEXT NOT NULL,
    cell_key BIGINT NOT NULL,
    attempt_id TEXT NOT NULL,
    sample INTEGER NOT NULL,
    cassette_hash TEXT,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    state TEXT DEFAULT 'queued' NOT NULL,
    fence INTEGER DEFAULT '0' NOT NULL,
    worker TEXT,
    lease_until TIMESTAMP WITH TIME ZONE,
    outcome TEXT,
    outcome_detail TEXT,
    reason TEXT,
    valid BOOLEAN,
    passed BOOLEAN,
    model_turns INTEGER,
    tool_calls INTEGER,
    wasted_calls INTEGER,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cost_usd DOUBLE PRECISION,
    duration_s DOUBLE PRECISION,
    digest TEXT,
    surface_hash TEXT,
    recording_hash TEXT,
    started_at TIMESTAMP WITH TIME ZONE,
    finished_at TIMESTAMP WITH TIME ZONE,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    PRIMARY KEY (key),
    CONSTRAINT attempts_run_attempt UNIQUE (run_id, attempt_id),
    CONSTRAINT attempts_cell_sample UNIQUE (cell_key, sample),
    FOREIGN KEY(run_id) REFERENCES runs (run_id) ON DELETE CASCADE,
    FOREIGN KEY(cell_key) REFERENCES cells (key) ON DELETE CASCADE
);
CREATE INDEX attempts_leases ON attempts (lease_until) WHERE state = 'running';
CREATE INDEX attempts_queued ON attempts (queue, priority DESC, key) WHERE state = 'queued';
CREATE INDEX attempts_xid ON attempts (xid);
COMMENT ON COLUMN attempts.cassette_hash IS 'blob: the recording it replays';
COMMENT ON COLUMN attempts.queue IS 'replay or live: which workers take it';
COMMENT ON COLUMN attempts.state IS 'queued, running or done';
COMMENT ON COLUMN attempts.fence IS 'grows with every claim';
COMMENT ON COLUMN attempts.wasted_calls IS 'tool calls that ended in an error';
COMMENT ON COLUMN attempts.input_tokens IS 'null: unknown';
COMMENT ON COLUMN attempts.output_tokens IS 'null: unknown';
COMMENT ON COLUMN attempts.cost_usd IS 'null: unknown';
COMMENT ON COLUMN attempts.surface_hash IS 'blob: the tools that were offered';
COMMENT ON COLUMN attempts.recording_hash IS 'blob: the cassette made of it';
CREATE TABLE checks (
    attempt_key BIGINT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    stage BOOLEAN NOT NULL,
    required BOOLEAN NOT NULL,
    passed BOOLEAN,
    detail TEXT NOT NULL,
    imported BOOLEAN NOT NULL,
    PRIMARY KEY (attempt_key, name),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON COLUMN checks.passed IS 'null: could not be made';
COMMENT ON COLUMN checks.imported IS 'another tool''s verdict';
CREATE TABLE model_calls (
    attempt_key BIGINT NOT NULL,
    turn INTEGER NOT NULL,
    answered TEXT NOT NULL,
    served_model TEXT,
    finish_reason TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cache_read_tokens INTEGER,
    cache_write_tokens INTEGER,
    cost_usd DOUBLE PRECISION,
    started_ms DOUBLE PRECISION NOT NULL,
    duration_ms DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (attempt_key, turn),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
CREATE TABLE tool_calls (
    attempt_key BIGINT NOT NULL,
    seq INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    result_bytes INTEGER,
    answered TEXT NOT NULL,
    error BOOLEAN NOT NULL,
    error_text TEXT,
    started_ms DOUBLE PRECISION NOT NULL,
    duration_ms DOUBLE PRECISION,
    asked INTEGER NOT NULL,
    answered_at INTEGER,
    PRIMARY KEY (attempt_key, seq),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE tool_calls IS 'The journal';
COMMENT ON COLUMN tool_calls.arguments IS 'JSON';
COMMENT ON COLUMN tool_calls.result_bytes IS 'size of the answer; its text is in the transcript';
COMMENT ON COLUMN tool_calls.started_ms IS 'from the start of the attempt';
COMMENT ON COLUMN tool_calls.duration_ms IS 'null: it never came back';
COMMENT ON COLUMN tool_calls.asked IS 'position by request';
COMMENT ON COLUMN tool_calls.answered_at IS 'position by response';
CREATE TABLE transcripts (
    attempt_key BIGINT NOT NULL,
    body BYTEA NOT NULL,
    PRIMARY KEY (attempt_key),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON COLUMN transcripts.body IS 'zstd of a JSON list of messages';
CREATE TABLE tries (
    attempt_key BIGINT NOT NULL,
    fence INTEGER NOT NULL,
    worker TEXT NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    reason TEXT,
    PRIMARY KEY (attempt_key, fence),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE tries IS 'Every execution of an attempt: a crash makes a second try of the same attempt';
COMMENT ON COLUMN tries.reason IS 'finished, worker_lost or cancelled; null while it runs';
CREATE FUNCTION leave_tombstone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tombstones (run_id) VALUES (OLD.run_id)
    ON CONFLICT (run_id) DO UPDATE SET xid = pg_current_xact_id();
    RETURN OLD;
END $$;
CREATE TRIGGER runs_tombstone AFTER DELETE ON runs FOR EACH ROW EXECUTE FUNCTION leave_tombstone();
"""

DOWNGRADE = """
DROP TABLE tries, transcripts, tool_calls, model_calls, checks, attempts, cells, tombstones, runs, blobs;
DROP FUNCTION leave_tombstone();
"""


def upgrade() -> None:
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    op.get_bind().exec_driver_sql(DOWNGRADE)
