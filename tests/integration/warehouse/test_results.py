"""Results: every row of an attempt, or none."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from passgrid.identity import content_hash
from passgrid.outcome import Outcome, OutcomeKind
from passgrid.warehouse.control import retry
from passgrid.warehouse.reading import attempt_details, list_attempts, transcript
from passgrid.warehouse.results import Finished
from passgrid.workspaces.changes import compared
from tests.integration.runs import claimed, finish, result, rows, submitted, value
from workers.writing import write_batch


def test_all_rows_of_an_attempt_are_written(engine: sa.Engine, tmp_path: Path) -> None:
    run = submitted(engine, tmp_path, k=1).run_id
    finish(engine, claimed(engine))
    with engine.connect() as connection:
        (row,) = list_attempts(connection, run, outcome="passed", after="", limit=10)
        details = attempt_details(connection, run, row["attempt_id"][:10])
        messages = transcript(connection, run, row["attempt_id"])
    assert (details["tool_calls"][0]["tool"], details["tool_calls"][0]["answered"]) == ("count", "recorded")
    assert [call["turn"] for call in details["model_calls"]] == [1, 2]
    assert details["model_calls"][0]["input_tokens"] is None
    assert details["cost_usd"] is None
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool", "assistant"]


HOSTILE: list[Any] = [
    "nul \0 byte",
    "lone \ud800 surrogate",
    {"nan": "NaN", "deep": [[[[1]]]]},
    "x" * 5_000_000,
    {str(i): i for i in range(100_000)},
    "'; DROP TABLE attempts; --",
    "<script>alert(1)</script>",
]


@pytest.mark.parametrize("content", HOSTILE, ids=["nul", "surrogate", "nested", "5MB", "keys", "sql", "html"])
def test_hostile_output_is_stored(engine: sa.Engine, tmp_path: Path, content: Any) -> None:
    run = submitted(engine, tmp_path, k=1).run_id
    plain = result()
    call = replace(plain.tool_calls[0], result=content, arguments={"a\0": content if len(str(content)) < 999 else 1})
    messages = [*plain.messages, {"role": "tool", "tool_call_id": "c", "name": "t\0", "content": content}]
    outcome = Outcome(OutcomeKind.FAILED, reason=f"because {str(content)[:5000]}")
    finish(engine, claimed(engine), replace(plain, tool_calls=(call,), messages=messages, outcome=outcome))
    with engine.connect() as connection:
        (row,) = list_attempts(connection, run, outcome=None, after="", limit=10)
        stored = transcript(connection, run, row["attempt_id"])[-1]["content"]
    assert stored == (content.replace("\ud800", "\ufffd") if isinstance(content, str) else content)
    assert len(row["reason"]) <= 2000


def test_eighty_writers_at_once_do_not_deadlock(engine: sa.Engine, database_url: str, tmp_path: Path) -> None:
    from passgrid.warehouse.engine import make_engine

    submitted(engine, tmp_path, scenarios=32, k=5)
    claims = claimed(engine, most=160)
    plain = result()
    wide = make_engine(database_url, pool_size=80)
    failures: list[BaseException] = []

    def write(start: int) -> None:
        try:
            finish(wide, [claims[start], claims[159 - start]], plain)
        except SQLAlchemyError as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(i,)) for i in range(80)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wide.dispose()
    assert failures == []
    assert value(engine, "SELECT count(*) FROM attempts WHERE state = 'done'") == 160
    assert value(engine, "SELECT count(*) FROM tool_calls") == 160


def test_one_result_that_cannot_be_stored_does_not_take_its_batch_with_it(engine: sa.Engine, tmp_path: Path) -> None:
    submitted(engine, tmp_path, k=3)
    claims = claimed(engine)
    plain = result()
    broken = replace(plain, tool_calls=(replace(plain.tool_calls[0], started_ms=object()),))  # pyright: ignore
    write_batch(engine, [Finished(one, broken if i == 1 else plain) for i, one in enumerate(claims)])
    found = rows(engine, "SELECT outcome, outcome_detail FROM attempts ORDER BY key")
    assert found == [("passed", ""), ("infra_error", "unstorable"), ("passed", "")]


def test_what_became_of_a_workspace_is_kept_and_forgotten_when_the_attempt_is_asked_for_again(
    engine: sa.Engine, tmp_path: Path
) -> None:
    run = submitted(engine, tmp_path, k=1).run_id
    files = compared({"a": b"1", "gone": b"2"}, {"a": b"one", "new\0\ud800": b""}, {"gone"})
    broken = replace(result(), files=files, outcome=Outcome(OutcomeKind.INFRA_ERROR, "server_lost", "x"))
    finish(engine, claimed(engine), broken)
    found = rows(engine, "SELECT kind, subject, change, before_bytes, after_bytes, after_hash FROM ledger_changes")
    assert [tuple(row)[:5] for row in found] == [
        ("file", "a", "changed", 1, 3),
        ("file", "gone", "deleted", 1, None),
        ("file", "new\ufffd\ufffd", "created", None, 0),
    ]
    assert found[0].after_hash == content_hash(b"one")
    retry(engine, run)
    assert value(engine, "SELECT count(*) FROM ledger_changes") == 0
