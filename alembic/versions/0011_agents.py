"""The agent as an axis: who runs the loop of an attempt."""

from alembic import op

revision = "0011"
down_revision = "0010"

UPGRADE = """
ALTER TABLE cells ADD COLUMN agent TEXT DEFAULT 'default' NOT NULL;
COMMENT ON COLUMN cells.agent IS 'agent axis: who runs the loop';
"""


def upgrade() -> None:
    """Make the column."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Drop it."""
    op.execute("ALTER TABLE cells DROP COLUMN agent")
