"""One chain of migrations that goes up and down, and makes the tables the code expects."""

from __future__ import annotations

import threading
from typing import Any

import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from passgrid.warehouse.engine import make_engine
from passgrid.warehouse.gateway_tables import metadata
from passgrid.warehouse.migrate import current_revision, downgrade, head_revision, migrations_folder, upgrade
from passgrid.warehouse.tables import Xid8


def tables(database_url: str) -> set[str]:
    engine = make_engine(database_url)
    try:
        return set(sa.inspect(engine).get_table_names()) - {"alembic_version"}
    finally:
        engine.dispose()


def test_there_is_one_head() -> None:
    config = Config()
    config.set_main_option("script_location", str(migrations_folder()))
    assert ScriptDirectory.from_config(config).get_heads() == [head_revision()]


def test_up_down_and_up_again(empty_database_url: str) -> None:
    assert current_revision(empty_database_url) is None
    upgrade(empty_database_url)
    assert current_revision(empty_database_url) == head_revision()
    assert tables(empty_database_url) == set(metadata.tables)
    downgrade(empty_database_url, "base")
    assert tables(empty_database_url) == set()
    upgrade(empty_database_url)
    assert tables(empty_database_url) == set(metadata.tables)


def test_the_migrations_make_exactly_the_tables_of_the_code(database_url: str) -> None:
    engine = make_engine(database_url)
    # Reflection knows the type only when it is told of it.
    dialect: Any = engine.dialect
    dialect.ischema_names["xid8"] = Xid8
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_several_processes_may_migrate_at_once(empty_database_url: str) -> None:
    threads = [threading.Thread(target=upgrade, args=(empty_database_url,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert current_revision(empty_database_url) == head_revision()
