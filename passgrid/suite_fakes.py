"""The fakes of a suite's scenarios: files are read, and every mistake in them is told with the suite's others."""

from __future__ import annotations

from pathlib import Path

from passgrid.fakes.load_errors import UnusableFakes
from passgrid.fakes.loading import Fakes, load, read_document
from passgrid.fakes_document import FakesDocument
from passgrid.json_values import is_object
from passgrid.problems import Problem
from passgrid.scenario import Scenario
from passgrid.server import mounts_of


def with_fakes(scenario: Scenario, path: Path, folder: Path) -> tuple[Scenario, list[Problem]]:
    """The scenario with its files of fakes read, and what is wrong with them."""
    if not scenario.fakes:
        return scenario, []
    problems: list[Problem] = []
    documents: list[FakesDocument] = []
    for one in scenario.fakes:
        document = one if isinstance(one, FakesDocument) else _read(one, folder, problems)
        if document is not None:
            documents.append(document)
    try:
        loaded = loaded_fakes(documents)
    except UnusableFakes as error:
        problems += [Problem(f"{path} ({one.file})", str(one)) for one in error.errors]
    else:
        problems += _unreachable(scenario, loaded, path)
    return scenario.model_copy(update={"fakes": tuple(documents)}), problems


def loaded_fakes(documents: list[FakesDocument] | tuple[FakesDocument, ...]) -> Fakes:
    """All blocks of some documents. Raises `UnusableFakes`."""
    fakes = Fakes()
    for document in documents:
        fakes = load(fakes, document.to_json(), document.source).fakes
    return fakes


def _read(name: str, folder: Path, problems: list[Problem]) -> FakesDocument | None:
    file = folder / name
    try:
        document = read_document(file.read_bytes(), name)
    except OSError as error:
        problems.append(Problem(str(file), f"cannot be read: {error.strerror}", "a scenario names it under fakes"))
        return None
    except UnusableFakes as error:
        problems += [Problem(str(file), one.message) for one in error.errors]
        return None
    if not is_object(document) or "mcpFakes" not in document:
        problems.append(Problem(str(file), "has no mcpFakes", "fixtures of models are for `passgrid gateway`"))
        return None
    return FakesDocument(source=name, mcpFakes=document["mcpFakes"])


def _unreachable(scenario: Scenario, fakes: Fakes, path: Path) -> list[Problem]:
    """Mounts that no server of the scenario has: their fakes could never answer."""
    mounts = mounts_of(scenario.mcp_servers)
    remedy = f"mounts here: {', '.join(f'{mount} ({name})' for name, mount in mounts.items()) or 'none'}"
    return [
        Problem(str(path), f"fakes are declared for {mount}, which no server has", remedy)
        for mount, one in fakes.mounts.items()
        if one.blocks and mount not in mounts.values()
    ]
