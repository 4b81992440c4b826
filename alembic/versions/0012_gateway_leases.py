"""Leases: a test whose calls all come to one gateway process is answered there, and written down meanwhile."""

from alembic import context, op

revision = "0012"
down_revision = "0011"

# Advisory locks say who answers. 7001 and a test: held alone by the process that has its lease, together by those that
# ask for it in Postgres. 7002 and a space: held together by processes with leases, alone by who changes or reads it.
# 7003 and a space: held together by claims, alone by a reset, so that none begins before one and ends after it.
UPGRADE = """
ALTER TABLE gateway_journal ADD COLUMN lease_row BIGINT;
COMMENT ON COLUMN gateway_journal.lease_row IS 'number of a row written under a lease; null: there was none';
DROP FUNCTION gateway_ask, gateway_begin;
CREATE FUNCTION gateway_lock(p_test BIGINT) RETURNS INTEGER LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS 'SELECT mod(p_test, 2147483647)::INTEGER';
CREATE FUNCTION gateway_lease(
    p_space TEXT, p_space_lock INTEGER, p_loads BIGINT, p_sessions BIGINT, p_test BIGINT,
    OUT o_since BIGINT, OUT o_used TEXT
) LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_lock_shared(7002, p_space_lock) THEN
        RETURN;
    END IF;
    IF pg_try_advisory_lock(7001, gateway_lock(p_test)) THEN
        SELECT t.since INTO o_since FROM gateway_tests t, gateway_spaces s
        WHERE t.id = p_test AND t.state = 'kept'
            AND s.space = p_space AND s.loads = p_loads AND s.sessions = p_sessions;
        IF FOUND THEN
            SELECT coalesce(json_object_agg(entry_id, used), '{}') INTO o_used FROM gateway_used
            WHERE test = p_test AND since = o_since;
            RETURN;
        END IF;
        PERFORM pg_advisory_unlock(7001, gateway_lock(p_test));
    END IF;
    PERFORM pg_advisory_unlock_shared(7002, p_space_lock);
END $$;
CREATE FUNCTION gateway_end(p_space TEXT, p_space_lock INTEGER, p_session TEXT) RETURNS BOOLEAN LANGUAGE plpgsql AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(7002, p_space_lock) THEN
        RETURN false;
    END IF;
    DELETE FROM gateway_sessions WHERE session_id = p_session;
    UPDATE gateway_spaces SET sessions = sessions + 1 WHERE space = p_space;
    RETURN true;
END $$;
CREATE FUNCTION gateway_begin(p_test BIGINT, p_cap INTEGER, OUT o_leased BIGINT) LANGUAGE plpgsql AS $$
DECLARE
    t RECORD;
BEGIN
    SELECT * INTO t FROM gateway_tests WHERE id = p_test;
    PERFORM pg_advisory_xact_lock(hashtextextended(t.space || ' ' || t.mount, 7));
    IF t.capped AND p_cap > 0 THEN
        -- The ones that have to go are only known here when nobody answers for them on his own.
        SELECT min(id) INTO o_leased FROM (
            SELECT id FROM gateway_tests
            WHERE space = t.space AND mount = t.mount AND state = 'kept' AND capped AND id <> p_test
            ORDER BY begun DESC OFFSET p_cap - 1
        ) oldest WHERE NOT pg_try_advisory_xact_lock_shared(7001, gateway_lock(id));
        IF o_leased IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    UPDATE gateway_tests SET state = 'kept', begun = nextval('gateway_order') WHERE id = p_test AND state = 'none';
    IF FOUND AND t.capped AND p_cap > 0 THEN
        -- Who is being answered at this moment is spared: waiting for each other, nobody would be answered.
        UPDATE gateway_tests SET state = 'evicted' WHERE id IN (
            SELECT id FROM gateway_tests WHERE id IN (
                SELECT id FROM gateway_tests
                WHERE space = t.space AND mount = t.mount AND state = 'kept' AND capped
                ORDER BY begun DESC OFFSET p_cap
            ) FOR NO KEY UPDATE SKIP LOCKED
        );
        DELETE FROM gateway_used USING gateway_tests g WHERE test = g.id AND g.space = t.space AND g.state = 'evicted';
    END IF;
END $$;
CREATE FUNCTION gateway_ask(
    p_space TEXT, p_loads BIGINT, p_sessions BIGINT, p_test BIGINT, p_cap INTEGER, p_context TEXT, p_tool TEXT,
    p_candidates TEXT[], p_times INTEGER[], p_tier TEXT[], p_otherwise TEXT,
    p_method TEXT, p_path TEXT, p_headers TEXT, p_body TEXT,
    OUT o_outcome TEXT, OUT o_entry TEXT, OUT o_used TEXT, OUT o_row BIGINT
) LANGUAGE plpgsql AS $$
DECLARE
    kept TEXT;
    began BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(7003, hashtext(p_space));
    IF NOT pg_try_advisory_xact_lock_shared(7001, gateway_lock(p_test)) THEN
        o_outcome := 'leased';
        o_row := p_test;
        RETURN;
    END IF;
    -- A claim belongs to the time between two resets: one that a reset overtakes is none of the next one's.
    SELECT t.state, t.since INTO kept, began FROM gateway_tests t, gateway_spaces s
    WHERE t.id = p_test AND s.space = p_space AND s.loads = p_loads AND s.sessions = p_sessions;
    IF NOT FOUND THEN
        o_outcome := 'stale';
        RETURN;
    END IF;
    IF kept = 'evicted' THEN
        o_outcome := 'evicted';
    ELSE
        IF kept = 'none' AND cardinality(p_candidates) > 0 THEN
            o_row := gateway_begin(p_test, p_cap);
            IF o_row IS NOT NULL THEN
                o_outcome := 'leased';
                RETURN;
            END IF;
        END IF;
        FOR i IN 1 .. cardinality(p_candidates) LOOP
            INSERT INTO gateway_used AS u (test, since, entry_id, used) VALUES (p_test, began, p_candidates[i], 1)
            ON CONFLICT (test, since, entry_id) DO UPDATE SET used = u.used + 1 WHERE u.used < p_times[i]
            RETURNING entry_id INTO o_entry;
            EXIT WHEN o_entry IS NOT NULL;
        END LOOP;
        IF o_entry IS NOT NULL THEN
            o_outcome := 'answered';
        ELSE
            o_outcome := p_otherwise;
            SELECT json_object_agg(entry_id, used) INTO o_used FROM gateway_used
            WHERE test = p_test AND since = began AND entry_id = ANY (p_tier);
        END IF;
    END IF;
    INSERT INTO gateway_journal (test, context, tool, outcome, entry_id, method, path, headers, body)
    VALUES (p_test, p_context, p_tool, o_outcome, o_entry, p_method, p_path, p_headers, p_body)
    RETURNING id INTO o_row;
END $$;
"""

DOWNGRADE = """
DROP FUNCTION gateway_ask, gateway_begin, gateway_end, gateway_lease, gateway_lock;
ALTER TABLE gateway_journal DROP COLUMN lease_row;
"""


def upgrade() -> None:
    """Make the column and the functions."""
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    """Have the functions again as they were first made."""
    op.get_bind().exec_driver_sql(DOWNGRADE)
    op.get_bind().exec_driver_sql(context.script.get_revision("0010").module.FUNCTIONS)
