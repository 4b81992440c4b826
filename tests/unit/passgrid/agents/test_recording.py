"""What a program did is recorded, and its recording replays, call for call and turn for turn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from passgrid.attempt import AttemptResult, run
from passgrid.cassettes.format import read_cassette, write_cassette
from passgrid.cassettes.payloads import packed, resolve
from passgrid.cassettes.schema import cassette_schema
from passgrid.cassettes.telling import told
from passgrid.matrix import Mode
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from tests.unit.passgrid.agents.programs import CLIENT, LOOP, agent, command_order, shell

SUITE = {
    "server.py": b'''
from mcp.server.mcpserver import MCPServer

def make():
    server = MCPServer("stock")
    stock = {"bolts": 5}

    @server.tool()
    def count(item: str) -> int:
        """How many there are."""
        return stock[item]

    @server.tool()
    def order(item: str, n: int) -> dict[str, int]:
        """Order more."""
        stock[item] = stock.get(item, 0) + n
        return {item: stock[item]}

    return server
''',
    "policies.py": b"""
from passgrid import Call, policy

@policy("clerk")
def clerk(turn):
    if not turn.results:
        return [Call("count", {"item": "bolts"}), Call("count", {"item": "nuts"})]
    if len(turn.results) == 2:
        return Call("order", {"item": "bolts", "n": 2})
    return "done"
""",
}


async def recorded_and_replayed(program: dict[str, Any], **changes: Any) -> tuple[AttemptResult, AttemptResult]:
    """An attempt on live servers, and the replay of its recording by the same program."""
    servers = {"stock": {"python": "server.py:make"}}
    live = command_order(program, suite_files=SUITE, mcpServers=servers, cassette=None, **changes)
    live = replace(live, mode=Mode.LIVE, model=parse_model_reference("scripted:clerk"), record=True)
    first = await run(live)
    assert first.recording is not None, first.outcome
    light, files = packed(first.recording)
    recording = resolve(read_cassette(write_cassette(light)), files.__getitem__)
    again = replace(live, mode=Mode.REPLAY, record=False, cassette=recording)
    return first, await run(replace(again, model=parse_model_reference("recorded:clerk")))


def journal(result: AttemptResult) -> list[tuple[Any, ...]]:
    return [(call.turn, call.tool, call.arguments, call.result, call.error) for call in result.tool_calls]


def same(first: AttemptResult, again: AttemptResult) -> bool:
    assert again.outcome.kind is OutcomeKind.PASSED, (again.outcome, first.recording and first.recording.steps)
    return journal(first) == journal(again) and [one["role"] for one in first.messages] == [
        one["role"] for one in again.messages
    ]


async def test_a_loop_with_a_model() -> None:
    first, again = await recorded_and_replayed(agent(LOOP))
    assert first.outcome.kind is OutcomeKind.PASSED, first.outcome
    assert [call.answered for call in first.tool_calls] == ["live"] * 3
    assert same(first, again)
    assert [call.answered for call in again.tool_calls] == ["recorded"] * 3


async def test_a_program_without_a_model() -> None:
    program = CLIENT + (
        "connect(); call('count', {'item': 'bolts'}); call('order', {'item': 'bolts', 'n': 1}); "
        "print(call('count', {'item': 'bolts'})['content'][0]['text'])"
    )
    first, again = await recorded_and_replayed(agent(program))
    assert same(first, again)
    assert first.messages == again.messages
    assert first.recording is not None
    assert [next(iter(step)) for step in first.recording.steps] == ["user", "alone", "alone", "alone"]


async def test_a_program_that_does_something_else_than_recorded_misses() -> None:
    recorded, _ = await recorded_and_replayed(agent(CLIENT + "connect(); call('count', {'item': 'bolts'})"))
    other = agent(CLIENT + "connect(); call('order', {'item': 'bolts', 'n': 1})")
    result = await run(command_order(other, recorded.recording))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS


OWN_IDEAS = (
    CLIENT
    + """
tools = connect()
count = call("count", {"item": "bolts"})["content"][0]["text"]
note = {"name": "note", "description": "Keep a note.", "inputSchema": {"type": "object"}}
system = [{"role": "system", "content": "You are a clerk."}, {"role": "system", "content": "There are " + count}]
messages = [*system, {"role": "user", "content": os.environ["PASSGRID_TASK"]}]
while (turn := ask(messages, [*tools, note])).get("tool_calls"):
    messages.append(turn)
    for one in turn["tool_calls"]:
        name, arguments = one["function"]["name"], json.loads(one["function"]["arguments"])
        if name == "order":
            call("count", {"item": "bolts"})
        if arguments.get("item") == "nuts":
            text = "never heard of nuts"
        else:
            text = "The server says: " + json.dumps(call(name, arguments)["content"])
        messages.append({"role": "tool", "tool_call_id": one["id"], "content": text})
print(turn["content"])
"""
)
"""It calls tools by itself, tells its model other texts than the answers, and has a tool of its own."""


async def test_a_program_with_ideas_of_its_own() -> None:
    first, again = await recorded_and_replayed(agent(OWN_IDEAS))
    assert first.recording is not None
    kinds = [next(iter(step)) for step in first.recording.steps]
    assert kinds == ["user", "alone", "model", "calls", "model", "alone", "calls", "model"], first.recording.steps
    answers = first.recording.steps[3]["calls"]
    assert answers[0]["told"].startswith("The server says: ")
    assert answers[1] == {"call": 1, "own": True, "result": "never heard of nuts"}
    assert first.recording.system == "You are a clerk.\n\nThere are 5"
    assert same(first, again)


async def test_telling_the_model_something_else_than_recorded_is_a_miss() -> None:
    first, _ = await recorded_and_replayed(agent(OWN_IDEAS))
    other = agent(OWN_IDEAS.replace("The server says", "The server said"))
    result = await run(command_order(other, first.recording))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "tells its model another text" in result.outcome.reason


async def test_such_a_recording_fits_the_published_schema_and_can_be_read() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    first, _ = await recorded_and_replayed(agent(OWN_IDEAS))
    assert first.recording is not None
    document = {**first.recording.to_document(), "hash": first.recording.content_hash()}
    jsonschema.validate(document, cassette_schema())
    lines = "\n".join(told(first.recording))
    assert "the program calls count" in lines
    assert "  own result of call 1: never heard of nuts" in lines


async def test_in_drift_live_answers_are_compared_with_those_of_its_recording() -> None:
    first, _ = await recorded_and_replayed(agent(LOOP))
    servers = {"stock": {"python": "server.py:make"}}
    changed = {**SUITE, "server.py": SUITE["server.py"].replace(b'"bolts": 5', b'"bolts": 6')}
    order = command_order(agent(LOOP), first.recording, suite_files=changed, mcpServers=servers, mode=Mode.DRIFT)
    result = await run(order)
    assert [call.answered for call in result.tool_calls] == ["live"] * 3
    assert result.drift is not None
    assert {(finding.tool, finding.recorded, finding.live) for finding in result.drift.findings} >= {("count", 5, 6)}


async def test_many_programs_at_once_keep_to_themselves() -> None:
    results = await asyncio.gather(*(run(command_order(agent(LOOP))) for _ in range(6)))
    assert {result.outcome.kind for result in results} == {OutcomeKind.PASSED}
    assert len({result.digest() for result in results}) == 1


async def test_the_token_is_nowhere_in_what_a_live_attempt_leaves() -> None:
    script = shell('echo "my token is $PASSGRID_TOKEN"')
    first, _ = await recorded_and_replayed(script)
    assert first.messages[-1]["content"] == "my token is [redacted:value]"
