"""Asking the warehouse which revision a database has, and which one this code wants."""

import importlib


def schema_revisions(database_url: str) -> tuple[str | None, str | None]:
    """Return the revision of the database (None: an empty one) and the newest one.

    Imported by name: the command line starts faster without SQLAlchemy and Alembic.
    """
    migrate = importlib.import_module("passgrid.warehouse.migrate")
    return migrate.current_revision(database_url), migrate.head_revision()
