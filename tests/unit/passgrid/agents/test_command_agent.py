"""An agent that is a command becomes an attempt like any other."""

from __future__ import annotations

import asyncio
import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passgrid.agents.serving import not_served
from passgrid.attempt import AttemptRun, run
from passgrid.attempt_order import AttemptOrder
from passgrid.endings import AttemptStopped
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


@pytest.mark.parametrize("after_s", [0, 0.5])
async def test_being_stopped_from_outside_ends_a_program_that_asks_for_nothing(after_s: float) -> None:
    attempt = AttemptRun(command_order(shell("sleep 60")))
    asyncio.get_running_loop().call_later(after_s, attempt.stop, AttemptStopped("", "the run was cancelled"))
    result = await attempt.run()
    assert (result.outcome.name, result.outcome.reason) == ("cancelled", "the run was cancelled")
    assert not result.outcome.valid
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
    result = await run(sandboxed(agent(program)))
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


@pytest.mark.parametrize("refused", ["call('destroy', {})", "call('count', [1])"])
async def test_calls_that_reach_no_tool_count_against_the_limit(refused: str) -> None:
    result = await run(command_order(agent(f"{CLIENT}connect()\nwhile True: {refused}"), limits={"tool_calls": 4}))
    assert result.outcome.name == "limit(calls)"
    assert [(call.asked, call.answered) for call in result.tool_calls] == [(i, "library") for i in range(4)]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ('ln -s /proc/self/environ "$PASSGRID_RESULT_FILE"', "Too many levels of symbolic links"),
        ('mkfifo "$PASSGRID_RESULT_FILE"', "it is no plain file"),
        ('mkdir "$PASSGRID_RESULT_FILE"', "Is a directory"),
        ('ln -s /dev/zero "$PASSGRID_RESULT_FILE"', "Too many levels of symbolic links"),
    ],
)
async def test_what_is_no_plain_file_holds_no_answer(script: str, why: str) -> None:
    result = await run(command_order(shell(script, result="file"), limits={"seconds": 10}))
    assert result.outcome.kind is OutcomeKind.FAILED, result.outcome
    assert result.outcome.reason == f"the agent wrote no answer to PASSGRID_RESULT_FILE: {why}"


async def test_a_secret_that_a_replayed_agent_finds_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_WORKER_TOKEN", "hunter2-hunter2")
    found = await run(command_order(shell("echo key sk-ant-REDACTED-EXAMPLE-0000, hunter2-hunter2")))
    assert found.messages[-1]["content"] == "key [redacted:anthropic-key], [redacted:value]"
    told = await run(command_order(shell("echo ghp_0123456789012345678901234567890123456 >&2; exit 3")))
    assert told.outcome.reason == "agent exited with 3: [redacted:github-token]"


SILENT = b"""
from passgrid import policy

@policy('silent')
def silent(turn):
    return ''
"""


def sandboxed(declared: dict[str, Any], **changes: Any) -> AttemptOrder:
    order = command_order(declared, mode=Mode.SANDBOX, recordings=(cassette(),), cassette=None, **changes)
    return replace(order, model=parse_model_reference("scripted:silent"), suite_files={"policies.py": SILENT})


@pytest.mark.parametrize(
    "declared",
    [
        {"command": "sh", "args": ["-c", "echo login $0 >&2; exit 2", "${env:MY_LOGIN}"]},
        {"command": "sh", "args": ["-c", 'echo login "${0#Basic }" >&2; exit 2', "Basic ${env:MY_LOGIN}"]},
        shell('echo login "${GIVEN#Basic }" >&2; exit 2', env={"GIVEN": "Basic ${env:MY_LOGIN}"}),
    ],
)
async def test_what_is_taken_from_the_workers_environment_is_in_no_reason(
    declared: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_LOGIN", "hunter2-hunter2")
    result = await run(sandboxed(declared))
    assert result.outcome.reason == "agent exited with 2: login [redacted:value]"


async def test_a_program_that_leaves_the_system_prompt_out_misses() -> None:
    program = LOOP.replace('{"role": "system", "content": os.environ["PASSGRID_SYSTEM"]}, ', "")
    assert program != LOOP
    result = await run(command_order(agent(program)))
    assert result.outcome.kind is OutcomeKind.REPLAY_MISS
    assert result.outcome.reason == 'model turn 2: the system prompt differs recorded "You answer.", now ""'
    without = await run(command_order(agent(program), cassette(system=None)))
    assert without.outcome.kind is OutcomeKind.PASSED, without.outcome


async def test_a_replayed_agent_reaches_no_unix_socket_of_the_machine(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as outside:
        outside.bind(str(tmp_path / "docker.sock"))
        outside.listen()
        program = f"import socket; socket.socket(socket.AF_UNIX).connect({str(tmp_path / 'docker.sock')!r})"
        result = await run(command_order(agent(program)))
    assert result.outcome.kind is OutcomeKind.FAILED
    assert "Permission denied" in result.outcome.reason


async def test_a_replayed_agent_cannot_change_its_suite(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text('echo "exit 0" >"$0"; cat "$0"')
    result = await run(command_order({"command": "sh", "args": ["${suite}/agent.sh"]}, suite_folder=tmp_path))
    assert result.messages[-1]["content"] == 'echo "exit 0" >"$0"; cat "$0"'
    assert (tmp_path / "agent.sh").read_text() == 'echo "exit 0" >"$0"; cat "$0"'


async def test_a_replay_whose_hidden_folders_hold_what_the_agent_needs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSGRID_HOME", str(tmp_path))
    result = await run(command_order(agent(LOOP), suite_folder=tmp_path / "suite"))
    assert result.outcome.name == "infra_error(no_namespace)"
    assert "must be hidden from a replayed agent" in result.outcome.reason
