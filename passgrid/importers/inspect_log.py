"""Inspect logs (`.eval`, or JSON, gzip or plain), read by the `inspect_ai` library: the extra `inspect`.

A log is one arm: its task is the suite, its samples are the scenarios, epochs are attempts. One score decides (see
`score_rule`). Samples that ended in an error or without a score, and those that are not in the log though they were
asked for, are infra errors: wanted, not valid. A limit that was reached and a score that passes is a pass, as there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from inspect_ai.log import EvalLog, EvalSample, EvalSampleLimit, read_eval_log

from passgrid.importers.imported_flags import imported_flags
from passgrid.importers.imported_run import ImportedArm, ImportedAttempt, ImportedCheck, ImportedToolCall
from passgrid.importers.inspect_transcript import bytes_of, messages_of, model_calls_of, tool_calls_of
from passgrid.importers.result_file import ResultFile, Results, file_bytes, lost, results_of
from passgrid.importers.score_rule import ScoreRule, as_number, deciding_score, flat_scores
from passgrid.outcome import LimitName, Outcome, OutcomeKind
from passgrid.problems import InvalidInput, Problem
from passgrid.transcript import ToolCallRecord

SOURCE = "inspect"
_LIMITS = {
    "time": LimitName.TIME, "working": LimitName.TIME, "message": LimitName.TURNS, "turn": LimitName.TURNS,
    "token": LimitName.TOKENS, "context": LimitName.TOKENS, "cost": LimitName.COST,
}  # fmt: skip
_SETTINGS = ("temperature", "top_p", "max_tokens", "reasoning_effort", "reasoning_tokens", "effort", "seed")
"""Settings of a model that make another arm of it."""


def read_logs(files: Sequence[Path], rule: ScoreRule, suite: str | None = None) -> Results:
    """Read logs; those of one task become one run, unless they hold the same model twice.

    Args:
        files: logs.
        rule: which score decides, and from where on it is a pass.
        suite: that the samples belong to; the task's name if not given.

    Raises:
        InvalidInput: with every problem of every file.
    """
    found: list[ResultFile] = []
    problems: list[Problem] = []
    for path in files:
        try:
            found.append(_result_file(str(path), _log(path), rule, suite))
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)
    return results_of(SOURCE, found)


def _log(path: Path) -> EvalLog:
    data = file_bytes(path)
    kind = "eval" if data[:2] == b"PK" else "json"
    try:
        return read_eval_log(BytesIO(data), resolve_attachments="full", format=kind)
    except Exception as error:
        message = f"is no Inspect log: {type(error).__name__}: {str(error)[:300]}"
        raise InvalidInput([Problem(str(path), message, "give an .eval file or a JSON log")]) from error


def _result_file(place: str, log: EvalLog, rule: ScoreRule, suite: str | None) -> ResultFile:
    spec = log.eval
    samples = {(str(one.id), one.epoch): one for one in log.samples or ()}
    scores = {key: flat_scores({name: score.value for name, score in (one.scores or {}).items()})
              for key, one in samples.items()}  # fmt: skip
    decides = deciding_score(place, rule, scores.values())
    in_suite = suite or spec.task
    attempts = tuple(
        _attempt(in_suite, samples[key], scores[key], decides, rule, tuple(spec.tags or ()))
        if key in samples
        else lost(in_suite, key[0], key[1] - 1, _why_missing(log, key))
        for key in _wanted(log, samples)
    )
    return ResultFile(
        place=place,
        label=spec.task,
        arm=ImportedArm(_model(log), attempts=attempts),
        created_at=_moment(spec.created),
        finished_at=_moment(log.stats.completed_at),
        harness={"inspect_ai": version} if (version := spec.packages.get("inspect_ai")) else {},
        notes=tuple(_notes(place, log)),
    )


def _notes(place: str, log: EvalLog) -> Iterator[str]:
    if log.status != "success":
        why = f": {log.error.message.splitlines()[0][:200]}" if log.error and log.error.message else ""
        yield f"{place}: its status is {log.status}{why}"
    if log.eval.dataset.sample_ids is None:
        yield f"{place}: does not list the samples that were asked for; missing ones are not known"


def _model(log: EvalLog) -> str:
    """With its settings, as our own models are written."""
    settings = log.eval.model_generate_config.model_dump(mode="json", exclude_none=True)
    given = [f"{name}={settings[name]}" for name in _SETTINGS if name in settings]
    return f"{log.eval.model}?{'&'.join(given)}" if given else log.eval.model


def _wanted(log: EvalLog, samples: Mapping[tuple[str, int], EvalSample]) -> list[tuple[str, int]]:
    """Sample and epoch, those that are not there too."""
    ids = [str(one) for one in log.eval.dataset.sample_ids or ()]
    ids = list(dict.fromkeys([*ids, *(name for name, _ in samples)]))
    epochs = max([log.eval.config.epochs or 1, *(epoch for _, epoch in samples)])
    return [(name, epoch) for name in ids for epoch in range(1, epochs + 1)]


def _why_missing(log: EvalLog, key: tuple[str, int]) -> str:
    return f"sample {key[0]}, epoch {key[1]} is not in the log; its status is {log.status}"


def _attempt(
    suite: str, sample: EvalSample, scores: Mapping[str, Any], decides: str, rule: ScoreRule, tags: tuple[str, ...]
) -> ImportedAttempt:
    calls, turns, messages = tool_calls_of(sample), model_calls_of(sample), messages_of(sample)
    usage = list(sample.model_usage.values())
    costs = [one.total_cost for one in usage]
    return ImportedAttempt(
        suite=suite,
        scenario=str(sample.id),
        sample=sample.epoch - 1,
        outcome=_outcome(sample, scores, decides, rule),
        steps=len(calls),
        wasted_calls=sum(call.error for call in calls),
        model_turns=len(turns) or sum(message["role"] == "assistant" for message in messages),
        input_tokens=sum(one.input_tokens for one in usage) if usage else None,
        output_tokens=sum(one.output_tokens for one in usage) if usage else None,
        cost_usd=sum(cost for cost in costs if cost is not None) if costs and None not in costs else None,
        duration_s=sample.total_time,
        checks=tuple(_checks(sample, scores, decides, rule)),
        flags=imported_flags(calls, messages),
        tool_calls=tuple(_tool_call(call) for call in calls),
        model_calls=tuple(turns),
        messages=messages,
        tags=tags,
        started_at=_moment(sample.started_at),
        finished_at=_moment(sample.completed_at),
    )


def _tool_call(call: ToolCallRecord) -> ImportedToolCall:
    return ImportedToolCall(
        tool=call.tool,
        arguments=call.arguments,
        error=call.error,
        error_text=call.error_text,
        turn=call.turn,
        result_bytes=bytes_of(call.result),
        started_ms=call.started_ms,
        duration_ms=call.duration_ms,
        asked=call.asked,
    )


def _outcome(sample: EvalSample, scores: Mapping[str, Any], decides: str, rule: ScoreRule) -> Outcome:
    if sample.error is not None:
        return Outcome(OutcomeKind.INFRA_ERROR, "sample_error", " ".join(sample.error.message.split())[:300])
    if sample.invalidation is not None:
        return Outcome(OutcomeKind.INFRA_ERROR, "invalidated", sample.invalidation.reason or "somebody invalidated it")
    limit = _limit(sample.limit)
    if limit is not None and limit.kind is OutcomeKind.CANCELLED:
        return limit
    number = as_number(scores.get(decides))
    if number is None:
        unscored = f"no value of score {decides} can be read" if decides else "the sample has no score"
        return limit or Outcome(OutcomeKind.INFRA_ERROR, "unscored", unscored)
    if rule.passes(number):
        return Outcome(OutcomeKind.PASSED)
    return limit or Outcome(OutcomeKind.FAILED, "", f"{decides} is {scores[decides]}")


def _limit(found: EvalSampleLimit | None) -> Outcome | None:
    if found is None:
        return None
    if found.type == "operator":
        return Outcome(OutcomeKind.CANCELLED, "", "stopped by its operator")
    reason = found.reason or f"limit of {found.type}: {found.limit:g}"
    return Outcome(OutcomeKind.LIMIT, str(_LIMITS.get(found.type, "")), reason)


def _checks(sample: EvalSample, scores: Mapping[str, Any], decides: str, rule: ScoreRule) -> Iterator[ImportedCheck]:
    """The score that decides, and the others for information."""
    for name, value in scores.items():
        number, mine = as_number(value), name == decides
        told = (sample.scores or {}).get(name)
        words = [str(value), *([f"answer: {told.answer}"] if told is not None and told.answer else [])]
        passed = None if number is None else (rule if mine else ScoreRule()).passes(number)
        yield ImportedCheck(name, passed, required=mine, kind="score", detail="; ".join(words)[:500])


def _moment(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None
