"""Load and unload fakes for every gateway process of a space, and read its journal."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from passgrid.fakes.loading import CONTROL_API, Fakes, Loaded, load
from passgrid.warehouse.gateway_call_back import call_everything_back, call_tests_back
from passgrid.warehouse.gateway_state import loaded_fakes


def open_space(connection: sa.Connection, space: str) -> bytes:
    """Make the space where there is none, and return the key its tokens are signed with. Commits."""
    connection.execute(
        sa.text("INSERT INTO gateway_spaces (space, token_key) VALUES (:space, :key) ON CONFLICT DO NOTHING"),
        {"space": space, "key": secrets.token_bytes(32)},
    )
    connection.commit()
    query = sa.text("SELECT token_key FROM gateway_spaces WHERE space = :space")
    return bytes(connection.execute(query, {"space": space}).scalar_one())


def add_document(connection: sa.Connection, space: str, document: Any, source: str = CONTROL_API) -> Loaded:
    """Load a document for everybody; it commits. Raises `UnusableFakes`, and nothing is loaded."""
    loaded = load(_locked_fakes(connection, space), document, source)
    _insert(connection, space, source, document, None)
    _changed(connection, space)
    connection.commit()
    return loaded


def keep_in_step(connection: sa.Connection, space: str, owner: str, files: Mapping[str, Any]) -> None:
    """Have exactly these documents of an owner's files loaded, by their names; others of the owner go. Commits.

    A file that is loaded already and has not changed is left alone, so every process of one owner may say it at its
    start. Raises `UnusableFakes`, and nothing is changed.
    """
    _locked_fakes(connection, space)
    query = sa.text("SELECT n, source, document, owner FROM gateway_loads WHERE space = :space ORDER BY n")
    rows = connection.execute(query, {"space": space}).all()
    wanted = {source: json.dumps(document) for source, document in files.items()}
    known = {row.source: (row.n, row.document) for row in rows if row.owner == owner}
    changed = {source: text for source, text in wanted.items() if known.get(source, (0, ""))[1] != text}
    gone = known.keys() - wanted.keys()
    if not changed and not gone:
        connection.rollback()
        return
    after = [
        [row.source, wanted.get(row.source, row.document) if row.owner == owner else row.document]
        for row in rows
        if row.owner != owner or row.source not in gone
    ] + [[source, text] for source, text in changed.items() if source not in known]
    loaded_fakes(_counters(connection, space), after)
    for source in gone:
        connection.execute(sa.text("DELETE FROM gateway_loads WHERE n = :n"), {"n": known[source][0]})
    for source, text in changed.items():
        if source in known:
            update = sa.text("UPDATE gateway_loads SET document = :text WHERE n = :n")
            connection.execute(update, {"text": text, "n": known[source][0]})
        else:
            _insert(connection, space, source, files[source], owner)
    _changed(connection, space)
    connection.commit()


def unload(connection: sa.Connection, space: str) -> None:
    """Unload every fake and forget what was used up; sessions stay, and numbers of loads go on. Commits."""
    fakes = _locked_fakes(connection, space)
    counters = json.dumps({path: mount.counter for path, mount in fakes.mounts.items()})
    of_space = {"space": space, "counters": counters}
    # Whoever is being answered is waited for; whoever asks meanwhile waits, and then knows of the reset.
    for statement in (
        "SELECT pg_advisory_xact_lock(7003, hashtext(:space))",
        "UPDATE gateway_tests SET state = 'none', begun = NULL, "
        "since = (SELECT coalesce(max(id), 0) FROM gateway_journal) WHERE space = :space",
        "DELETE FROM gateway_used USING gateway_tests t WHERE t.id = test AND t.space = :space",
        "DELETE FROM gateway_loads WHERE space = :space",
        "UPDATE gateway_spaces SET loads = loads + 1, counters = :counters WHERE space = :space",
    ):
        connection.execute(sa.text(statement), of_space)
    connection.commit()


def end_test(connection: sa.Connection, space: str, test_id: str) -> None:
    """Forget what a test used up; its journal stays. Commits."""
    tests = {"tests": call_tests_back(connection, space, test_id)}
    for statement in (
        "UPDATE gateway_tests SET state = 'none', begun = NULL, "
        "since = (SELECT coalesce(max(id), 0) FROM gateway_journal) WHERE id = ANY (:tests)",
        "DELETE FROM gateway_used WHERE test = ANY (:tests)",
    ):
        connection.execute(sa.text(statement), tests)
    connection.commit()


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One message that came to a gateway."""

    at: str
    mount: str
    test_id: str | None
    context: str | None
    tool: str | None
    outcome: str | None
    entry_id: str | None
    answered: str | None
    failed: bool | None
    result: Any
    """Its answer, where fakes did not give it."""
    method: str
    path: str
    headers: Any
    body: Any


def journal(
    connection: sa.Connection,
    space: str,
    test_id: str | None = None,
    last: int = 10_000,
    *,
    since_reset: bool = False,
) -> list[JournalRow]:
    """The last messages, of one test or of all, oldest first; `since_reset`: those its state knows of.

    `test_id` empty: those without one.
    """
    query = sa.text(
        "SELECT j.id, j.at, t.mount, t.test_id, j.context, j.tool, j.outcome, j.entry_id, j.answered, j.failed, "
        "j.result, "
        "j.method, j.path, j.headers, j.body FROM gateway_journal j JOIN gateway_tests t ON t.id = j.test "
        "WHERE t.space = :space AND (CAST(:test AS TEXT) IS NULL OR t.test_id = :test) "
        "AND (j.id > t.since OR NOT :since_reset) ORDER BY j.id DESC LIMIT :last"
    )
    rows = connection.execute(query, {"space": space, "test": test_id, "last": last, "since_reset": since_reset}).all()
    connection.rollback()  # a million rows take a while to be read: nothing is left open meanwhile
    return [
        JournalRow(
            at=row.at.isoformat(),
            mount=row.mount,
            test_id=row.test_id or None,
            context=row.context,
            tool=row.tool,
            outcome=row.outcome,
            entry_id=row.entry_id,
            answered=row.answered,
            failed=row.failed,
            result=None if row.result is None else json.loads(row.result),
            method=row.method,
            path=row.path,
            headers=json.loads(row.headers),
            body=json.loads(row.body),
        )
        for row in reversed(rows)
    ]


def evicted_mounts(connection: sa.Connection, space: str, test_id: str) -> list[str]:
    """Mounts on which a test lost its state."""
    query = sa.text("SELECT mount FROM gateway_tests WHERE space = :space AND test_id = :test AND state = 'evicted'")
    return list(connection.execute(query, {"space": space, "test": test_id}).scalars())


def failures(connection: sa.Connection, space: str) -> dict[str, int]:
    """How many calls the fakes refused, by outcome."""
    query = sa.text(
        "SELECT j.outcome, count(*) AS n FROM gateway_journal j JOIN gateway_tests t ON t.id = j.test "
        "WHERE t.space = :space AND j.outcome IS NOT NULL AND j.outcome <> 'answered' GROUP BY j.outcome"
    )
    return {row.outcome: row.n for row in connection.execute(query, {"space": space})}


def fakes_of(connection: sa.Connection, space: str) -> Fakes:
    """What is loaded now."""
    query = sa.text("SELECT source, document FROM gateway_loads WHERE space = :space ORDER BY n")
    rows = connection.execute(query, {"space": space})
    return loaded_fakes(_counters(connection, space), [[row.source, row.document] for row in rows])


def _locked_fakes(connection: sa.Connection, space: str) -> Fakes:
    """What is loaded, with the space locked until the transaction ends: loads come one after the other."""
    call_everything_back(connection, space)
    lock = sa.text("SELECT 1 FROM gateway_spaces WHERE space = :space FOR UPDATE")
    connection.execute(lock, {"space": space})
    return fakes_of(connection, space)


def _counters(connection: sa.Connection, space: str) -> str:
    query = sa.text("SELECT counters FROM gateway_spaces WHERE space = :space")
    return connection.execute(query, {"space": space}).scalar_one()


def _insert(connection: sa.Connection, space: str, source: str, document: Any, owner: str | None) -> None:
    connection.execute(
        sa.text(
            "INSERT INTO gateway_loads (space, source, document, owner) VALUES (:space, :source, :document, :owner)"
        ),
        {"space": space, "source": source, "document": json.dumps(document), "owner": owner},
    )


def _changed(connection: sa.Connection, space: str) -> None:
    connection.execute(sa.text("UPDATE gateway_spaces SET loads = loads + 1 WHERE space = :space"), {"space": space})
