"""The gateway: what is loaded and used up, sessions, and the journal."""

from alembic import op

revision = "0010"
down_revision = "0009"

UPGRADE = """
CREATE TABLE gateway_spaces (
    space TEXT COLLATE "C" NOT NULL,
    loads BIGINT DEFAULT '1' NOT NULL,
    sessions BIGINT DEFAULT '1' NOT NULL,
    counters TEXT DEFAULT '{}' NOT NULL,
    token_key BYTEA NOT NULL,
    PRIMARY KEY (space)
);
COMMENT ON TABLE gateway_spaces IS 'Groups of gateway processes that share everything';
COMMENT ON COLUMN gateway_spaces.loads IS 'goes up when what is loaded changes';
COMMENT ON COLUMN gateway_spaces.sessions IS 'goes up when a session is ended';
COMMENT ON COLUMN gateway_spaces.counters IS 'JSON: numbers of loads by mount';
COMMENT ON COLUMN gateway_spaces.token_key IS 'signs the tokens of tests and attempts';
CREATE TABLE gateway_loads (
    space TEXT COLLATE "C" NOT NULL,
    n BIGINT GENERATED ALWAYS AS IDENTITY,
    source TEXT NOT NULL,
    document TEXT NOT NULL,
    owner TEXT,
    PRIMARY KEY (space, n)
);
COMMENT ON TABLE gateway_loads IS 'Documents of fakes';
COMMENT ON COLUMN gateway_loads.n IS 'in the order they were loaded';
COMMENT ON COLUMN gateway_loads.document IS 'JSON as it came: the order of its keys says something';
COMMENT ON COLUMN gateway_loads.owner IS 'whose file it is, kept in step with it; null: loaded by somebody';
CREATE TABLE gateway_tests (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    space TEXT COLLATE "C" NOT NULL,
    mount TEXT COLLATE "C" NOT NULL,
    test_id TEXT COLLATE "C" NOT NULL,
    state TEXT DEFAULT 'none' NOT NULL,
    capped BOOLEAN NOT NULL,
    begun BIGINT,
    since BIGINT DEFAULT '0' NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT gateway_tests_key UNIQUE (space, mount, test_id)
);
COMMENT ON TABLE gateway_tests IS 'Tests that asked something on a mount';
COMMENT ON COLUMN gateway_tests.test_id IS 'empty: requests without a test id';
COMMENT ON COLUMN gateway_tests.state IS 'none, kept or evicted';
COMMENT ON COLUMN gateway_tests.capped IS 'whether newer tests may drive it out';
COMMENT ON COLUMN gateway_tests.since IS 'the last row of the journal before it was reset';
COMMENT ON COLUMN gateway_tests.begun IS 'when it had its first answer, as a number that only grows';
CREATE TABLE gateway_used (
    test BIGINT NOT NULL,
    since BIGINT NOT NULL,
    entry_id TEXT COLLATE "C" NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (test, since, entry_id)
);
COMMENT ON TABLE gateway_used IS 'What of the fakes is used up, for each test';
COMMENT ON COLUMN gateway_used.since IS 'the reset of its test it came after';
COMMENT ON COLUMN gateway_used.used IS 'calls it answered';
CREATE TABLE gateway_journal (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    test BIGINT NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    context TEXT,
    tool TEXT,
    outcome TEXT,
    entry_id TEXT,
    answered TEXT,
    failed BOOLEAN,
    result TEXT,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    headers TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX gateway_journal_test ON gateway_journal (test);
COMMENT ON TABLE gateway_journal IS 'Every message that came to a gateway';
COMMENT ON COLUMN gateway_journal.tool IS 'null: no call of a tool';
COMMENT ON COLUMN gateway_journal.outcome IS 'how it met the fakes; null: it went on past them';
COMMENT ON COLUMN gateway_journal.answered IS 'what answered where fakes did not';
COMMENT ON COLUMN gateway_journal.result IS 'JSON: its answer, without secrets';
COMMENT ON COLUMN gateway_journal.headers IS 'JSON, without secrets';
COMMENT ON COLUMN gateway_journal.body IS 'JSON, without secrets';
CREATE TABLE gateway_sessions (
    session_id TEXT COLLATE "C" NOT NULL,
    space TEXT COLLATE "C" NOT NULL,
    mount TEXT COLLATE "C" NOT NULL,
    version TEXT NOT NULL,
    test_id TEXT,
    context TEXT,
    undeclared TEXT,
    initialized BOOLEAN DEFAULT false NOT NULL,
    begun_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (session_id)
);
COMMENT ON TABLE gateway_sessions IS 'Sessions of clients that speak a protocol with a handshake';
COMMENT ON COLUMN gateway_sessions.version IS 'of the protocol';
CREATE TABLE gateway_model_calls (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    space TEXT COLLATE "C" NOT NULL,
    test_id TEXT COLLATE "C" NOT NULL,
    at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    model TEXT NOT NULL,
    answered TEXT NOT NULL,
    asked TEXT NOT NULL,
    answer TEXT,
    error TEXT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cost_usd DOUBLE PRECISION,
    duration_ms DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX gateway_model_calls_test ON gateway_model_calls (space, test_id);
COMMENT ON TABLE gateway_model_calls IS 'Model turns that passed a gateway';
COMMENT ON COLUMN gateway_model_calls.test_id IS 'empty: requests without a test id';
COMMENT ON COLUMN gateway_model_calls.model IS 'as the client named it';
COMMENT ON COLUMN gateway_model_calls.answered IS 'fixture, recorded or live';
COMMENT ON COLUMN gateway_model_calls.asked IS 'JSON: the conversation, without secrets';
COMMENT ON COLUMN gateway_model_calls.answer IS 'JSON: the turn, without secrets; null: there was none';
COMMENT ON COLUMN gateway_model_calls.error IS 'why there was none';
COMMENT ON COLUMN gateway_model_calls.cost_usd IS 'null: unknown';
CREATE SEQUENCE gateway_order;
"""

FUNCTIONS = """
CREATE FUNCTION gateway_begin(p_test BIGINT, p_cap INTEGER) RETURNS VOID LANGUAGE plpgsql AS $$
DECLARE
    t RECORD;
BEGIN
    SELECT * INTO t FROM gateway_tests WHERE id = p_test;
    PERFORM pg_advisory_xact_lock(hashtextextended(t.space || ' ' || t.mount, 7));
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
            PERFORM gateway_begin(p_test, p_cap);
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
DROP FUNCTION gateway_ask, gateway_begin;
DROP SEQUENCE gateway_order;
DROP TABLE gateway_model_calls, gateway_sessions, gateway_journal, gateway_used, gateway_tests, gateway_loads,
    gateway_spaces;
"""


def upgrade() -> None:
    """Make tables and functions."""
    op.get_bind().exec_driver_sql(UPGRADE)
    op.get_bind().exec_driver_sql(FUNCTIONS)


def downgrade() -> None:
    """Drop them."""
    op.get_bind().exec_driver_sql(DOWNGRADE)
