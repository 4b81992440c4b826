"""One results file of xplainable's evals as values: whatever its generation, and as far as it was written.

    label, timestamp, config{model, prompt_id, target, k}, git{…}, cases[]{name "scenario[i]", assertions, scores, …}

What a generation does not have is None or empty, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from passgrid.importers.result_file import file_bytes
from passgrid.json_values import is_array, is_object
from passgrid.problems import InvalidInput, Problem


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, allow_inf_nan=False)


class CaseCall(_Part):
    """One tool call of a case."""

    name: str
    error: bool
    error_text: str | None = None


class CaseUsage(_Part):
    """What a case used."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None


class Case(_Part):
    """One attempt as it stands in the file."""

    name: str
    assertions: dict[str, bool | None]
    scores: dict[str, float | None] = {}
    labels: dict[str, str | None] = {}
    duration: float | None = None
    error: str | None = None
    usage_limit_hit: bool | None = None
    tool_calls: tuple[CaseCall, ...] | None = None
    usage: CaseUsage | None = None


class Config(_Part):
    """What was run."""

    model: str
    prompt_id: str = "default"
    target: str | None = None
    k: int | None = Field(default=None, ge=1)


class Head(_Part):
    """The file without its cases."""

    label: str
    config: Config
    timestamp: datetime | None = None
    git: dict[str, str | None] = {}


@dataclass(frozen=True, slots=True)
class BrokenCase:
    """A case that cannot be read."""

    name: str | None
    """None: it has not even one."""
    reason: str


@dataclass(frozen=True, slots=True)
class CaseFile:
    """The whole file."""

    place: str
    head: Head
    cases: tuple[Case | BrokenCase, ...]
    truncated: bool
    """It ends before its end."""


def read_case_file(path: Path) -> CaseFile:
    """Read one file, cut off or whole.

    Raises:
        InvalidInput: it is no such file, or was cut off before its first case.
    """
    document, truncated, last_is_whole = _document(path)
    raw = document.get("cases")
    if not is_array(raw):
        remedy = "it was cut off before its first case" if truncated else "give a results file of xplainable's evals"
        raise InvalidInput([Problem(str(path), "has no list of cases", remedy)])
    try:
        head = Head.model_validate(document)
    except ValidationError as error:
        raise InvalidInput(
            Problem(f"{path}: {'.'.join(map(str, one['loc']))}", one["msg"]) for one in error.errors()
        ) from None
    whole = raw if last_is_whole else raw[:-1]
    cases = [_case(one, number) for number, one in enumerate(whole)]
    if not last_is_whole and raw:
        cases.append(BrokenCase(_name(raw[-1]), "the file ends in the middle of it"))
    return CaseFile(str(path), head, tuple(cases), truncated)


def _document(path: Path) -> tuple[dict[str, Any], bool, bool]:
    """The document, whether it was cut off, and whether its last case is whole."""
    data = file_bytes(path)
    truncated, last_is_whole = False, True
    try:
        document: Any = orjson.loads(data)
    except ValueError as error:
        try:
            document = from_json(data, allow_partial=True)
        except ValueError:
            raise InvalidInput([Problem(str(path), f"is no JSON: {error}")]) from None
        truncated, last_is_whole = True, _closes(data)
    if not is_object(document):
        raise InvalidInput([Problem(str(path), "is no results file", "it should hold one object with label and cases")])
    return document, truncated, last_is_whole


def _closes(data: bytes) -> bool:
    """Whether only brackets are missing at the end: then no case was cut."""
    text = data.rstrip().removesuffix(b",")
    return any(_is_json(one) for one in (text + b"}", text + b"]}", text[: text.rfind(b"]") + 1] + b"}"))


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except ValueError:
        return False
    return True


def _case(raw: Any, number: int) -> Case | BrokenCase:
    try:
        return Case.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return BrokenCase(_name(raw), f"cases[{number}]{'.' + where if where else ''}: {first['msg']}")


def _name(raw: Any) -> str | None:
    name = raw.get("name") if is_object(raw) else None
    return name if isinstance(name, str) else None
