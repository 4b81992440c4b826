"""A suite for measurements: scenarios of five tool calls with their recordings, and scripted models for submissions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from passgrid.cassettes.format import COMPLETED_ENDING, Cassette, Step
from passgrid.cassettes.layout import CassetteFolder

TOOLS = 5
SYSTEM = "You look keys up, one after the other, and then give the answer."
PROMPT = "lookup"
LABEL = "synthetic"


def write_replay_suite(root: Path, scenarios: int, k: int) -> Path:
    """`scenarios` scenarios with `k` recordings each: five tool calls, six model turns."""
    suite = root / "synthetic"
    folder = CassetteFolder(suite)
    _write_prompt(root)
    for i in range(scenarios):
        name = f"lookup-{i:03d}"
        document = {"task": _task(i), "checks": [{"final_text": {"contains": "the answer is 42"}}]}
        _write_scenario(suite, name, document)
        for sample in range(k):
            folder.write(_cassette(name, i, sample))
    (suite / "suite.yaml").write_text(f"prompt: {PROMPT}\n")
    return suite


def write_submission_suite(root: Path, scenarios: int, models: int, prompts: int) -> Path:
    """Scenarios without servers for `models` scripted models and `prompts` prompts."""
    suite = root / "submission"
    for i in range(prompts):
        _write_prompt(root, f"lookup-{i}")
    for i in range(scenarios):
        _write_scenario(suite, f"ask-{i:03d}", {"task": _task(i), "checks": [{"final_text": {"contains": "42"}}]})
    policies = ["from passgrid import policy"]
    policies += [f'@policy("m{i}")\ndef m{i}(turn):\n    return "the answer is 42"' for i in range(models)]
    (suite / "policies.py").write_text("\n\n".join(policies) + "\n")
    return suite


def write_question_suite(root: Path, scenarios: int) -> Path:
    """Scenarios without servers that any model answers in one turn."""
    suite = root / "questions"
    _write_prompt(root)
    for i in range(scenarios):
        _write_scenario(suite, f"ask-{i:04d}", {"task": _task(i), "checks": [{"final_text": {"contains": "done"}}]})
    (suite / "suite.yaml").write_text(f"prompt: {PROMPT}\n")
    return suite


def _task(i: int) -> str:
    return f"question {i}: what is the answer?"


def _write_prompt(root: Path, name: str = PROMPT) -> None:
    path = root / "prompts" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SYSTEM + "\n")


def _write_scenario(suite: Path, name: str, document: Mapping[str, object]) -> None:
    suite.mkdir(parents=True, exist_ok=True)
    (suite / f"{name}.yaml").write_text(yaml.safe_dump(document))


def _cassette(name: str, i: int, sample: int) -> Cassette:
    steps: list[Step] = [{"user": _task(i)}]
    for n in range(TOOLS):
        call = {"call": f"tool{n}", "id": f"call_{n}", "args": {"key": f"k{n}-{sample}"}}
        steps.append({"model": {"parts": [call], "usage": {"input": 10, "output": 5}}})
        steps.append({"calls": [{"call": 0, "server": "lookup", "result": f"value-of-k{n}-{sample}"}]})
    steps.append({"model": {"parts": [{"text": "the answer is 42"}], "usage": {"input": 10, "output": 5}}})
    schema = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
    return Cassette(
        scenario=name,
        label=LABEL,
        prompt=PROMPT,
        sample=sample,
        source={"model": "synthetic", "tool": "benchmark"},
        system=SYSTEM,
        tools=[
            {"server": "lookup", "name": f"tool{n}", "description": "Look a key up.", "inputSchema": schema}
            for n in range(TOOLS)
        ],
        steps=tuple(steps),
        ending={"outcome": COMPLETED_ENDING},
    )
