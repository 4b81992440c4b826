"""One attempt in replay: what it gives, and that every difference from the recording is loud."""

from __future__ import annotations

import socket
import subprocess
from dataclasses import replace
from typing import Any

import pytest

from passgrid.attempt import run
from passgrid.cassettes.format import Cassette, Step
from passgrid.matrix import Mode, Prompt
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from passgrid.sealing import ReplayLeak, sealed
from tests.unit.passgrid.suites import COUNTING, answer, ask, cassette, replay_order, say, scenario


async def test_a_recorded_conversation_replays_message_for_message() -> None:
    result = await run(replay_order())
    assert result.outcome.kind is OutcomeKind.PASSED
    assert [message["role"] for message in result.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert result.messages[2]["tool_calls"] == [{"id": "c1", "name": "count", "arguments": {"item": "bolts"}}]
    assert result.messages[3]["content"] == 5
    (call,) = result.tool_calls
    assert (call.server, call.tool, call.answered, call.error) == ("stock", "count", "recorded", False)


async def test_equal_attempts_have_equal_digests_and_different_ones_do_not() -> None:
    first, again = await run(replay_order()), await run(replay_order())
    other = await run(replay_order(cassette((*COUNTING[:3], say("there are five")))))
    assert first.digest() == again.digest() != other.digest()


async def test_a_changed_prompt_is_a_miss_that_names_the_turn_and_the_place() -> None:
    result = await run(replay_order(prompt=Prompt("plain", "You answer!")))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "model turn 1: the system prompt differs" in result.outcome.reason
    assert '"You answer."' in result.outcome.reason
    assert '"You answer!"' in result.outcome.reason


async def test_a_changed_task_is_a_miss() -> None:
    result = await run(replay_order(of=scenario(task="How many nuts?")))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "user" in result.outcome.reason


async def test_tools_that_are_no_longer_offered_are_a_miss() -> None:
    result = await run(replay_order(of=scenario(tools=[])))
    assert result.outcome.reason == "model turn 1: other tools are offered: gone count; new none"


async def test_a_call_more_often_than_recorded_is_a_miss_and_is_in_the_journal() -> None:
    steps = (COUNTING[0], ask("count", {"item": "bolts"}), answer(5), ask("count", {"item": "bolts"}, "c2"))
    result = await run(replay_order(cassette(steps)))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert (
        "recorded with these arguments, but after no writing call; here it comes after count" in result.outcome.reason
    )
    assert [call.answered for call in result.tool_calls] == ["recorded", "missed"]
    assert [message["role"] for message in result.messages][-1] == "assistant"


async def test_the_nth_equal_call_gets_the_nth_recorded_answer() -> None:
    steps = (
        COUNTING[0],
        ask("count", {"item": "bolts", "n": 1}),
        answer("first"),
        ask("count", {"n": 1.0, "item": "bolts"}, "c2"),
        answer("second"),
        say("done"),
    )
    result = await run(replay_order(cassette(steps)))
    assert result.outcome.kind is OutcomeKind.PASSED
    assert [call.result for call in result.tool_calls] == ["first", "second"]


async def test_parallel_calls_are_one_step() -> None:
    parts = [{"call": "count", "id": f"c{i}", "args": {"item": name}} for i, name in enumerate(("a", "b"))]
    calls = [
        {"call": 0, "server": "stock", "result": "A", "answered": 1},
        {"call": 1, "server": "stock", "error": "no b", "answered": 0},
    ]
    steps: tuple[Step, ...] = (COUNTING[0], {"model": {"parts": parts}}, {"calls": calls}, say("done"))
    result = await run(replay_order(cassette(steps)))
    assert result.outcome.kind is OutcomeKind.PASSED
    assert [(call.result, call.error) for call in result.tool_calls] == [("A", False), ("no b", True)]


async def test_texts_of_the_agent_library_compare_by_kind() -> None:
    steps = (COUNTING[0], ask("vanished", {}), {"calls": [{"call": 0, "library": "unknown_tool"}]}, say("sorry"))
    result = await run(replay_order(cassette(steps)))
    assert result.outcome.kind is OutcomeKind.PASSED
    assert [(call.tool, call.answered, call.error) for call in result.tool_calls] == [("vanished", "library", True)]
    recorded_as_answer = (COUNTING[0], ask("vanished", {}), answer("Unknown tool"), say("sorry"))
    missed = await run(replay_order(cassette(recorded_as_answer)))
    assert "recorded an answer of the server, now unknown_tool" in missed.outcome.reason


async def test_arguments_that_are_no_json_are_answered_by_the_library() -> None:
    steps = (COUNTING[0], ask("count", "{bad"), {"calls": [{"call": 0, "library": "validation_error"}]}, say("sorry"))
    result = await run(replay_order(cassette(steps)))
    assert result.outcome.kind is OutcomeKind.PASSED
    assert result.tool_calls[0].arguments == "{bad"


@pytest.mark.parametrize(
    ("steps", "last"),
    [
        (COUNTING[:3], "tool"),
        ((*COUNTING, {"user": "Thanks ###STOP###"}), "user"),
    ],
)
async def test_a_conversation_ends_where_its_recording_ended(steps: tuple[Step, ...], last: str) -> None:
    result = await run(replay_order(cassette(steps), of=scenario(task=None, turns="recorded")))
    assert result.outcome.kind is OutcomeKind.PASSED
    assert result.messages[-1]["role"] == last


async def test_several_user_turns_are_one_conversation_with_one_count() -> None:
    steps = (*COUNTING, {"user": "And nuts?"}, ask("count", {"item": "nuts"}), answer(4), say("4"))
    turns = ["How many bolts?", "And nuts?"]
    scripted = await run(replay_order(cassette(steps), of=scenario(task=None, turns=turns)))
    recorded = await run(replay_order(cassette(steps), of=scenario(task=None, turns="recorded")))
    assert scripted.outcome.kind is OutcomeKind.PASSED
    assert scripted.messages == recorded.messages
    assert [call.turn for call in scripted.tool_calls] == [1, 3]
    limited = await run(replay_order(cassette(steps), of=scenario(task=None, turns=turns, limits={"model_turns": 3})))
    assert limited.outcome.name == "limit(turns)"


def _cut_off() -> Cassette:
    return cassette(COUNTING[:3], ending={"outcome": "limit", "limit": "turns"})


async def test_a_recording_cut_off_by_a_limit_ends_at_the_same_limit() -> None:
    result = await run(replay_order(_cut_off(), of=scenario(limits={"model_turns": 1})))
    assert result.outcome.name == "limit(turns)"
    assert result.outcome.valid
    assert result.messages[-1]["role"] == "tool"


async def test_a_cut_off_recording_is_a_miss_under_a_higher_limit() -> None:
    result = await run(replay_order(_cut_off(), of=scenario(limits={"model_turns": 9})))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "broken off here" in result.outcome.reason


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ({"model_turns": 1}, "limit(turns)"),
        ({"tool_calls": 0}, "limit(calls)"),
        ({"tokens": 10}, "limit(tokens)"),
        ({"cost_usd": 0.01}, "limit(cost)"),
    ],
)
async def test_limits_hold_and_the_transcript_survives(limits: dict[str, Any], name: str) -> None:
    first = {"model": {**COUNTING[1]["model"], "usage": {"input": 8, "output": 3}, "cost_usd": 0.02}}
    result = await run(replay_order(cassette((COUNTING[0], first, *COUNTING[2:])), of=scenario(limits=limits)))
    assert result.outcome.name == name
    assert [message["role"] for message in result.messages][:3] == ["system", "user", "assistant"]


async def test_unknown_usage_is_none_and_known_usage_is_kept() -> None:
    known = {"model": {**COUNTING[3]["model"], "usage": {"input": 8, "output": 3}, "served": "gpt-1", "cost_usd": 0.5}}
    result = await run(replay_order(cassette((*COUNTING[:3], known))))
    first, second = result.model_calls
    assert (first.input_tokens, first.cost_usd, first.served_model) == (None, None, None)
    assert (second.input_tokens, second.output_tokens, second.cost_usd, second.served_model) == (8, 3, 0.5, "gpt-1")
    assert second.cache_read_tokens is None


async def test_a_failed_check_names_itself() -> None:
    result = await run(replay_order(of=scenario(checks=[{"final_text": {"contains": "6"}}])))
    assert result.outcome.kind is OutcomeKind.FAILED
    assert result.outcome.reason == "final_text: does not contain '6'"


async def test_a_check_that_opens_a_connection_or_a_process_is_refused_in_a_replay() -> None:
    code = (
        b"import socket, subprocess\n"
        b"def connects(evidence):\n    socket.create_connection(('127.0.0.1', 9))\n"
        b"def starts(evidence):\n    subprocess.run(['true'])\n"
    )
    checks = [{"python": "checks.py:connects"}, {"python": "checks.py:starts"}]
    order = replay_order(of=scenario(checks=checks), suite_files={"checks.py": code})
    with sealed():
        result = await run(order)
    assert [check.passed for check in result.checks] == [None, None]
    assert "socket" in result.checks[0].detail
    assert "subprocess.Popen was refused" in result.checks[1].detail


def test_the_seal_is_off_outside_its_block() -> None:
    with sealed(), pytest.raises(ReplayLeak):
        subprocess.run(["true"], check=False)
    assert subprocess.run(["true"], check=False).returncode == 0
    with socket.socket() as unbound:
        unbound.bind(("127.0.0.1", 0))


async def test_a_recorded_model_without_a_cassette_is_an_infrastructure_error() -> None:
    result = await run(replace(replay_order(), cassette=None))
    assert result.outcome.name == "infra_error(cassette)"
    assert not result.outcome.valid


async def test_a_scripted_model_is_seeded_by_the_attempt() -> None:
    policies = b"from passgrid import policy\n@policy('dice')\ndef dice(turn):\n    return str(turn.rng.random())\n"
    order = replay_order(
        model=parse_model_reference("scripted:dice"),
        mode=Mode.LIVE,
        cassette=None,
        suite_files={"policies.py": policies},
    )
    first, again = await run(order), await run(order)
    other = await run(replace(order, attempt_id="b" * 32))
    assert first.messages == again.messages != other.messages
    assert first.model_calls[0].answered == "scripted"


@pytest.mark.parametrize(
    ("body", "name"),
    [("time.sleep(0.4)\n    return 'late'", "limit(time)"), ("raise TimeoutError('mine')", "infra_error(unexpected)")],
)
async def test_only_the_deadline_is_a_limit_of_time(body: str, name: str) -> None:
    source = f"import time\nfrom passgrid import policy\n@policy('slow')\ndef slow(turn):\n    {body}\n"
    order = replay_order(
        model=parse_model_reference("scripted:slow"),
        mode=Mode.LIVE,
        cassette=None,
        suite_files={"policies.py": source.encode()},
        of=scenario(limits={"seconds": 0.2}),
    )
    result = await run(order)
    assert result.outcome.name == name
    assert [message["role"] for message in result.messages][:2] == ["system", "user"]
