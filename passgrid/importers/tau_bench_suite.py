"""A tau-bench file as a suite on disk."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passgrid.importers.suite_writer import write_suite
from passgrid.importers.tau_bench import PROMPT, read_trajectories, scenario_document, to_cassette, tool_names
from passgrid.parts import NAME_PATTERN
from passgrid.problems import InvalidInput, Problem


@dataclass(frozen=True, slots=True)
class Imported:
    """What was written."""

    folder: Path
    scenarios: int
    cassettes: int
    k: int
    """Trials that every task has."""

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"suite": str(self.folder), "scenarios": self.scenarios, "cassettes": self.cassettes, "k": self.k}


def import_suite(file: Path, out: Path, suite: str, label: str) -> Imported:
    """Write scenarios, cassettes and the prompt of a tau-bench file below `out`.

    Raises `InvalidInput` where the file cannot be read, a name cannot be one of a folder, or the suite exists.
    """
    wrong = [
        Problem(flag, f"{name!r} cannot be the name of a folder", "use letters, digits, dot, dash and underscore")
        for flag, name in (("--suite", suite), ("--label", label))
        if not re.match(NAME_PATTERN, name)
    ]
    if wrong:
        raise InvalidInput(wrong)
    trajectories = read_trajectories(file)
    tools = tool_names(trajectories)
    cassettes = [to_cassette(trajectory, label, tools) for trajectory in trajectories]
    systems = {cassette.system for cassette in cassettes}
    if len(systems) != 1:
        raise InvalidInput([Problem(str(file), f"holds {len(systems)} system prompts; one is expected")])
    scenarios = {trajectory.scenario: scenario_document(trajectory) for trajectory in trajectories}
    folder = write_suite(
        out,
        suite,
        facts={"description": f"tau-bench trajectories from {file.name}", "prompt": PROMPT},
        scenarios=scenarios,
        cassettes=cassettes,
        prompts={PROMPT: systems.pop()},
    )
    trials = Counter(trajectory.scenario for trajectory in trajectories)
    return Imported(folder, len(scenarios), len(cassettes), min(trials.values()))
