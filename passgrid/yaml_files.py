"""YAML files by the safe loader, with the line of every mistake."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml
from pydantic import BaseModel, ValidationError

from passgrid.problems import Problem

_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where PyYAML was built with it: ten times as fast."""


_Model = TypeVar("_Model", bound=BaseModel)


def _mapping(loader: Any, node: Any) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in mapping:
            raise yaml.MarkedYAMLError(None, None, f"the key {key!r} stands twice", key_node.start_mark)
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_StrictLoader: Any = type("_StrictLoader", (_SafeLoader,), {})
"""The safe loader, refusing a key that stands twice: YAML would silently take the last."""
_StrictLoader.add_constructor("tag:yaml.org,2002:map", _mapping)


def read_yaml(path: Path, text: str) -> tuple[Any, list[Problem]]:
    """The document's value, or the problem with file, line and column."""
    try:
        return yaml.load(text, Loader=_StrictLoader), []  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        return None, [Problem(place, f"YAML does not parse: {error.problem}")]
    except yaml.YAMLError as error:
        return None, [Problem(str(path), f"YAML does not parse: {error}")]


def validated(model: type[_Model], value: Any, path: Path, text: str) -> tuple[_Model | None, list[Problem]]:
    """`value` as a `model`, or every mistake in it with its line."""
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        problems = [
            Problem(f"{path}:{line_of(text, found['loc'])}", f"{_field(found['loc'])}: {_message(found)}")
            for found in error.errors()
        ]
        return None, sorted(set(problems))


def line_of(text: str, location: Sequence[int | str]) -> int:
    """The line, from 1, of the deepest part of `location` that stands in the document."""
    node: Any = cast(Any, yaml).compose(text, Loader=_SafeLoader)
    line: int = node.start_mark.line + 1 if node is not None else 1
    for step in location:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if found is None:
                continue
            line, node = found[0].start_mark.line + 1, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
    return line


def _field(location: Sequence[int | str]) -> str:
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the scenario"


def _message(found: Any) -> str:
    message = cast(str, found["msg"]).removeprefix("Value error, ")
    if found["type"] == "extra_forbidden":
        return "there is no such key"
    shown = repr(found["input"])
    return message if found["type"] == "missing" or len(shown) > 60 else f"{message}, got {shown}"
