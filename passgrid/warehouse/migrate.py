"""Bring a database to the schema this version needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from alembic import command
from passgrid.warehouse.engine import make_engine

_LOCK = 7071969
"""Key of the advisory lock under which one process migrates at a time."""


def migrations_folder() -> Path:
    """Where the migrations lie: packed beside this file, or at the root of a checkout."""
    packed = Path(__file__).parent / "migrations"
    return packed if packed.is_dir() else Path(__file__).parents[2] / "alembic"


def _config(connection: sa.Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(database_url: str, revision: str = "head") -> None:
    """Run the migrations that are missing; several processes may ask at once."""
    _migrate(database_url, lambda config: command.upgrade(config, revision))


def downgrade(database_url: str, revision: str) -> None:
    """Go back to `revision` (`base` for an empty database). Loses the data of what is dropped."""
    _migrate(database_url, lambda config: command.downgrade(config, revision))


def _migrate(database_url: str, run: Callable[[Config], None]) -> None:
    engine = make_engine(database_url)
    try:
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT pg_advisory_lock(:key)"), {"key": _LOCK})
            connection.commit()
            try:
                run(_config(connection))
                connection.commit()
            finally:
                connection.rollback()
                connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": _LOCK})
                connection.commit()
    finally:
        engine.dispose()


def current_revision(database_url: str) -> str | None:
    """The revision the database is at; None when it is empty."""
    engine = make_engine(database_url)
    try:
        with engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()
    finally:
        engine.dispose()


def head_revision() -> str:
    """The revision this version needs."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None, "there are migrations"
    return head


def knows_revision(revision: str) -> bool:
    """Whether this version can bring a database of this revision to its own."""
    return revision in {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
