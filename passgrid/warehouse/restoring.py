"""The SQL around a restored dump: what goes before it, and what has to be put right after it, in its transaction."""

from __future__ import annotations

import sqlalchemy as sa

from passgrid.warehouse.engine import make_engine

CLEAR = """
DO $$
DECLARE thing record;
BEGIN
    FOR thing IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' LOOP
        EXECUTE format('DROP TABLE public.%I CASCADE', thing.relname);
    END LOOP;
    FOR thing IN SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'S' LOOP
        EXECUTE format('DROP SEQUENCE public.%I CASCADE', thing.relname);
    END LOOP;
    FOR thing IN SELECT p.oid::regprocedure AS name FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e') LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', thing.name);
    END LOOP;
END $$;
"""
"""Drop what is in the database: the same transaction brings what is restored, or nothing happens at all."""

PUT_RIGHT = """
SET search_path = public;
UPDATE tries SET ended_at = clock_timestamp(), reason = 'handed_back', detail = 'it ran when the backup was taken'
    WHERE ended_at IS NULL;
UPDATE intents SET status = 'abandoned' WHERE status IS NULL;
UPDATE runs SET spent_usd = spent_usd + reserved_usd, reserved_usd = 0 WHERE reserved_usd > 0;
UPDATE attempts SET state = 'paused', fence = fence + 1, worker = NULL, lease_until = NULL WHERE state = 'running';
UPDATE attempts SET state = 'paused' WHERE state = 'queued';
UPDATE runs SET state = 'paused' WHERE state = 'active';
UPDATE runs SET xid = pg_current_xact_id();
UPDATE cells SET xid = pg_current_xact_id();
UPDATE attempts SET xid = pg_current_xact_id();
UPDATE tombstones SET xid = pg_current_xact_id();
"""
"""What ran or waited is paused, so that nothing is bought twice because somebody tries out a backup; a result that is
still on its way finds another fence, and a call without an answer counts as spent. The transaction ids are those of
another server, and would mislead an export."""


def stored_runs(database_url: str) -> int:
    """Runs in the database; 0 where it has no tables yet."""
    engine = make_engine(database_url)
    try:
        with engine.connect() as connection:
            if connection.execute(sa.text("SELECT to_regclass('public.runs')")).scalar_one() is None:
                return 0
            return connection.execute(sa.text("SELECT count(*) FROM runs")).scalar_one()
    finally:
        engine.dispose()
