"""Suites of scripted policies, for tests of what live attempts may do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def write_scripted_suite(
    root: Path, name: str, policies: str, scenarios: Mapping[str, Mapping[str, Any]], **everywhere: Any
) -> Path:
    """A suite whose `policies.py` is `policies`; every scenario asks the same and expects `done`."""
    suite = root / name
    suite.mkdir(parents=True)
    (root / "prompts").mkdir(exist_ok=True)
    (root / "prompts" / "plain.md").write_text("You do what you are asked to.\n")
    (suite / "suite.yaml").write_text("prompt: plain\n")
    (suite / "policies.py").write_text(policies)
    for scenario, more in scenarios.items():
        document = {"task": f"do {scenario}", "checks": [{"final_text": {"equals": "done"}}], **everywhere, **more}
        (suite / f"{scenario}.yaml").write_text(yaml.safe_dump(document))
    return suite
