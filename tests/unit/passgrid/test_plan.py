"""From a request to a plan, or every reason why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from passgrid.plan import Plan, make_plan
from passgrid.problems import InvalidInput
from passgrid.request import Request
from tests.unit.passgrid.suites import cassette, write_suite


def plan(root: Path, **changes: Any) -> Plan:
    values: dict[str, Any] = {"suites": (str(root / "shop"),), "models": ("recorded:gpt",), "k": 2, **changes}
    return make_plan(Request(**values))


def refusal(root: Path, **changes: Any) -> str:
    with pytest.raises(InvalidInput) as caught:
        plan(root, **changes)
    return str(caught.value)


def test_a_plan_holds_everything_a_worker_needs(tmp_path: Path) -> None:
    write_suite(tmp_path)
    made = plan(tmp_path)
    assert made.wanted == 2
    assert made.queue == "replay"
    attempts = list(made.attempts())
    assert all(attempt.cassette_hash in made.blobs for attempt in attempts)
    assert set(made.orders.values()) <= set(made.blobs)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"k": 0}, "-k 0: the number of samples must be at least 1"),
        ({"k": 5}, "shop/count, recorded:gpt, prompt plain: 2 recordings, 5 wanted; missing: 2, 3, 4 (use -k 2)"),
        ({"models": ("gpt",)}, "'gpt' is not a model"),
        ({"models": ("recorded:nobody",)}, "unknown in suite shop; there are: recorded:gpt"),
        ({"models": ("recorded:gpt", "recorded:gpt")}, "is given twice"),
        ({"models": ("openai:x",)}, "only recorded models can be replayed"),
        ({"mode": "live"}, "a recorded model has no live turns to give"),
        (
            {"mode": "sandbox", "models": ("scripted:nobody",), "recordings": "x"},
            "no recordings are called x in suite shop",
        ),
        ({"recordings": "gpt"}, "--recordings gpt: only in the mode sandbox is it chosen whose recordings answer"),
        ({"mode": "sandbox", "models": ("openai:x",), "targets": ("t",)}, "a sandbox asks no server"),
        ({"mode": "nightly"}, "no such mode; there are: replay, sandbox, live, drift"),
        ({"mode": "live", "models": ("nosuch:x",)}, "nosuch:x"),
        ({"mode": "live", "models": ("scripted:nobody",)}, "suite shop has no such policy"),
        ({"scenarios": ("nothing",)}, "--scenario nothing: no such scenario"),
        ({"tags": ("none",)}, "no scenario carries it"),
        ({"prompts": ("careful",)}, "no such prompt; there are: plain"),
        ({"suites": ("/nowhere",)}, "no such suite"),
        ({"limit": 0}, "--limit 0: must be at least 1"),
        ({"record": True}, "a replay has nothing new to record"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write_suite(tmp_path)
    assert message in refusal(tmp_path, **changes)


def test_every_problem_is_reported_at_once(tmp_path: Path) -> None:
    write_suite(tmp_path)
    found = refusal(tmp_path, k=0, models=("gpt", "openai:x"), prompts=("careful",), limit=-1)
    assert len(found.splitlines()) == 5


def test_a_wrong_prompt_does_not_hide_what_is_missing(tmp_path: Path) -> None:
    write_suite(tmp_path)
    found = refusal(tmp_path, k=3, prompts=("plain", "careful"), models=("recorded:gpt", "recorded:nobody"))
    assert "no such prompt; there are: plain" in found
    assert "2 recordings, 3 wanted; missing: 2" in found
    assert "unknown in suite shop; there are: recorded:gpt" in found


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"version": 1', '"version": 7', "version 7 of the format"),
        ("there are 5", "there are 6", "its hash does not hold"),
    ],
)
def test_a_broken_cassette_is_named(tmp_path: Path, before: str, after: str, message: str) -> None:
    path = write_suite(tmp_path) / "cassettes/gpt/plain/count/1.json"
    path.write_text(path.read_text().replace(before, after))
    found = refusal(tmp_path)
    assert str(path) in found
    assert message in found


def test_a_cassette_that_lies_where_another_belongs_is_refused(tmp_path: Path) -> None:
    folder = write_suite(tmp_path) / "cassettes/gpt/plain/count"
    (folder / "1.json").write_bytes((folder / "0.json").read_bytes())
    assert "lies where" in refusal(tmp_path)


def test_filters_choose_scenarios(tmp_path: Path) -> None:
    scenarios = {f"s{i}": {"task": "How many bolts?", "tags": ["even" if i % 2 == 0 else "odd"]} for i in range(6)}
    write_suite(tmp_path, scenarios, [cassette(scenario=name, sample=i) for name in scenarios for i in range(2)])
    names = [cell.scenario.name for cell in plan(tmp_path, tags=("even",), limit=2).cells]
    assert names == ["s0", "s2"]
    assert [cell.scenario.name for cell in plan(tmp_path, scenarios=("s5",)).cells] == ["s5"]
