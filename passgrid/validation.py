"""Check suites and cassettes on disk against everything that is published about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import orjson

from passgrid.cassettes.calls import recorded_calls
from passgrid.cassettes.format import BrokenCassette, read_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.payloads import read_payload, references
from passgrid.cassettes.schema import cassette_schema
from passgrid.library import load_suite
from passgrid.problems import InvalidInput, Problem
from passgrid.scenario import Scenario
from passgrid.schedules.schedule_file import schedule_schema
from passgrid.tapes.schema import tape_schema


def scenario_schema() -> dict[str, Any]:
    """JSON Schema of a scenario file."""
    schema = Scenario.model_json_schema(by_alias=True)
    schema["required"] = [name for name in schema.get("required", []) if name != "name"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "scenario": scenario_schema,
    "cassette": cassette_schema,
    "tape": tape_schema,
    "schedule": schedule_schema,
}
"""The published schemas by name."""


def validate_path(path: Path) -> tuple[dict[str, int], list[Problem]]:
    """What was checked at `path` (a suite's folder, or a cassette), counted by kind, and every problem found."""
    if path.is_dir():
        return _validate_suite(path.resolve())
    if path.suffix == ".json" and path.is_file():
        return {"cassettes": 1}, cassette_problems(path, _folder_of(path))
    if path.suffix in {".yaml", ".yml"} and path.is_file():
        return _validate_suite(path.resolve().parent)
    return {}, [Problem(str(path), "neither a suite's folder nor a scenario or cassette file")]


def _validate_suite(folder: Path) -> tuple[dict[str, int], list[Problem]]:
    try:
        scenarios = len(load_suite(folder).scenarios)
        problems: list[Problem] = []
    except InvalidInput as error:
        scenarios, problems = 0, list(error.problems)
    cassettes = CassetteFolder(folder)
    count = 0
    for path in cassettes.files():
        count += 1
        problems += cassette_problems(path, cassettes)
    return {"scenarios": scenarios, "cassettes": count}, problems


def _folder_of(path: Path) -> CassetteFolder:
    """The suite's recordings that a cassette file lies in: `cassettes/<label>/<prompt>/<scenario>/<n>.json`."""
    return CassetteFolder(path.resolve().parents[4] if len(path.resolve().parents) > 4 else path.parent)


def cassette_problems(path: Path, folder: CassetteFolder) -> list[Problem]:
    """Everything wrong with one cassette: format, version, hash, schema, payloads, calls."""
    try:
        data = path.read_bytes()
        cassette = read_cassette(data)
        for name in references(cassette.to_document()):
            read_payload(name, folder.payload)
        list(recorded_calls(cassette))
    except (BrokenCassette, OSError) as error:
        return [Problem(str(path), str(error))]
    errors = _validator().iter_errors(orjson.loads(data))
    return [Problem(f"{path}: {error.json_path}", error.message[:200]) for error in errors]


@cache
def _validator() -> Any:
    return jsonschema.Draft202012Validator(cassette_schema())
