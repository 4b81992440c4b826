"""What verdicts rest on, what detectors found, verdicts that were replaced, and what is to be taken away."""

from alembic import op

revision = "0009"
down_revision = "0008"

UPGRADE = """
ALTER TABLE attempts ADD COLUMN evidence_hash TEXT;
COMMENT ON COLUMN attempts.evidence_hash IS 'blob: files at the end and what servers said; null: neither';
ALTER TABLE attempts ADD COLUMN leftovers INTEGER;
COMMENT ON COLUMN attempts.leftovers IS 'artifacts it made that are still there; null: nobody looked';
ALTER TABLE attempts ADD COLUMN working_s DOUBLE PRECISION, ADD COLUMN most_called TEXT, ADD COLUMN most_calls INTEGER,
    ADD COLUMN recovered_structured INTEGER, ADD COLUMN recovered_opaque INTEGER;
COMMENT ON COLUMN attempts.working_s IS 'without waiting for a provider; null: not measured';
COMMENT ON COLUMN attempts.most_called IS 'the tool it called most';
COMMENT ON COLUMN attempts.recovered_structured IS 'errors with code and suggestion that it got over';
COMMENT ON COLUMN attempts.recovered_opaque IS 'other errors that it got over';
ALTER TABLE intents ADD COLUMN made TEXT;
COMMENT ON COLUMN intents.made IS 'JSON: kinds and ids of artifacts the call made';
CREATE TABLE flags (
    attempt_key BIGINT NOT NULL,
    name TEXT NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (attempt_key, name),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE flags IS 'What detectors of silent failures found; no part of the verdict';
CREATE TABLE verdicts (
    attempt_key BIGINT NOT NULL,
    n INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT,
    checks JSONB NOT NULL,
    flags JSONB NOT NULL,
    verdict_hash TEXT NOT NULL,
    replaced_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (attempt_key, n),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE verdicts IS 'Verdicts that a rescoring replaced, oldest first';
COMMENT ON COLUMN verdicts.verdict_hash IS 'of the checks and stages it was made with';
CREATE TABLE teardowns (
    attempt_key BIGINT NOT NULL,
    fence INTEGER NOT NULL,
    state TEXT DEFAULT 'due' NOT NULL,
    worker TEXT,
    not_before TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    tries INTEGER DEFAULT '0' NOT NULL,
    removed INTEGER,
    leftovers JSONB,
    detail TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (attempt_key, fence),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE teardowns IS 'Tries whose worker was lost, and what they made is to be taken away';
COMMENT ON COLUMN teardowns.state IS 'due, done or failed';
COMMENT ON COLUMN teardowns.leftovers IS 'what is still there, and why';
CREATE INDEX teardowns_due ON teardowns (not_before) WHERE state = 'due';
"""

DOWNGRADE = """
DROP TABLE teardowns, verdicts, flags;
ALTER TABLE intents DROP COLUMN made;
ALTER TABLE attempts DROP COLUMN leftovers, DROP COLUMN evidence_hash, DROP COLUMN working_s, DROP COLUMN most_called,
    DROP COLUMN most_calls, DROP COLUMN recovered_structured, DROP COLUMN recovered_opaque;
"""


def upgrade() -> None:
    """Make tables and columns."""
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    """Drop them."""
    op.get_bind().exec_driver_sql(DOWNGRADE)
