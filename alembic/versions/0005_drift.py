"""What attempts with a recorded model on live tools found: equal answers by tool, and every difference."""

from alembic import op

revision = "0005"
down_revision = "0004"

UPGRADE = """
CREATE TABLE drift_tools (
    attempt_key BIGINT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    calls INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    equal INTEGER NOT NULL,
    missing BOOLEAN NOT NULL,
    PRIMARY KEY (attempt_key, server, tool),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE drift_tools IS 'Live answers compared with recorded ones, by attempt and tool';
COMMENT ON COLUMN drift_tools.compared IS 'calls with a live and a recorded answer';
COMMENT ON COLUMN drift_tools.equal IS 'of these, apart from volatile values';
COMMENT ON COLUMN drift_tools.missing IS 'the server lacks it: answered from the recording';
CREATE TABLE drift_findings (
    attempt_key BIGINT NOT NULL,
    n INTEGER NOT NULL,
    part TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    place TEXT NOT NULL,
    change TEXT NOT NULL,
    severity TEXT NOT NULL,
    recorded TEXT NOT NULL,
    live TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (attempt_key, n),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
COMMENT ON TABLE drift_findings IS 'Where servers differ from the recording, by attempt';
COMMENT ON COLUMN drift_findings.part IS 'surface or result';
COMMENT ON COLUMN drift_findings.place IS 'in the declaration or answer; empty: the whole of it';
COMMENT ON COLUMN drift_findings.change IS 'what happened to it';
COMMENT ON COLUMN drift_findings.severity IS 'breaking, compatible or value-only';
COMMENT ON COLUMN drift_findings.recorded IS 'JSON, an example of what was there';
COMMENT ON COLUMN drift_findings.live IS 'JSON, an example of what is there now';
COMMENT ON COLUMN drift_findings.count IS 'calls it was seen in; of the surface, 1';
"""

DOWNGRADE = "DROP TABLE drift_findings, drift_tools;"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    op.get_bind().exec_driver_sql(DOWNGRADE)
