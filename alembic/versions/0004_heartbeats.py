"""Heartbeats of schedulers and workers, indexes for what the metrics ask, and runs that are being deleted."""

from alembic import op

revision = "0004"
down_revision = "0003"

UPGRADE = """
CREATE TABLE heartbeats (
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (name)
);
COMMENT ON TABLE heartbeats IS 'Processes that say they are there; whether they do anything, attempts say';
COMMENT ON COLUMN heartbeats.name IS 'kind@host:pid';
COMMENT ON COLUMN heartbeats.kind IS 'scheduler, replay or live';
COMMENT ON COLUMN heartbeats.at IS 'the last one';
COMMENT ON COLUMN runs.state IS 'active, paused, stopped, cancelled, done, or pruned: being deleted';
CREATE INDEX attempts_finished ON attempts (finished_at) WHERE state = 'done';
CREATE INDEX intents_unsettled ON intents (attempt_key) WHERE settled_at IS NULL;
"""

DOWNGRADE = """
DROP TABLE heartbeats;
DROP INDEX attempts_finished, intents_unsettled;
COMMENT ON COLUMN runs.state IS 'active, paused, stopped, cancelled or done';
"""


def upgrade() -> None:
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    op.get_bind().exec_driver_sql(DOWNGRADE)
