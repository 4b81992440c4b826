from dashboard.arm_names import arm_key
from passgrid.report.facts import ArmName
from tests.unit.dashboard.analysis_files import START, AnalysisFiles, run_id
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import addresses, chart_rows, charts, links, no_traceback, rows, said


def attempt_id(key: int) -> str:
    return f"{key:04x}".ljust(32, "a")


def full(files: AnalysisFiles) -> int:
    """An attempt with everything an attempt can have."""
    key = files.attempt(files.run(), "book", 0, "failed", input_tokens=24_000, output_tokens=700, cost_usd=0.0123)
    for seq, tool in enumerate(("search", "pay", "search")):
        files.tool_call(key, seq, tool, error=tool == "pay", error_text="card refused" if tool == "pay" else None)
    files.other(
        "model_calls", key, turn=1, answered="recorded", input_tokens=10, output_tokens=5, started_ms=1, duration_ms=2
    )
    files.check(key, "text", True)
    files.check(key, "reward", False, imported=True)
    files.check(key, "order", None)
    files.other("tries", key, fence=1, worker="host:7", started_at=START, ended_at=START, reason="worker_lost")
    files.other("tries", key, fence=2, worker="host:8", started_at=START, ended_at=START, reason="finished")
    files.transcript(
        key,
        [
            {"role": "system", "content": "Be good."},
            {"role": "user", "content": "Buy it."},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "pay", "arguments": {"eur": 5}}]},
            {"role": "tool", "tool_call_id": "1", "name": "pay", "content": '{"a":{"b":1}}', "outcome": "failed"},
            {"role": "assistant", "content": "I could not.", "thinking": ["hm"]},
        ],
    )
    return key


def test_the_header_says_how_it_ended_and_what_it_used(files: AnalysisFiles, open_page: Open) -> None:
    key = full(files)
    files.publish()
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(key))
    no_traceback(app)
    text = said(app)
    assert ":red-badge[failed]" in text
    assert "the order is missing" in text
    assert {metric.label: metric.value for metric in app.metric} == {
        "Tool calls": "2",
        "Wasted calls": "0",
        "Model turns": "3",
        "Duration": "1.5 s",
        "Tokens in / out": "24k / 700",
        "Cost": "$0.0123",
        "Tries": "1",
        "Worker": "host:8",
    }
    found = {row["check"]: (row["result"], row["verdict by"]) for row in rows(app)}
    assert found == {
        "text": ("✓ pass", "Passgrid"),
        "reward": ("✗ fail", "imported: another tool"),
        "order": ("could not be made", "Passgrid"),
    }
    assert [row["ended because"] for row in rows(app, 1)] == ["worker_lost", "finished"]


def test_the_timeline_has_lanes_and_the_most_called_tool(files: AnalysisFiles, open_page: Open) -> None:
    key = full(files)
    files.publish()
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(key))
    assert "Most called: **search**, 2/3" in said(app)
    data = chart_rows(app)
    assert [(row["lane"], row["kind"]) for row in data] == [
        ("model", "model turn"),
        ("2/3  search", "most called"),
        ("1/3  pay", "tool error"),
        ("2/3  search", "most called"),
    ]
    assert data[2]["error"] == "card refused"
    assert data[2]["arguments"] == '{"id": 1}'
    assert [round(row["end"] - row["start"], 3) for row in data] == [2, 0.04, 0.04, 0.04]
    assert [layer["mark"]["type"] for layer in charts(app)[0]["layer"]] == ["bar", "tick"]


def test_calls_of_an_agent_without_a_model_are_its_own(files: AnalysisFiles, open_page: Open) -> None:
    key = files.attempt(files.run(), agent="shell", model_turns=0)
    for seq, tool in enumerate(("count", "order")):
        files.tool_call(key, seq, tool, turn=0)
    files.publish()
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(key))
    assert "2 tool calls, none repeated" in said(app)
    assert [(row["lane"], row["kind"], row["call"]) for row in chart_rows(app)] == [
        ("1/2  count", "tool call", "#1 count, asked for by no model turn"),
        ("1/2  order", "tool call", "#2 order, asked for by no model turn"),
    ]


def test_what_an_agent_told_its_model_stands_beside_the_answer(files: AnalysisFiles, open_page: Open) -> None:
    key = files.attempt(files.run())
    files.transcript(key, [{"role": "tool", "tool_call_id": "1", "name": "count", "content": "420", "told": "many"}])
    files.publish()
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(key))
    assert [code.value for code in app.code] == ["420", "many"]
    assert "What the agent told its model of it:" in said(app)


def test_the_transcript_is_readable(files: AnalysisFiles, open_page: Open) -> None:
    key = full(files)
    files.publish()
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(key))
    codes = [code.value for code in app.code]
    assert '{"eur": 5}' in codes
    assert '{\n  "a": {\n    "b": 1\n  }\n}' in codes
    assert "tool error: failed" in said(app)
    assert "Buy it." in said(app)
    assert [expander.label for expander in app.expander] == [
        "Text: 8 characters, 1 lines",
        "Thinking",
        "2 tries: where and when it ran",
    ]


def test_neighbours_and_the_way_back(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(1))
    assert links(app) == ["← Compare"]
    assert [button.label for button in app.button] == [":blue[sample 1 →]"]
    assert addresses(app)[0][0] == "compare"
    assert "scenario=shop%2Fbook" in addresses(app)[0][1]
    app.button[0].click().run()
    assert app.query_params["attempt"] == attempt_id(2)
    assert [button.label for button in app.button] == [":blue[← sample 0]"]


def test_choosing_writes_the_address(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(2))
    app.selectbox(key="attempt_scenario").select("shop/cancel").run()
    assert app.query_params == {"run": run_id(1), "attempt": attempt_id(4)}
    app.selectbox(key="attempt_sample").select(attempt_id(3)).run()
    assert app.query_params["attempt"] == attempt_id(3)
    app.selectbox(key="attempt_arm").select(
        arm_key(ArmName(run_id(1), "nightly", "replay", "recorded:large", "plain"))
    ).run()
    assert app.query_params["attempt"] == attempt_id(9)
    app.selectbox(key="attempt_run").select(run_id(2)).run()
    assert app.query_params["run"] == run_id(2)
    no_traceback(app)


def test_unknown_ids_are_said_with_what_to_do(two: AnalysisFiles, open_page: Open) -> None:
    app = open_page("attempt_page.py", run="nowhere", attempt="nothing")
    no_traceback(app)
    text = said(app)
    assert "The run in this address is not in the export." in text
    assert "The attempt in this address is not in the export." in text
    assert "nowhere" in text
    assert "passgrid export" in text


def test_an_attempt_that_is_still_queued_has_dashes(files: AnalysisFiles, open_page: Open) -> None:
    run = files.run(state="active")
    nothing = dict.fromkeys(("tool_calls", "wasted_calls", "model_turns", "duration_s"))
    key = files.attempt(run, outcome=None, tries=0, **nothing)
    files.publish()
    app = open_page("attempt_page.py", run=run, attempt=attempt_id(key))
    no_traceback(app)
    assert ":gray-badge[unfinished]" in said(app)
    assert "No message was kept" in said(app)
    assert [metric.value for metric in app.metric] == ["–"] * 6 + ["0", "–"]


def test_a_call_that_never_came_back_is_drawn(files: AnalysisFiles, open_page: Open) -> None:
    key = files.attempt(files.run())
    files.tool_call(key, 0, duration_ms=None, result_bytes=None)
    files.publish()
    app = open_page("attempt_page.py", run=run_id(1), attempt=attempt_id(key))
    no_traceback(app)
    assert chart_rows(app)[0]["took"] == "never came back"
