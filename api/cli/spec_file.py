"""A matrix in a YAML file: the long options of `submit-matrix`, kept with the code they measure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from passgrid.problems import InvalidInput, Problem
from passgrid.yaml_files import read_yaml, validated


class Spec(BaseModel):
    """What a spec file may hold; paths of suites are relative to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suites: tuple[str, ...] | None = None
    scenarios: tuple[str, ...] | None = None
    models: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    targets: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    recordings: str | None = None
    k: int | None = None
    mode: str | None = None
    label: str | None = None
    tags: tuple[str, ...] | None = None
    limit: int | None = None
    priority: int | None = None
    budget: float | None = None
    allow_unpriced: bool | None = None
    max_tries: int | None = None


def read_spec(path: Path) -> dict[str, Any]:
    """The options a spec file sets. Raises `InvalidInput` with every mistake in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput([Problem(str(path), f"cannot be read: {error}")]) from None
    value, problems = read_yaml(path, text)
    if problems:
        raise InvalidInput(problems)
    spec, problems = validated(Spec, value, path, text)
    if spec is None:
        raise InvalidInput(problems)
    values = spec.model_dump(exclude_none=True)
    if "suites" in values:
        values["suites"] = tuple(_beside(path, suite) for suite in values["suites"])
    return values


def _beside(path: Path, suite: str) -> str:
    folder = path.parent / suite
    return str(folder) if folder.is_dir() else suite
