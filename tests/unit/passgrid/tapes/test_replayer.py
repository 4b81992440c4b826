"""A session is recorded without anyone noticing, and replayed without its server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError

from passgrid.sealing import sealed
from passgrid.tapes.format import Tape, read_tape, tape_of
from passgrid.tapes.frames import Frame
from passgrid.tapes.misses import MISS_CODE
from passgrid.tapes.recorder import record
from passgrid.tapes.replayer import Replay
from tests.every_method_server import make_server
from tests.mcp_sessions import Seen, in_memory, use_everything

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto", "2026-07-28"])


async def recorded_session(path: Path, mode: str = "auto", use: Any = use_everything) -> tuple[Tape, Seen]:
    seen = Seen()
    async with seen.client(record(in_memory(make_server()), path), mode) as client:
        await use(client, seen)
    return read_tape(path.read_bytes()), seen  # noqa: ASYNC240 - a small file, after the session


async def replayed(tape: Tape, mode: str = "auto", use: Any = use_everything, **options: Any) -> Seen:
    seen = Seen()
    with sealed():
        async with seen.client(Replay(tape, **options), mode) as client:
            await use(client, seen)
    return seen


@ERAS
async def test_every_method_is_replayed_with_identical_results(tmp_path: Path, mode: str) -> None:
    tape, first = await recorded_session(tmp_path / "a.tape.jsonl", mode)
    again = await replayed(tape, mode)
    assert again == first
    assert len(first.results) == 17
    assert len(first.progress) == len(first.logs) == 3
    assert len(first.questions) == 2


@ERAS
async def test_a_recorded_client_sees_what_an_unrecorded_one_does(tmp_path: Path, mode: str) -> None:
    _, recorded = await recorded_session(tmp_path / "a.tape.jsonl", mode)
    bare = Seen()
    async with bare.client(in_memory(make_server()), mode) as client:
        await use_everything(client, bare)
    assert bare == recorded


async def add(client: Client, seen: Seen) -> None:
    await seen.of(client.call_tool("add", {"a": 1, "b": 2}))


async def overlapping(client: Client, seen: Seen) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(seen.of, client.call_tool("after", {"seconds": 0.2, "word": "slow"}))
        tasks.start_soon(seen.of, client.call_tool("after", {"seconds": 0.1, "word": "quick"}))


async def test_overlapping_calls_keep_the_positions_of_request_and_answer(tmp_path: Path) -> None:
    tape, first = await recorded_session(tmp_path / "a.tape.jsonl", "legacy", overlapping)
    bodies = [frame.body for frame in tape.frames if frame.body is not None]
    slow, quick = (body["id"] for body in bodies if body.get("method") == "tools/call")
    assert [body["id"] for body in bodies if "result" in body and body["id"] in (slow, quick)] == [quick, slow]
    again = await replayed(tape, "legacy", overlapping)
    assert sorted(again.results) == sorted(first.results)


@ERAS
async def test_a_miss_names_the_nearest_calls_and_how_to_record_it(tmp_path: Path, mode: str) -> None:
    tape, _ = await recorded_session(tmp_path / "a.tape.jsonl", mode, add)
    replay = Replay(tape)
    async with Client(replay, mode=mode) as client:
        with pytest.raises(MCPError) as missed:
            await client.call_tool("add", {"a": 1, "b": 3})
    assert missed.value.error.code == MISS_CODE
    assert missed.value.error.message.splitlines() == [
        'replay miss: tools/call {"name": "add", "arguments": {"a": 1, "b": 3}}',
        '  nearest: tools/call {"name": "add", "arguments": {"a": 1, "b": 2}}',
        "    $.arguments.b: recorded 2, now 3",
        "  to record it: record a session that sends it",
    ]
    assert replay.misses == [missed.value.error.message]


async def test_a_call_is_answered_as_often_as_it_was_recorded(tmp_path: Path) -> None:
    tape, _ = await recorded_session(tmp_path / "a.tape.jsonl", "auto", add)

    async def twice(client: Client, seen: Seen) -> None:
        await add(client, seen)
        await add(client, seen)

    seen = await replayed(tape, "auto", twice)
    assert "recorded 1 times, and asked once more" in seen.results[1]


async def test_an_answer_other_than_the_recorded_one_is_a_miss(tmp_path: Path) -> None:
    async def rhyme(client: Client, seen: Seen) -> None:
        await seen.of(client.call_tool("rhyme", {"word": "moon"}))

    tape, _ = await recorded_session(tmp_path / "a.tape.jsonl", "legacy", rhyme)
    other = Seen(rhyme="noon")
    async with other.client(Replay(tape), "legacy") as client:
        await rhyme(client, other)
    assert "the client answers sampling/createMessage not as it did when recorded" in other.results[0]
    assert "spoon" in other.results[0]


async def test_a_tape_of_the_handshake_serves_a_client_that_tries_the_other_era_first(tmp_path: Path) -> None:
    tape, first = await recorded_session(tmp_path / "a.tape.jsonl", "legacy", add)
    assert await replayed(tape, "auto", add) == first


@pytest.mark.parametrize(("recorded", "asking"), [("auto", "legacy"), ("2026-07-28", "auto")])
async def test_a_client_of_another_era_is_told_how_to_connect(tmp_path: Path, recorded: str, asking: str) -> None:
    tape, _ = await recorded_session(tmp_path / "a.tape.jsonl", recorded, add)
    told = pytest.RaisesExc(MCPError, match="connect with mode='2026-07-28'")
    with pytest.RaisesGroup(told, flatten_subgroups=True, allow_unwrapped=True):
        async with Client(Replay(tape), mode=asking):
            pass


async def test_a_request_that_was_given_up_is_not_left_waiting_for_ever(tmp_path: Path) -> None:
    async def give_up(client: Client, seen: Seen) -> None:
        await seen.of(client.call_tool("never", {}, read_timeout_seconds=0.1))

    async def wait(client: Client, seen: Seen) -> None:
        await seen.of(client.call_tool("never", {}))

    tape, first = await recorded_session(tmp_path / "a.tape.jsonl", "legacy", give_up)
    assert await replayed(tape, "legacy", give_up) == first
    seen = await replayed(tape, "legacy", wait, patience=0.1)
    assert "the recorded client gave tools/call up, and this one waits" in seen.results[0]


async def test_a_recording_that_ends_before_an_answer_says_so(tmp_path: Path) -> None:
    tape, _ = await recorded_session(tmp_path / "a.tape.jsonl", "legacy", add)
    answer = next(
        at for at, frame in enumerate(tape.frames) if frame.body and "content" in frame.body.get("result", {})
    )
    cut = tape_of(tape.frames[:answer], tape.source)
    seen = await replayed(cut, "legacy", add)
    assert "the recording of tools/call ends before its answer" in seen.results[0]


async def test_a_client_that_changes_a_result_does_not_change_the_tape(tmp_path: Path) -> None:
    tape, _ = await recorded_session(tmp_path / "a.tape.jsonl", "auto", add)
    replay = Replay(tape)
    for _ in range(2):
        async with Client(replay) as client:
            result = await client.call_tool("add", {"a": 1, "b": 2})
            assert result.structured_content == {"result": 3.0}
            result.structured_content["result"] = 4


async def test_messages_that_are_none_reach_the_client_as_they_did() -> None:
    stray = Frame("server", None)
    asked = Frame("client", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    broken = Frame("server", {"jsonrpc": "2.0", "id": 1, "result": "no object"})
    async with Replay(tape_of([stray, asked, broken], {})) as (read, write):
        del write
        assert read is not None
