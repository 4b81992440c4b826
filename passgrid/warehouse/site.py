"""What tells this database from every other."""

from __future__ import annotations

import sqlalchemy as sa


def site_of(connection: sa.Connection) -> str:
    """The cluster's own identifier and the database's: the same run may be submitted elsewhere at the same time."""
    return connection.execute(
        sa.text(
            "SELECT concat_ws('/', system_identifier, pg_database.oid) FROM pg_control_system(), pg_database "
            "WHERE datname = current_database()"
        )
    ).scalar_one()
