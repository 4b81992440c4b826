"""Where runs came from that were measured elsewhere."""

from alembic import op

revision = "0008"
down_revision = "0007"

UPGRADE = """
ALTER TABLE runs ADD COLUMN imported_from TEXT;
COMMENT ON COLUMN runs.imported_from IS 'format it was imported from; null: measured here';
"""


def upgrade() -> None:
    """Make the column."""
    op.execute(UPGRADE)


def downgrade() -> None:
    """Drop it, and the runs it marks: they cannot be told from our own any more."""
    op.execute("DELETE FROM runs WHERE imported_from IS NOT NULL")
    op.execute("ALTER TABLE runs DROP COLUMN imported_from")
