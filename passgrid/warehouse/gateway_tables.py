"""Tables of the gateway: what is loaded and used up, who is connected, and the journal of every message."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import BYTEA

from passgrid.warehouse.tables import metadata


def _exact(name: str, **options: object) -> sa.Column[str]:
    """A text that is only ever compared whole: the plain order of its bytes is the quickest."""
    return sa.Column(name, sa.Text(collation="C"), **options)  # pyright: ignore[reportArgumentType]


gateway_spaces = sa.Table(
    "gateway_spaces",
    metadata,
    _exact("space", primary_key=True),
    sa.Column(
        "loads", sa.BigInteger, nullable=False, server_default="1", comment="goes up when what is loaded changes"
    ),
    sa.Column("sessions", sa.BigInteger, nullable=False, server_default="1", comment="goes up when a session is ended"),
    sa.Column("counters", sa.Text, nullable=False, server_default="{}", comment="JSON: numbers of loads by mount"),
    sa.Column("token_key", BYTEA, nullable=False, comment="signs the tokens of tests and attempts"),
    comment="Groups of gateway processes that share everything",
)

gateway_loads = sa.Table(
    "gateway_loads",
    metadata,
    _exact("space", primary_key=True),
    sa.Column("n", sa.BigInteger, sa.Identity(always=True), primary_key=True, comment="in the order they were loaded"),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False, comment="JSON as it came: the order of its keys says something"),
    sa.Column("owner", sa.Text, comment="whose file it is, kept in step with it; null: loaded by somebody"),
    comment="Documents of fakes",
)

gateway_tests = sa.Table(
    "gateway_tests",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _exact("space", nullable=False),
    _exact("mount", nullable=False),
    _exact("test_id", nullable=False, comment="empty: requests without a test id"),
    sa.Column("state", sa.Text, nullable=False, server_default="none", comment="none, kept or evicted"),
    sa.Column("capped", sa.Boolean, nullable=False, comment="whether newer tests may drive it out"),
    sa.Column("begun", sa.BigInteger, comment="when it had its first answer, as a number that only grows"),
    sa.Column(
        "since",
        sa.BigInteger,
        nullable=False,
        server_default="0",
        comment="the last row of the journal before it was reset",
    ),
    sa.UniqueConstraint("space", "mount", "test_id", name="gateway_tests_key"),
    comment="Tests that asked something on a mount",
)

gateway_used = sa.Table(
    "gateway_used",
    metadata,
    sa.Column("test", sa.BigInteger, primary_key=True),
    sa.Column("since", sa.BigInteger, primary_key=True, comment="the reset of its test it came after"),
    _exact("entry_id", primary_key=True),
    sa.Column("used", sa.Integer, nullable=False, comment="calls it answered"),
    comment="What of the fakes is used up, for each test",
)

gateway_journal = sa.Table(
    "gateway_journal",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("test", sa.BigInteger, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    sa.Column("context", sa.Text),
    sa.Column("tool", sa.Text, comment="null: no call of a tool"),
    sa.Column("outcome", sa.Text, comment="how it met the fakes; null: it went on past them"),
    sa.Column("entry_id", sa.Text),
    sa.Column("answered", sa.Text, comment="what answered where fakes did not"),
    sa.Column("failed", sa.Boolean),
    sa.Column("result", sa.Text, comment="JSON: its answer, without secrets"),
    sa.Column("method", sa.Text, nullable=False),
    sa.Column("path", sa.Text, nullable=False),
    sa.Column("headers", sa.Text, nullable=False, comment="JSON, without secrets"),
    sa.Column("body", sa.Text, nullable=False, comment="JSON, without secrets"),
    sa.Column("lease_row", sa.BigInteger, comment="number of a row written under a lease; null: there was none"),
    sa.Index("gateway_journal_test", "test"),
    comment="Every message that came to a gateway",
)

gateway_sessions = sa.Table(
    "gateway_sessions",
    metadata,
    _exact("session_id", primary_key=True),
    _exact("space", nullable=False),
    _exact("mount", nullable=False),
    sa.Column("version", sa.Text, nullable=False, comment="of the protocol"),
    sa.Column("test_id", sa.Text),
    sa.Column("context", sa.Text),
    sa.Column("undeclared", sa.Text),
    sa.Column("initialized", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("now()")),
    comment="Sessions of clients that speak a protocol with a handshake",
)

gateway_model_calls = sa.Table(
    "gateway_model_calls",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _exact("space", nullable=False),
    _exact("test_id", nullable=False, comment="empty: requests without a test id"),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.text("clock_timestamp()")),
    sa.Column("model", sa.Text, nullable=False, comment="as the client named it"),
    sa.Column("answered", sa.Text, nullable=False, comment="fixture, recorded or live"),
    sa.Column("asked", sa.Text, nullable=False, comment="JSON: the conversation, without secrets"),
    sa.Column("answer", sa.Text, comment="JSON: the turn, without secrets; null: there was none"),
    sa.Column("error", sa.Text, comment="why there was none"),
    sa.Column("input_tokens", sa.BigInteger),
    sa.Column("output_tokens", sa.BigInteger),
    sa.Column("cost_usd", sa.Double, comment="null: unknown"),
    sa.Column("duration_ms", sa.Double, nullable=False),
    sa.Index("gateway_model_calls_test", "space", "test_id"),
    comment="Model turns that passed a gateway",
)
