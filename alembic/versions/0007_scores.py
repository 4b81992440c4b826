"""How alike a recorded question is that was answered in other words."""

from alembic import op

revision = "0007"
down_revision = "0006"

UPGRADE = """
ALTER TABLE tool_calls ADD COLUMN score DOUBLE PRECISION;
COMMENT ON COLUMN tool_calls.score IS 'how alike the recorded question is, where it was in other words';
"""


def upgrade() -> None:
    """Make the column."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Drop it."""
    op.execute("ALTER TABLE tool_calls DROP COLUMN score")
