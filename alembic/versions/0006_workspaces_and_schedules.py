"""What became of the workspaces of attempts; schedules, and the one firing of each of their slots."""

from alembic import op

revision = "0006"
down_revision = "0005"

UPGRADE = """
CREATE TABLE ledger_changes (
    attempt_key BIGINT NOT NULL,
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    change TEXT NOT NULL,
    before_hash TEXT,
    before_bytes BIGINT,
    after_hash TEXT,
    after_bytes BIGINT,
    PRIMARY KEY (attempt_key, n),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE ledger_changes IS 'What was different after an attempt';
COMMENT ON COLUMN ledger_changes.kind IS 'file: of the workspace, compared with its template';
COMMENT ON COLUMN ledger_changes.subject IS 'path of a file';
COMMENT ON COLUMN ledger_changes.change IS 'created, changed or deleted';
COMMENT ON COLUMN ledger_changes.before_hash IS 'SHA-256; null: it was not there';
COMMENT ON COLUMN ledger_changes.after_hash IS 'SHA-256; null: it is gone';
CREATE TABLE schedules (
    name TEXT NOT NULL,
    slots TEXT NOT NULL,
    since TIMESTAMP WITH TIME ZONE NOT NULL,
    PRIMARY KEY (name)
);
COMMENT ON TABLE schedules IS 'Schedules that were seen, and from when on their slots count';
COMMENT ON COLUMN schedules.slots IS 'cron and time zone: where they change, counting begins anew';
COMMENT ON COLUMN schedules.since IS 'slots after this moment are fired, or reported as missed';
CREATE TABLE firings (
    schedule TEXT NOT NULL,
    slot TIMESTAMP WITH TIME ZONE NOT NULL,
    label TEXT NOT NULL,
    manual BOOLEAN DEFAULT false NOT NULL,
    state TEXT NOT NULL,
    run_id TEXT,
    drift_run_id TEXT,
    record BOOLEAN DEFAULT false NOT NULL,
    recordings INTEGER DEFAULT 0 NOT NULL,
    detail TEXT DEFAULT '' NOT NULL,
    fired_at TIMESTAMP WITH TIME ZONE NOT NULL,
    ended_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (schedule, slot)
);
COMMENT ON TABLE firings IS 'One for each slot, written with its run in one transaction';
COMMENT ON COLUMN firings.slot IS 'the moment it was due';
COMMENT ON COLUMN firings.label IS 'of its runs';
COMMENT ON COLUMN firings.manual IS 'asked for by hand, in no slot';
COMMENT ON COLUMN firings.state IS 'running, done, skipped or failed';
COMMENT ON COLUMN firings.run_id IS 'of its matrix; not a reference: runs are pruned';
COMMENT ON COLUMN firings.drift_run_id IS 'of its matrix in the mode drift';
COMMENT ON COLUMN firings.record IS 'its attempts become cassettes of their suites';
COMMENT ON COLUMN firings.recordings IS 'cassettes that were written';
COMMENT ON COLUMN firings.detail IS 'why it was skipped, failed or is not done';
COMMENT ON COLUMN heartbeats.kind IS 'scheduler, beat, replay or live';
CREATE INDEX firings_running ON firings (schedule) WHERE state = 'running';
"""

DOWNGRADE = """
DROP TABLE firings, schedules, ledger_changes;
COMMENT ON COLUMN heartbeats.kind IS 'scheduler, replay or live';
"""


def upgrade() -> None:
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    op.get_bind().exec_driver_sql(DOWNGRADE)
