"""Plans, submissions and results for tests, without workers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from passgrid.attempt import AttemptResult, run
from passgrid.plan import Plan, make_plan
from passgrid.request import Request
from passgrid.warehouse.claims import Claim, claim
from passgrid.warehouse.results import Finished, write_results
from passgrid.warehouse.submission import Submitted, submit
from tests.unit.passgrid.suites import cassette, replay_order, write_suite


def plan(root: Path, k: int = 2, scenarios: int = 1, **changes: Any) -> Plan:
    """A plan over a suite below `root`, written at first use: `scenarios` scenarios with five recordings each."""
    suite = root / "shop"
    if not suite.exists():
        names = [f"count-{i}" for i in range(scenarios)]
        checks = [{"final_text": {"contains": "5"}}]
        documents = {name: {"task": "How many bolts?", "checks": checks} for name in names}
        write_suite(root, documents, [cassette(scenario=name, sample=i) for name in names for i in range(5)])
    values: dict[str, Any] = {"suites": (str(suite),), "models": ("recorded:gpt",), "k": k, **changes}
    return make_plan(Request(**values))


def submitted(engine: sa.Engine, root: Path, **changes: Any) -> Submitted:
    """Submit such a plan."""
    return submit(engine, plan(root, **changes))


def claimed(
    engine: sa.Engine, most: int = 100, worker: str = "test", lease_s: float = 60, *, alone: bool = False
) -> list[Claim]:
    """Claim as a worker would."""
    with engine.connect() as connection:
        return claim(connection, queue="replay", worker=worker, most=most, lease_s=lease_s, alone=alone)


def result() -> AttemptResult:
    """What a real attempt gives."""
    return asyncio.run(run(replay_order()))


def finish(engine: sa.Engine, claims: Sequence[Claim], of: AttemptResult | None = None) -> set[int]:
    """Write a result for each claim."""
    outcome = of or result()
    with engine.connect() as connection:
        return write_results(connection, [Finished(one, outcome) for one in claims])


def execute(engine: sa.Engine, statement: str, **parameters: Any) -> None:
    """Change something behind everybody's back."""
    with engine.begin() as connection:
        connection.execute(sa.text(statement), parameters)


def rows(engine: sa.Engine, query: str, **parameters: Any) -> list[Any]:
    """What a query finds."""
    with engine.connect() as connection:
        return list(connection.execute(sa.text(query), parameters).all())


def value(engine: sa.Engine, query: str, **parameters: Any) -> Any:
    """The one value a query finds."""
    return rows(engine, query, **parameters)[0][0]
