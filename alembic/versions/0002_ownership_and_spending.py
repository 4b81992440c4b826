"""Who runs an attempt and what it spends: losses, tries, intents, budgets and provider limits."""

from alembic import op

revision = "0002"
down_revision = "0001"

UPGRADE = """
ALTER TABLE runs ADD COLUMN stop_reason TEXT DEFAULT '' NOT NULL;
COMMENT ON COLUMN runs.stop_reason IS 'why it was stopped';
ALTER TABLE runs ADD COLUMN max_tries INTEGER DEFAULT '3' NOT NULL;
COMMENT ON COLUMN runs.max_tries IS 'of each attempt; losses aside';
ALTER TABLE runs ADD COLUMN budget_usd DOUBLE PRECISION;
COMMENT ON COLUMN runs.budget_usd IS 'null: none';
ALTER TABLE runs ADD COLUMN allow_unpriced BOOLEAN DEFAULT false NOT NULL;
COMMENT ON COLUMN runs.allow_unpriced IS 'under a budget';
ALTER TABLE runs ADD COLUMN spent_usd DOUBLE PRECISION DEFAULT '0' NOT NULL;
COMMENT ON COLUMN runs.spent_usd IS 'of settled calls';
ALTER TABLE runs ADD COLUMN reserved_usd DOUBLE PRECISION DEFAULT '0' NOT NULL;
COMMENT ON COLUMN runs.reserved_usd IS 'of calls under way';
COMMENT ON COLUMN runs.state IS 'active, paused, stopped, cancelled or done';
ALTER TABLE attempts ADD COLUMN not_before TIMESTAMP WITH TIME ZONE;
COMMENT ON COLUMN attempts.not_before IS 'when it is tried again at the earliest';
ALTER TABLE attempts ADD COLUMN stop_reason TEXT;
COMMENT ON COLUMN attempts.stop_reason IS 'why a running one is to end before its next call';
ALTER TABLE attempts ADD COLUMN failures INTEGER DEFAULT '0' NOT NULL;
COMMENT ON COLUMN attempts.failures IS 'tries that failed, losses aside';
ALTER TABLE attempts ADD COLUMN losses INTEGER DEFAULT '0' NOT NULL;
COMMENT ON COLUMN attempts.losses IS 'tries whose worker was lost';
ALTER TABLE attempts ADD COLUMN lone_losses INTEGER DEFAULT '0' NOT NULL;
COMMENT ON COLUMN attempts.lone_losses IS 'of these, those in a process of its own';
ALTER TABLE attempts ADD COLUMN alone BOOLEAN DEFAULT false NOT NULL;
COMMENT ON COLUMN attempts.alone IS 'runs in a process of its own';
COMMENT ON COLUMN attempts.state IS 'queued, paused, running or done';
ALTER TABLE tries ADD COLUMN detail TEXT DEFAULT '' NOT NULL;
COMMENT ON COLUMN tries.detail IS 'why it was not the last, in one line';
ALTER TABLE tries ADD COLUMN alone BOOLEAN DEFAULT false NOT NULL;
COMMENT ON COLUMN tries.alone IS 'nothing else ran beside it';
ALTER TABLE tries ADD COLUMN model_calls INTEGER;
COMMENT ON COLUMN tries.model_calls IS 'live ones it began';
ALTER TABLE tries ADD COLUMN cost_usd DOUBLE PRECISION;
COMMENT ON COLUMN tries.cost_usd IS 'settled, and reserved where unsettled; null: unknown';
COMMENT ON COLUMN tries.reason IS 'finished, failed, worker_lost or handed_back; null while it runs';
ALTER TABLE model_calls ADD COLUMN cost_source TEXT;
COMMENT ON COLUMN model_calls.cost_source IS 'provider, prices, free or recorded; null: unknown';
DROP INDEX attempts_queued;
CREATE INDEX attempts_queued ON attempts (queue, alone, priority DESC, key) WHERE state = 'queued';
CREATE TABLE intents (
    attempt_key BIGINT NOT NULL,
    fence INTEGER NOT NULL,
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT,
    provider TEXT,
    reserved_usd DOUBLE PRECISION,
    tokens BIGINT DEFAULT '0' NOT NULL,
    started_at TIMESTAMP WITH TIME ZONE DEFAULT clock_timestamp() NOT NULL,
    settled_at TIMESTAMP WITH TIME ZONE,
    status TEXT,
    cost_usd DOUBLE PRECISION,
    cost_source TEXT,
    PRIMARY KEY (attempt_key, fence, n),
    FOREIGN KEY(attempt_key) REFERENCES attempts (key) ON DELETE CASCADE
);
CREATE INDEX intents_open ON intents (provider) WHERE provider IS NOT NULL AND settled_at IS NULL;
CREATE INDEX intents_window ON intents (provider, started_at) WHERE provider IS NOT NULL;
COMMENT ON TABLE intents IS 'Live calls, written before they are made: an unsettled one counts as spent';
COMMENT ON COLUMN intents.fence IS 'the try';
COMMENT ON COLUMN intents.n IS 'position within the try';
COMMENT ON COLUMN intents.kind IS 'model or tool';
COMMENT ON COLUMN intents.name IS 'the model, or server/tool';
COMMENT ON COLUMN intents.arguments IS 'of a tool call, JSON: what to clean up after a crash';
COMMENT ON COLUMN intents.provider IS 'provider:account whose limits it counts against';
COMMENT ON COLUMN intents.reserved_usd IS 'the worst case; null: no price is known';
COMMENT ON COLUMN intents.tokens IS 'estimated, then used';
COMMENT ON COLUMN intents.settled_at IS 'null: under way, or lost with its worker';
COMMENT ON COLUMN intents.status IS 'ok, or the kind of error';
CREATE TABLE provider_limits (
    provider TEXT NOT NULL,
    concurrency INTEGER,
    requests_per_minute INTEGER,
    tokens_per_minute BIGINT,
    PRIMARY KEY (provider)
);
COMMENT ON TABLE provider_limits IS 'What the providers file says, for every account of a provider';
COMMENT ON COLUMN provider_limits.concurrency IS 'requests at once; null: the default';
COMMENT ON COLUMN provider_limits.requests_per_minute IS 'null: no limit';
COMMENT ON COLUMN provider_limits.tokens_per_minute IS 'null: no limit';
CREATE TABLE providers (
    key TEXT NOT NULL,
    concurrency DOUBLE PRECISION NOT NULL,
    limited_once BOOLEAN DEFAULT false NOT NULL,
    blocked_until TIMESTAMP WITH TIME ZONE,
    auth_failures INTEGER DEFAULT '0' NOT NULL,
    PRIMARY KEY (key)
);
COMMENT ON TABLE providers IS 'What was learned of each account, over all workers';
COMMENT ON COLUMN providers.key IS 'provider:account';
COMMENT ON COLUMN providers.concurrency IS 'adapted: at most so many requests at once now';
COMMENT ON COLUMN providers.limited_once IS 'rises slowly from there';
COMMENT ON COLUMN providers.blocked_until IS 'by Retry-After';
COMMENT ON COLUMN providers.auth_failures IS 'in a row';
"""

DOWNGRADE = """
DROP TABLE intents, provider_limits, providers;
DROP INDEX attempts_queued;
ALTER TABLE runs DROP COLUMN stop_reason,
    DROP COLUMN max_tries,
    DROP COLUMN budget_usd,
    DROP COLUMN allow_unpriced,
    DROP COLUMN spent_usd,
    DROP COLUMN reserved_usd;
ALTER TABLE attempts DROP COLUMN not_before,
    DROP COLUMN stop_reason,
    DROP COLUMN failures,
    DROP COLUMN losses,
    DROP COLUMN lone_losses,
    DROP COLUMN alone;
ALTER TABLE tries DROP COLUMN detail,
    DROP COLUMN alone,
    DROP COLUMN model_calls,
    DROP COLUMN cost_usd;
ALTER TABLE model_calls DROP COLUMN cost_source;
CREATE INDEX attempts_queued ON attempts (queue, priority DESC, key) WHERE state = 'queued';
"""


def upgrade() -> None:
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    op.get_bind().exec_driver_sql(DOWNGRADE)
