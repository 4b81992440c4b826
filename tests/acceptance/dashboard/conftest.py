"""The runs of these screens: the imported airline suite, and one that another tool measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import Installation, airline
from tests.unit.passgrid.importers.xplainable_files import case, published_run, results


@pytest.fixture(scope="session")
def run(installation: Installation, airline_suite: Path) -> dict[str, Any]:
    return installation.json(*airline(airline_suite, "--wait", "--label", "release 9"), timeout=300)


@pytest.fixture(scope="session")
def imported(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The id of a run of two models that another tool measured: one reaches a stage less."""
    folder = tmp_path_factory.mktemp("results")
    for model, missed in (("anthropic:claude-sonnet-4-6", ()), ("openai:gpt-5-mini", ("deploy",))):
        calls = published_run()["cases"]
        cases = [case(f"{scenario}[{i}]", ("report",) if scenario == "returns" else missed if i == 3 else (),
                      calls[i % 4]["tool_calls"]) for scenario in ("churn", "returns") for i in range(5)]  # fmt: skip
        (folder / f"{model.partition(':')[0]}.json").write_text(json.dumps(results(cases, k=5, model=model)))
    return installation.json("passgrid", "import", "xplainable", *sorted(folder.iterdir()))["runs"][0]["run"]


@pytest.fixture(scope="session")
def dashboard(dashboard: str, installation: Installation, run: dict[str, Any], imported: str) -> str:
    """Its address, when it holds both runs."""
    assert installation.run("passgrid", "export").returncode == 0
    return dashboard
