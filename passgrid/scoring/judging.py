"""Asking a judge, and reading what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

from passgrid.judge import ASKED_FOR, Judge
from passgrid.scoring.evidence import Evidence
from passgrid.scoring.texts import as_text
from passgrid.scoring.verdict import Verdict

JUDGE_SECONDS = 60.0
SHOWN = 2_000
"""Characters of each message a judge is shown."""


async def judgement(judge: Judge, evidence: Evidence, model: Model, settings: ModelSettings | None) -> dict[str, Any]:
    """What the judge says of an attempt: `{"prompt_hash", "model", "said"}`, or `"error"` instead of what it said.

    Args:
        judge: as declared.
        evidence: what it is shown.
        model: the judge's, metered and gated like the agent's.
        settings: of its requests.
    """
    known = {"prompt_hash": judge.prompt_hash, "model": judge.model}
    agent: Agent[None, str] = Agent(model, system_prompt=ASKED_FOR, model_settings=settings)
    try:
        async with asyncio.timeout(JUDGE_SECONDS):
            answer = await agent.run(shown(judge, evidence))
    except Exception as error:  # noqa: BLE001 - a second opinion that is not to be had ends no attempt
        return {**known, "error": f"{type(error).__name__}: {error}"[:500]}
    return {**known, "said": answer.output}


def shown(judge: Judge, evidence: Evidence) -> str:
    """What a judge reads: the rubric, and the conversation with its calls."""
    return f"Rubric:\n{judge.rubric}\n\nConversation:\n" + "\n".join(_line(message) for message in evidence.messages)


def _line(message: Mapping[str, Any]) -> str:
    text = as_text(message.get("content") or "")[:SHOWN]
    asked = message.get("tool_calls") or ()
    calls = "".join(f"\n  calls {call['name']} {as_text(call['arguments'])[:SHOWN]}" for call in asked)
    return f"{message['role']}: {text}{calls}"


def opinion(judge: Judge, evidence: Evidence) -> Verdict:
    """The judge's verdict as a check has one."""
    found = evidence.judge
    if not found:
        return None, "no judge was asked: it is in live attempts, and in recordings made with one"
    if found.get("prompt_hash") != judge.prompt_hash:
        return None, "its opinion is by another rubric or model; ask again: --mode live"
    if "error" in found:
        return None, f"it could not be asked: {found['error']}"
    said = str(found.get("said", "")).strip()
    first, _, why = said.partition("\n")
    word = first.strip().strip("*.:# ").upper()
    if word.split(" ")[0].strip(":.,*") not in {"PASS", "FAIL"}:
        return None, f"it said neither PASS nor FAIL: {said[:200]}"
    return word.startswith("PASS"), (why.strip() or first)[:300]
