"""Runs migrations on the connection handed over, or on PASSGRID_DATABASE_URL from the command line."""

import os

import sqlalchemy as sa

from alembic import context
from passgrid.warehouse.gateway_tables import metadata


def migrate(connection: sa.Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    url = os.environ.get("PASSGRID_DATABASE_URL")
    if not url:
        raise SystemExit("set PASSGRID_DATABASE_URL to the database to migrate")
    with sa.create_engine(url).connect() as own_connection:
        migrate(own_connection)
        own_connection.commit()
