"""Who may use the HTTP API: tokens, uploaded suites, and an audit of what was asked to change something."""

from alembic import op

revision = "0003"
down_revision = "0002"

UPGRADE = """
CREATE TABLE api_tokens (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    last_used_at TIMESTAMP WITH TIME ZONE,
    expires_at TIMESTAMP WITH TIME ZONE,
    revoked_at TIMESTAMP WITH TIME ZONE,
    PRIMARY KEY (id),
    UNIQUE (name)
);
COMMENT ON TABLE api_tokens IS 'Who may use the HTTP API over TCP';
COMMENT ON COLUMN api_tokens.id IS 'the public part of the token';
COMMENT ON COLUMN api_tokens.name IS 'never given again, so that the audit is clear';
COMMENT ON COLUMN api_tokens.role IS 'read, submit, author or admin';
COMMENT ON COLUMN api_tokens.secret_hash IS 'SHA-256; the secret itself is kept nowhere';
COMMENT ON COLUMN api_tokens.last_used_at IS 'to the minute; null: never';
COMMENT ON COLUMN api_tokens.expires_at IS 'null: never';
COMMENT ON COLUMN api_tokens.revoked_at IS 'null: in force';
CREATE TABLE suites (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    manifest JSONB NOT NULL,
    uploaded_by TEXT NOT NULL,
    uploaded_at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    PRIMARY KEY (name)
);
COMMENT ON TABLE suites IS 'Suites brought in over the HTTP API; a new upload replaces the one before';
COMMENT ON COLUMN suites.version IS 'hash of the manifest';
COMMENT ON COLUMN suites.manifest IS 'blob of each file by path, recordings included';
CREATE TABLE audit (
    id BIGINT GENERATED ALWAYS AS IDENTITY,
    at TIMESTAMP WITH TIME ZONE DEFAULT now() NOT NULL,
    actor TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail JSONB DEFAULT '{}'::jsonb NOT NULL,
    outcome TEXT DEFAULT 'begun' NOT NULL,
    status INTEGER,
    PRIMARY KEY (id)
);
COMMENT ON TABLE audit IS 'Everything that was asked to change something; what stays begun was lost with its process';
COMMENT ON COLUMN audit.actor IS 'name of the token, or local; null: nobody that is known';
COMMENT ON COLUMN audit.action IS 'method and route, or the command';
COMMENT ON COLUMN audit.subject IS 'the path as it was asked for, or what the command named';
COMMENT ON COLUMN audit.detail IS 'what came of it';
COMMENT ON COLUMN audit.outcome IS 'begun, done, refused or failed';
COMMENT ON COLUMN audit.status IS 'of the HTTP answer';
"""

DOWNGRADE = "DROP TABLE audit, suites, api_tokens;"


def upgrade() -> None:
    op.get_bind().exec_driver_sql(UPGRADE)


def downgrade() -> None:
    op.get_bind().exec_driver_sql(DOWNGRADE)
