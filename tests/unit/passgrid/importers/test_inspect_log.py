"""Inspect logs: published ones, and made-up ones with epochs, errors, limits and several scores."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from passgrid.importers.imported_run import ImportedAttempt
from passgrid.importers.inspect_log import read_logs
from passgrid.importers.score_rule import ScoreRule
from passgrid.problems import InvalidInput

ANY = ScoreRule()
QUESTION = {"id": "q", "content": "How many?", "source": "input", "role": "user"}
CALL = {"id": "c", "function": "count", "arguments": {"of": "cups"}}
MESSAGES = [
    QUESTION,
    {"id": "a", "content": "", "source": "generate", "role": "assistant", "tool_calls": [CALL]},
    {"id": "t", "content": "", "role": "tool", "tool_call_id": "c", "function": "count",
     "error": {"type": "timeout", "message": "took too long"}},
    {"id": "b", "content": "Nobody knows.", "source": "generate", "role": "assistant"},
]  # fmt: skip


def sample(name: str | int, epoch: int = 1, value: Any = "C", **more: Any) -> dict[str, Any]:
    return {
        "id": name, "epoch": epoch, "input": "How many?", "target": "4", "messages": MESSAGES, "total_time": 2.5,
        "output": {"model": "m", "choices": []}, "scores": None if value is None else {"match": {"value": value}},
        "model_usage": {"openai/m": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}}, **more,
    }  # fmt: skip


def log(samples: list[Any], ids: list[Any] | None = None, epochs: int = 1, status: str = "success") -> dict[str, Any]:
    spec = {
        "created": "2026-05-01T10:00:00+00:00", "task": "cups", "model": "openai/m", "config": {"epochs": epochs},
        "dataset": {"sample_ids": ids or sorted({one["id"] for one in samples})}, "packages": {"inspect_ai": "0.3.9"},
        "model_generate_config": {"temperature": 0.5, "max_retries": 3},
    }  # fmt: skip
    return {"version": 2, "status": status, "eval": spec, "samples": samples}


def attempts(tmp_path: Path, document: Any, rule: ScoreRule = ANY) -> list[ImportedAttempt]:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    (run,) = read_logs([path], rule).runs
    return list(run.arms[0].attempts)


def test_the_published_logs_give_their_published_accuracy(published_data: Path) -> None:
    folder = published_data / "inspect"
    found = read_logs([folder / "popularity.eval", folder / "browser.json.gz"], ANY)
    popularity, browser = found.runs
    assert found.notes == ()
    assert (popularity.label, popularity.wanted) == ("popularity", 10)
    assert sum(one.outcome.passed for one in popularity.arms[0].attempts) == 8
    (one,) = browser.arms[0].attempts
    assert (one.outcome.name, one.steps, one.model_turns, one.input_tokens) == ("passed", 4, 5, 15235)
    assert [call.tool for call in one.tool_calls] == ["web_browser_go", *["web_browser_click"] * 3]
    assert one.tool_calls[0].arguments == {"url": "https://www.aisi.gov.uk/"}
    assert one.tool_calls[0].duration_ms == pytest.approx(4317.574)
    assert one.cost_usd is None


def test_epochs_are_attempts_and_those_that_are_missing_are_named(tmp_path: Path) -> None:
    given = [sample("a"), sample("a", 2, "I"), sample("b", 2)]
    found = attempts(tmp_path, log(given, ["a", "b", "c"], epochs=2, status="cancelled"))
    assert [(one.scenario, one.sample, one.outcome.name) for one in found] == [
        ("a", 0, "passed"), ("a", 1, "failed"), ("b", 0, "infra_error(lost)"), ("b", 1, "passed"),
        ("c", 0, "infra_error(lost)"), ("c", 1, "infra_error(lost)"),
    ]  # fmt: skip
    assert "sample b, epoch 1 is not in the log; its status is cancelled" in found[2].outcome.reason


def test_errors_and_unscored_samples_are_not_valid_and_limits_are_failures_unless_scored_a_pass(tmp_path: Path) -> None:
    broke = {"message": "boom\nat line 3", "traceback": "", "traceback_ansi": ""}
    limit = {"type": "message", "limit": 20}
    given = [
        sample("a", value=None, error=broke), sample("b", value=None), sample("c", value=float("nan")),
        sample("d", value="I", limit=limit), sample("e", value="C", limit=limit),
        sample("f", value=None, limit={"type": "operator", "limit": 1}),
    ]  # fmt: skip
    found = attempts(tmp_path, log(given))
    assert [one.outcome.name for one in found] == [
        "infra_error(sample_error)", "infra_error(unscored)", "infra_error(unscored)", "limit(turns)", "passed",
        "cancelled",
    ]  # fmt: skip
    assert found[0].outcome.reason == "boom at line 3"


def test_the_conversation_and_its_calls_come_from_messages_where_there_are_no_events(tmp_path: Path) -> None:
    (one,) = attempts(tmp_path, log([sample(1)]))
    (call,) = one.tool_calls
    assert (call.tool, call.arguments, call.error, call.error_text) == ("count", {"of": "cups"}, True, "took too long")
    assert (one.steps, one.wasted_calls, one.model_turns, one.duration_s) == (1, 1, 2, 2.5)
    assert one.messages is not None
    assert [message["role"] for message in one.messages] == ["user", "assistant", "tool", "assistant"]
    assert one.messages[2]["outcome"] == "failed"
    assert (one.cost_usd, one.input_tokens) == (None, 10)


def test_settings_of_the_model_make_an_arm_of_it(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log([sample(1)])))
    warmer = copy.deepcopy(log([sample(1)]))
    warmer["eval"]["model_generate_config"]["temperature"] = 1.0
    (tmp_path / "warm.json.gz").write_bytes(gzip.compress(json.dumps(warmer).encode()))
    (run,) = read_logs([path, tmp_path / "warm.json.gz"], ANY, suite="kitchen").runs
    assert [arm.model for arm in run.arms] == ["openai/m?temperature=0.5", "openai/m?temperature=1.0"]
    assert run.arms[0].attempts[0].suite == "kitchen"


def test_several_scores_ask_which_one_decides(tmp_path: Path) -> None:
    given = sample(1) | {"scores": {"match": {"value": "C"}, "judge": {"value": {"tone": 0.25, "facts": 1}}}}
    with pytest.raises(InvalidInput, match=r"has 3 scores: match, judge.tone, judge.facts .*--score 'match'"):
        attempts(tmp_path, log([given]))
    (one,) = attempts(tmp_path, log([given]), ScoreRule("judge.tone", pass_at=0.2))
    assert one.outcome.passed
    assert {check.name: (check.passed, check.required) for check in one.checks} == {
        "match": (True, False), "judge.tone": (True, True), "judge.facts": (True, False),
    }  # fmt: skip
    with pytest.raises(InvalidInput, match="has no score tone"):
        attempts(tmp_path, log([given]), ScoreRule("tone"))


def test_a_scale_beyond_one_asks_from_where_on_it_is_a_pass(tmp_path: Path) -> None:
    given = [sample(1, value=7), sample(2, value=3)]
    with pytest.raises(InvalidInput, match=r"values such as 7, beyond 0 to 1 .*--pass-at"):
        attempts(tmp_path, log(given))
    found = attempts(tmp_path, log(given), ScoreRule(pass_at=5))
    assert [one.outcome.name for one in found] == ["passed", "failed"]


def test_a_file_that_is_no_log_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.eval").write_bytes(b"PK\x03\x04 cut off")
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(InvalidInput) as error:
        read_logs([tmp_path / "a.eval", tmp_path / "b.json"], ANY)
    assert "a.eval: is no Inspect log" in str(error.value)
    assert "b.json: is no Inspect log" in str(error.value)
