"""Small suites and cassettes for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import COMPLETED_ENDING, Cassette, Step
from passgrid.cassettes.layout import CassetteFolder
from passgrid.matrix import Mode, Prompt
from passgrid.model_reference import parse_model_reference
from passgrid.scenario import Scenario

SYSTEM = "You answer."
TOOLS = ({"server": "stock", "name": "count", "description": "How many.", "inputSchema": {"type": "object"}},)


def say(text: str) -> Step:
    return {"model": {"parts": [{"text": text}]}}


def ask(tool: str, args: Any, call_id: str = "c1") -> Step:
    return {"model": {"parts": [{"call": tool, "id": call_id, "args": args}]}}


def answer(result: Any, call: int = 0) -> Step:
    return {"calls": [{"call": call, "server": "stock", "result": result}]}


COUNTING = ({"user": "How many bolts?"}, ask("count", {"item": "bolts"}), answer(5), say("there are 5"))


def cassette(steps: Sequence[Step] = COUNTING, **changes: Any) -> Cassette:
    values: dict[str, Any] = {
        "scenario": "count",
        "label": "gpt",
        "prompt": "plain",
        "sample": 0,
        "source": {"model": "gpt", "tool": "test"},
        "system": SYSTEM,
        "tools": list(TOOLS),
        "steps": tuple(steps),
        "ending": {"outcome": COMPLETED_ENDING},
    }
    return Cassette(**{**values, **changes})


def scenario(**changes: Any) -> Scenario:
    return Scenario.model_validate({"name": "count", "task": "How many bolts?", **changes})


def replay_order(recorded: Cassette | None = None, of: Scenario | None = None, **changes: Any) -> AttemptOrder:
    values: dict[str, Any] = {
        "attempt_id": "a" * 32,
        "scenario": of or scenario(),
        "prompt": Prompt("plain", SYSTEM),
        "model": parse_model_reference("recorded:gpt"),
        "mode": Mode.REPLAY,
        "sample": 0,
        "cassette": recorded or cassette(),
    }
    return AttemptOrder(**{**values, **changes})


def write_suite(
    root: Path,
    scenarios: Mapping[str, Mapping[str, Any]] | None = None,
    cassettes: Sequence[Cassette] = (),
    name: str = "shop",
) -> Path:
    """A suite on disk with a prompt called plain; one scenario with two recordings by default."""
    suite = root / name
    suite.mkdir(parents=True)
    (root / "prompts").mkdir(exist_ok=True)
    (root / "prompts" / "plain.md").write_text(SYSTEM + "\n")
    (suite / "suite.yaml").write_text("prompt: plain\n")
    checks = [{"final_text": {"contains": "5"}}]
    for scenario_name, document in (scenarios or {"count": {"task": "How many bolts?", "checks": checks}}).items():
        (suite / f"{scenario_name}.yaml").write_text(yaml.safe_dump(dict(document)))
    folder = CassetteFolder(suite)
    for one in cassettes or (cassette(), cassette(sample=1)):
        folder.write(one)
    return suite
