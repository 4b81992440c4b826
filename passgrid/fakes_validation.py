"""Check files of fakes on disk: blocks for MCP tools, scripted model turns, or both, before a gateway loads them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passgrid.fakes.load_errors import LoadError, UnusableFakes
from passgrid.fakes.loading import Fakes, fake_files, load, read_document
from passgrid.json_values import is_object
from passgrid.model_api.fixture_turns import read_fixture_turns
from passgrid.problems import InvalidInput, Problem

PARTS = ("mcpFakes", "fixtures")
"""What a file of fakes has, one of them at least."""


@dataclass(frozen=True, slots=True)
class CheckedFakes:
    """What some files hold, and what is wrong with them."""

    counts: dict[str, int]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]


def holds_fakes(path: Path) -> bool:
    """Whether a path is a file of fakes, or a folder of such and no suite."""
    if path.is_dir():
        if any(path.glob("*.y*ml")):
            return False
        return any(holds_fakes(file) for file in fake_files(path).values())
    if path.suffix != ".json" or not path.is_file():
        return False
    data = path.read_bytes()
    try:
        document = read_document(data, path.name)
    except UnusableFakes:
        # Not even JSON: then what it was meant to be is told by its words.
        return any(f'"{part}"'.encode() in data for part in PARTS)
    return is_object(document) and any(part in document for part in PARTS)


def check_fakes(path: Path) -> CheckedFakes:
    """Read a file, or every .json file below a folder, and collect every mistake of all of them."""
    files = [path / name for name in fake_files(path)] if path.is_dir() else [path]
    fakes = Fakes()
    problems: list[Problem] = []
    warnings: list[str] = []
    turns = 0
    for file in files:
        source = file.as_posix()
        try:
            document = read_document(file.read_bytes(), source)
            turns += _turns(document, source, problems)
            loaded = load(fakes, document, source)
        except UnusableFakes as error:
            problems += [_problem(one) for one in error.errors]
            continue
        fakes = loaded.fakes
        warnings += loaded.warnings
    blocks = [block for mount in fakes.mounts.values() for block in mount.blocks]
    calls = sum(len(block.entries) for block in blocks)
    counts = {"files": len(files), "blocks": len(blocks), "calls": calls, "fixtures": turns}
    return CheckedFakes(counts, tuple(problems), tuple(warnings))


def _turns(document: Any, source: str, problems: list[Problem]) -> int:
    """How many model turns a document holds."""
    if not is_object(document):
        return 0
    if not any(part in document for part in PARTS):
        problems.append(Problem(source, f"has neither {' nor '.join(PARTS)}", "a gateway would load nothing of it"))
    try:
        return len(read_fixture_turns(document, source))
    except InvalidInput as error:
        problems += error.problems
        return 0


def _problem(error: LoadError) -> Problem:
    """A mistake in a block, with the rule it breaks."""
    rule = error.name if error.rule is None else f"{error.name}:{error.rule}"
    return Problem(error.entry_id or error.block_id or error.file, error.message, rule)
