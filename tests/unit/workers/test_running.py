"""How long an attempt may take before it is ended from outside."""

from __future__ import annotations

from typing import Any

import pytest

from passgrid.attempt import AttemptRun
from passgrid.warehouse.claims import Claim
from tests.unit.passgrid.suites import replay_order, scenario
from workers.running import Running

LIMITS = {"seconds": 20}
LEDGER = {"order": {"list": {"tool": "orders"}}}
JUDGE = {"model": "scripted:judge", "rubric": "It is right."}


@pytest.mark.parametrize(
    ("more", "seconds"),
    [({}, 20), ({"ledger": LEDGER}, 50), ({"judge": JUDGE}, 80), ({"ledger": LEDGER, "judge": JUDGE}, 110)],
    ids=["alone", "with a ledger", "with a judge", "with both"],
)
def test_looking_at_what_it_did_and_judging_it_come_on_top_of_its_limit(more: dict[str, Any], seconds: float) -> None:
    attempt = AttemptRun(replay_order(of=scenario(limits=LIMITS, **more)))
    claim = Claim.__new__(Claim)  # who holds it does not matter here
    assert Running(claim, attempt).limit_s == seconds
