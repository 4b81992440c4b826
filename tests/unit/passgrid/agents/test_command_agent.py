"""An agent that is a command becomes an attempt like any other."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from passgrid.agents.serving import not_served
from passgrid.attempt import run
from passgrid.matrix import Mode
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from passgrid.sealing import sealed
from tests.unit.passgrid.agents.programs import CLIENT, LOOP, agent, command_order, shell
from tests.unit.passgrid.suites import COUNTING, answer, ask, cassette, replay_order, say


async def test_a_program_replays_what_the_built_in_agent_recorded_message_for_message() -> None:
    ours, theirs = await run(replay_order()), await run(command_order(agent(LOOP)))
    assert theirs.outcome.kind is OutcomeKind.PASSED, theirs.outcome
    assert theirs.messages == ours.messages
    assert theirs.digest() == ours.digest()
    (call,) = theirs.tool_calls
    assert (call.turn, call.server, call.tool, call.answered, call.error) == (1, "stock", "count", "recorded", False)
    assert [turn.answered for turn in theirs.model_calls] == ["recorded", "recorded"]


PREFIXED = LOOP.replace(
    "tools = connect()", "tools = [{**tool, 'name': 'mcp__stock__' + tool['name']} for tool in connect()]"
).replace('call(one["function"]["name"]', 'call(one["function"]["name"].removeprefix("mcp__stock__")')
"""As many clients name tools to their models."""


async def test_a_program_that_names_tools_after_their_server_replays_the_same_recording() -> None:
    assert PREFIXED != LOOP
    ours, theirs = await run(replay_order()), await run(command_order(agent(PREFIXED)))
    assert theirs.outcome.kind is OutcomeKind.PASSED, theirs.outcome
    assert theirs.digest() == ours.digest()


async def test_its_answer_is_judged_by_the_checks() -> None:
    checks = [{"final_text": {"contains": "6"}}]
    result = await run(command_order(agent(LOOP), checks=checks))
    assert result.outcome.kind is OutcomeKind.FAILED
    assert "final_text" in result.outcome.reason


async def test_swallowing_the_error_of_a_miss_does_not_help() -> None:
    program = CLIENT + "connect(); print(call('count', {'item': 'nuts'})['isError']); print('all is well')"
    result = await run(command_order(agent(program)))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "count" in result.outcome.reason
    assert [call.answered for call in result.tool_calls] == ["missed"]


async def test_a_model_turn_that_differs_from_the_recording_is_a_miss() -> None:
    program = CLIENT + "ask([{'role': 'user', 'content': 'How many nuts?'}], connect())"
    result = await run(command_order(agent(program)))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert "model turn 1" in result.outcome.reason


async def test_a_program_without_a_model_is_told_by_its_calls() -> None:
    program = CLIENT + "connect(); print('there are', call('count', {'item': 'bolts'})['content'][0]['text'])"
    result = await run(command_order(agent(program), checks=[{"final_text": {"contains": "there are 5"}}]))
    assert result.outcome.kind is OutcomeKind.PASSED, result.outcome
    assert [message["role"] for message in result.messages] == ["user", "assistant", "tool", "assistant"]
    assert result.messages[-1]["content"] == "there are 5"
    assert [call.turn for call in result.tool_calls] == [0]


async def test_an_exit_code_is_a_failure_of_the_agent_with_its_last_words() -> None:
    result = await run(command_order(shell("echo starting >&2; echo 'no such thing' >&2; exit 3")))
    assert result.outcome.kind is OutcomeKind.FAILED
    assert result.outcome.reason == "agent exited with 3: starting | no such thing"
    assert result.outcome.valid


async def test_being_ended_by_a_signal_is_a_failure_too() -> None:
    result = await run(command_order(shell("kill -SEGV $$")))
    assert (result.outcome.kind, result.outcome.reason) == (OutcomeKind.FAILED, "agent was ended by SIGSEGV")


async def test_a_command_that_does_not_exist_says_nothing_about_the_agent() -> None:
    result = await run(command_order({"command": "no-such-agent"}))
    assert result.outcome.name == "infra_error(agent)"
    assert "no-such-agent: No such file or directory" in result.outcome.reason


async def test_a_file_that_is_no_program_says_nothing_about_the_agent() -> None:
    result = await run(command_order({"command": "/etc/passwd"}))
    assert result.outcome.name == "infra_error(agent)"
    assert "Permission denied" in result.outcome.reason


async def test_a_limit_on_calls_ends_the_program() -> None:
    program = CLIENT + "connect()\nwhile True: call('count', {'item': 'bolts'})"
    steps = [COUNTING[0]]
    for i in range(9):
        steps += [ask("count", {"item": "bolts"}, f"c{i}"), answer(5)]
    result = await run(command_order(agent(program), cassette([*steps, say("5")]), limits={"tool_calls": 4}))
    assert result.outcome.name == "limit(calls)"
    assert len(result.tool_calls) == 4


async def test_a_limit_on_turns_ends_the_program() -> None:
    result = await run(command_order(agent(LOOP), limits={"model_turns": 1}))
    assert result.outcome.name == "limit(turns)"
    assert len(result.model_calls) == 1
    assert [message["role"] for message in result.messages] == ["system", "user", "assistant", "tool"]


async def test_the_limit_on_time_ends_the_program() -> None:
    result = await run(command_order(shell("sleep 60"), limits={"seconds": 0.5}))
    assert result.outcome.name == "limit(time)"
    assert result.duration_s < 5


async def test_its_own_timeout_ends_the_program() -> None:
    result = await run(command_order(shell("sleep 60", timeout=0.5)))
    assert result.outcome.name == "limit(time)"
    assert "the agent's own 0.5 s" in result.outcome.reason


async def test_a_file_may_hold_the_answer() -> None:
    result = await run(command_order(shell('echo noise; echo "5 bolts" >"$PASSGRID_RESULT_FILE"', result="file")))
    assert result.messages[-1] == {"role": "assistant", "content": "5 bolts"}


async def test_a_file_that_was_not_written_is_a_failure() -> None:
    result = await run(command_order(shell("true", result="file")))
    assert result.outcome.kind is OutcomeKind.FAILED
    assert "PASSGRID_RESULT_FILE" in result.outcome.reason


async def test_json_may_hold_the_answer_and_the_messages() -> None:
    said = {"text": "5", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "5"}]}
    result = await run(command_order(shell(f"echo '{json.dumps(said)}'", result="json")))
    assert result.outcome.kind is OutcomeKind.PASSED, result.outcome
    assert [message["role"] for message in result.messages] == ["user", "assistant"]


async def test_json_that_is_none_is_a_failure() -> None:
    result = await run(command_order(shell("echo 5", result="json")))
    assert result.outcome.kind is OutcomeKind.FAILED
    assert '"text"' in result.outcome.reason


async def test_a_flood_of_output_is_kept_at_both_ends() -> None:
    script = "echo first; head -c 50000000 /dev/zero | tr '\\0' x; head -c 50000000 /dev/zero >&2; echo; echo last"
    result = await run(command_order(shell(script)))
    text = result.messages[-1]["content"]
    assert text.startswith("first\n")
    assert text.endswith("\nlast")
    assert "bytes left out" in text
    assert len(text) < 1_100_000


async def test_the_environment_holds_what_belongs_to_the_attempt_and_little_of_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_WORKER", "x")
    result = await run(command_order(shell("env | cut -d= -f1 | sort", env={"MINE": "1"})))
    variables = set(result.messages[-1]["content"].split())
    assert "SECRET_OF_THE_WORKER" not in variables
    assert {"PASSGRID_MCP_URL", "PASSGRID_MCP_URL_STOCK", "PASSGRID_NAMESPACE", "OPENAI_API_KEY", "MINE"} <= variables


async def test_a_replayed_agent_gets_no_secret_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hush")
    result = await run(command_order(shell('echo "<$GIVEN>"', env={"GIVEN": "${env:A_SECRET}"})))
    assert result.messages[-1]["content"] == "<>"


async def test_the_task_comes_in_every_way_a_program_may_want_it() -> None:
    script = 'cat; echo "|$PASSGRID_TASK|$PASSGRID_TURNS"; cat "$PASSGRID_TASK_FILE"'
    result = await run(command_order(shell(script)))
    task = "How many bolts?"
    assert result.messages[-1]["content"] == f'{task}|{task}|["{task}"]\n{task}'


async def test_the_file_for_mcp_clients_names_every_server() -> None:
    result = await run(command_order(shell('cat "$PASSGRID_MCP_CONFIG"')))
    (server,) = json.loads(result.messages[-1]["content"])["mcpServers"].items()
    assert server[0] == "stock"
    assert server[1]["url"].endswith("/servers/stock/mcp")
    assert server[1]["headers"]["Authorization"].startswith("Bearer ")


async def test_a_replay_without_a_network_of_its_own_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    result = await run(command_order(agent(LOOP)))
    assert result.outcome.name == "infra_error(no_namespace)"
    assert "allow user namespaces" in result.outcome.reason


async def test_recorded_tools_with_another_model_do_without_where_they_must(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    program = CLIENT + "connect(); print(call('count', {'item': 'bolts'})['content'][0]['text'])"
    policies = b"from passgrid import policy\n\n@policy('silent')\ndef silent(turn):\n    return ''\n"
    order = command_order(agent(program), mode=Mode.SANDBOX, recordings=(cassette(),), cassette=None)
    order = replace(order, model=parse_model_reference("scripted:silent"), suite_files={"policies.py": policies})
    result = await run(order)
    assert (result.outcome.kind, result.messages[-1]["content"]) == (OutcomeKind.PASSED, "5"), result.outcome


async def test_in_a_sealed_replay_the_agent_runs_and_the_checks_of_its_suite_start_nothing() -> None:
    checks = b"""
import subprocess
from passgrid import check

@check
def starts_something(evidence):
    return subprocess.run(["true"]).returncode == 0
"""
    order = command_order(
        agent(LOOP), checks=[{"python": "checks.py:starts_something"}], suite_files={"checks.py": checks}
    )
    with sealed():
        result = await run(order)
    assert len(result.tool_calls) == 1
    (verdict,) = result.checks
    assert verdict.passed is not True
    assert "a replay reaches nothing outside" in verdict.detail


async def test_without_anybody_to_serve_its_gateway_it_is_said() -> None:
    result = await run(replace(command_order(agent(LOOP)), serving=not_served))
    assert result.outcome.name == "infra_error(agent)"
    assert "nobody serves the gateway" in result.outcome.reason


async def test_a_wrong_token_is_refused_and_the_attempt_goes_on() -> None:
    program = (
        CLIENT
        + """
os.environ["PASSGRID_TOKEN"] = "wrong"
for ask_for in (connect, lambda: ask([{"role": "user", "content": "hi"}], [])):
    try: ask_for()
    except urllib.error.HTTPError as error: print(error.code)
"""
    )
    result = await run(command_order(agent(program)))
    assert (result.messages[-1]["content"], result.tool_calls, result.model_calls) == ("401\n401", (), ())


async def test_a_tool_that_nobody_offers_is_an_error_and_a_step() -> None:
    program = CLIENT + "connect(); print(call('destroy', {})['isError'])"
    result = await run(command_order(agent(program)))
    assert result.messages[-1]["content"] == "True"
    (call,) = result.tool_calls
    assert (call.tool, call.answered, call.error) == ("destroy", "library", True)
