"""Model turns that passed a gateway: kept for recordings and accounts."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from passgrid.warehouse.texts import stored_text


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One request for a model turn, and what came of it."""

    test_id: str | None
    model: str
    answered: str
    asked: str
    """JSON of the conversation."""
    answer: str | None
    """JSON of the turn; None where there was none."""
    error: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    """None: unknown."""
    duration_ms: float


def keep_turn(connection: sa.Connection, space: str, turn: ModelTurn) -> None:
    """Write a turn. Commits."""
    values = {name: getattr(turn, name) for name in ModelTurn.__dataclass_fields__}
    connection.execute(
        sa.text(
            "INSERT INTO gateway_model_calls (space, test_id, model, answered, asked, answer, error, input_tokens, "
            "output_tokens, cost_usd, duration_ms) VALUES (:space, :test_id, :model, :answered, :asked, :answer, "
            ":error, :input_tokens, :output_tokens, :cost_usd, :duration_ms)"
        ),
        {
            **values,
            "space": space,
            "test_id": turn.test_id or "",
            "model": stored_text(turn.model),
            "error": None if turn.error is None else stored_text(turn.error),
        },
    )
    connection.commit()


def turns_of(connection: sa.Connection, space: str, test_id: str | None) -> list[ModelTurn]:
    """The turns of one test, in the order they were asked for."""
    query = sa.text("SELECT * FROM gateway_model_calls WHERE space = :space AND test_id = :test ORDER BY id")
    return [
        ModelTurn(
            test_id=row.test_id or None,
            **{name: getattr(row, name) for name in ModelTurn.__dataclass_fields__ if name != "test_id"},
        )
        for row in connection.execute(query, {"space": space, "test": test_id or ""})
    ]
