"""The mode sandbox: a live model whose tools answer from recordings."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from passgrid.attempt import AttemptResult, run
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.matching import MatchingRules
from passgrid.matrix import Mode
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from passgrid.plan import make_plan
from passgrid.request import Request
from passgrid.scenario import Scenario
from tests.unit.passgrid.cassettes.sessions import recording
from tests.unit.passgrid.suites import cassette, replay_order, scenario, write_suite

POLICIES = b"""
from passgrid import policy, Call

@policy("asks")
def asks(turn):
    asked = turn.messages[-1]
    if asked["role"] == "user":
        return [Call(name, args) for name, args in eval(asked["content"])]
    return "it answered " + str(asked["content"])
"""
PRICES = recording(
    [("price", {"of": "bolt"}, 3)], [("set_price", {"of": "bolt", "to": 4}, "ok")], [("price", {"of": "bolt"}, 4)],
    workspace={"changed": {"list.txt": "4"}, "deleted": []},
)  # fmt: skip


async def attempt(*calls: tuple[str, dict[str, Any]], of: Scenario | None = None, **changes: Any) -> AttemptResult:
    """One model turn with these calls, over recordings of prices."""
    task = {"task": repr(list(calls))}
    asked = (of or scenario()).model_copy(update=task)
    values: dict[str, Any] = {
        "mode": Mode.SANDBOX,
        "model": parse_model_reference("scripted:asks"),
        "recordings": (PRICES,),
        "suite_files": {"policies.py": POLICIES},
        "of": asked,
        **changes,
    }
    return await run(replace(replay_order(**values), cassette=None))


async def test_a_live_model_is_answered_from_recordings_and_the_journal_says_how() -> None:
    result = await attempt(("set_price", {"of": "bolt", "to": 4}))
    assert result.outcome.kind is OutcomeKind.PASSED
    assert [(call.tool, call.answered, call.score) for call in result.tool_calls] == [
        ("set_price", "recorded_state", None)
    ]
    exact = await attempt(("price", {"of": "bolt"}))
    assert [call.answered for call in exact.tool_calls] == ["recorded"]


async def test_calls_of_one_turn_are_answered_together() -> None:
    result = await attempt(("price", {"of": "bolt"}), ("set_price", {"of": "bolt", "to": 4}))
    assert [call.result for call in result.tool_calls] == [3, "ok"]


async def test_what_is_not_recorded_is_a_miss_that_names_the_nearest() -> None:
    result = await attempt(("set_price", {"of": "bolt", "to": 5}))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "nearest: arguments.to: recorded 4, now 5" in result.outcome.reason
    assert [call.answered for call in result.tool_calls] == ["missed"]


async def test_other_words_are_answered_where_the_suite_lets_them_and_scored() -> None:
    asked = recording([("find", {"query": "cheap hotel near the station"}, "the Plaza")])
    call = ("find", {"query": "inexpensive hotels close to the train station"})
    strict = await attempt(call, recordings=(asked,))
    assert strict.outcome.kind is OutcomeKind.REPLAY_MISS
    result = await attempt(call, recordings=(asked,), matching=MatchingRules(semantic=True))
    (row,) = result.tool_calls
    assert (row.result, row.answered) == ("the Plaza", "recorded_semantic")
    assert row.score is not None
    assert row.score >= 0.78


FILED: dict[str, Any] = {"workspace": {}, "checks": [{"file": {"path": "list.txt", "contains": "4"}}]}


async def test_files_are_those_of_a_recording_that_ended_in_this_state() -> None:
    wrote = await attempt(("set_price", {"of": "bolt", "to": 4}), of=scenario(**FILED))
    assert wrote.outcome.kind is OutcomeKind.PASSED
    read = await attempt(("price", {"of": "bolt"}), of=scenario(**FILED))
    assert read.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "nobody knows its files" in read.outcome.reason


def recorded_as(label: str, prompt: str, sample: int) -> Cassette:
    """A recording of another label or prompt."""
    return cassette(label=label, prompt=prompt, sample=sample)


def test_sample_i_prefers_recording_i_and_the_prompt_of_its_cell(tmp_path: Path) -> None:
    recordings = [recorded_as("gpt", prompt, sample) for prompt in ("other", "plain") for sample in (0, 1)]
    suite = write_suite(tmp_path, cassettes=recordings)
    (suite / "policies.py").write_bytes(POLICIES)
    (suite / "suite.yaml").write_text("prompt: plain\nmatching: {semantic: true, depends: {count: []}}\n")
    plan = make_plan(Request(suites=(str(suite),), models=("scripted:asks",), k=3, mode="sandbox"))
    lists = [json.loads(plan.blobs[one.cassette_hash or ""]) for one in plan.attempts()]
    preferred = [read["recordings"][0] for read in lists]
    plain = [recorded_as("gpt", "plain", sample) for sample in (0, 1)]
    assert [b'"prompt":"plain"' in plan.blobs[name].replace(b" ", b"") for name in preferred[:2]] == [True, True]
    assert len(plain) == len(set(preferred[:2]))
    assert all(len(read["recordings"]) == 4 for read in lists)
    assert lists[0]["matching"] == {"semantic": True, "depends": {"count": []}}
    assert plan.queue == "live"
