"""A dataset of pydantic-evals (YAML or JSON) as a suite: a case is a scenario, its evaluators are its checks.

The task is `inputs`: a text as it is, an object with one text that text, anything else as JSON. Evaluators of the
library become `evaluator` checks; the rubric of the first one that asks a model becomes the scenario's judge. Others
are referred to as `checks.py:Name`, where the suite has to define them; the import says which.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson
import pydantic_evals.evaluators as built_in
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic_evals.evaluators import EvaluatorSpec

from passgrid.conditions import MODEL_EVALUATORS
from passgrid.importers.result_file import file_bytes
from passgrid.importers.suite_writer import write_suite
from passgrid.json_values import is_object
from passgrid.parts import NAME_PATTERN
from passgrid.problems import InvalidInput, Problem
from passgrid.yaml_files import read_yaml, validated

CHECKS_FILE = "checks.py"
DEFAULT_JUDGE = "openai:gpt-5.2"
"""The model of the library's own judge, where a dataset names none."""


class _Case(BaseModel):
    """As the library serializes it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str | None = None
    inputs: JsonValue
    metadata: JsonValue = None
    expected_output: JsonValue = None
    evaluators: tuple[EvaluatorSpec, ...] = ()


class _Dataset(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str | None = None
    cases: tuple[_Case, ...] = Field(min_length=1)
    evaluators: tuple[EvaluatorSpec, ...] = ()
    report_evaluators: tuple[EvaluatorSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedDataset:
    """What was written, and what is left to do."""

    folder: Path
    scenarios: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"suite": str(self.folder), "scenarios": self.scenarios, "notes": list(self.notes)}


def import_dataset(file: Path, out: Path, suite: str) -> ImportedDataset:
    """Write the suite `out/suite`.

    Raises:
        InvalidInput: the file is no dataset, a name cannot be one of a folder, arguments do not fit their evaluator,
            or the suite exists; every problem at once.
    """
    problems: list[Problem] = []
    if not re.match(NAME_PATTERN, suite):
        remedy = "use letters, digits, dot, dash and underscore"
        problems.append(Problem("--suite", f"{suite!r} cannot be the name of a folder", remedy))
    dataset = _read(file)
    names = _names(dataset.cases)
    scenarios = {
        name: _scenario(f"{file}, case {name}", case, dataset.evaluators, problems)
        for name, case in zip(names, dataset.cases, strict=True)
    }
    if problems:
        raise InvalidInput(problems)
    description = f"{dataset.name or file.stem}, a dataset of pydantic-evals"
    folder = write_suite(out, suite, facts={"description": description}, scenarios=scenarios, cassettes=(), prompts={})
    return ImportedDataset(folder, len(scenarios), tuple(_notes(folder, dataset, scenarios)))


def _read(file: Path) -> _Dataset:
    try:
        text = file_bytes(file).decode()
    except UnicodeDecodeError as error:
        raise InvalidInput([Problem(str(file), f"is no text: {error}")]) from None
    document, problems = read_yaml(file, text)  # JSON is YAML
    if not problems and is_object(document):
        document.pop("$schema", None)
    dataset, found = (None, problems) if problems else validated(_Dataset, document, file, text)
    if dataset is None:
        raise InvalidInput(found)
    return dataset


def _names(cases: Sequence[_Case]) -> list[str]:
    """Names that can be files, each once."""
    names: list[str] = []
    for number, case in enumerate(cases, 1):
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", case.name or "").strip("-._")[:80] or f"case-{number:02d}"
        names.append(f"{plain}-{number}" if plain in names else plain)
    return names


def _scenario(place: str, case: _Case, of_all: Sequence[EvaluatorSpec], problems: list[Problem]) -> dict[str, Any]:
    asking, specs = _split([*of_all, *case.evaluators])
    judge = next((found for spec in asking if (found := _judge(spec)) is not None), None)
    counted = Counter(spec.name for spec in specs)
    checks: list[dict[str, Any]] = []
    for number, spec in enumerate(specs, 1):
        named = {"name": f"{spec.name}-{number}"} if counted[spec.name] > 1 else {}
        checks.append(named | {"evaluator": _evaluator(place, spec, case.expected_output, problems)})
    description = case.metadata.get("description") if is_object(case.metadata) else None
    return {
        **({"description": description} if isinstance(description, str) else {}),
        "task": _task(case.inputs),
        "checks": checks,
        **({"judge": judge} if judge is not None else {}),
        "tags": ["pydantic-evals"],
    }


def _split(specs: Sequence[EvaluatorSpec]) -> tuple[list[EvaluatorSpec], list[EvaluatorSpec]]:
    """Evaluators that ask a model, and the others."""
    asking = [spec for spec in specs if spec.name in MODEL_EVALUATORS]
    return asking, [spec for spec in specs if spec.name not in MODEL_EVALUATORS]


def _judge(spec: EvaluatorSpec) -> dict[str, str] | None:
    """A judge with the rubric of an `LLMJudge`; None where there is none, or its model cannot be named."""
    given = {**dict(zip(("rubric", "model"), spec.args, strict=False)), **spec.kwargs}
    rubric, model = given.get("rubric"), given.get("model", DEFAULT_JUDGE)
    if spec.name != "LLMJudge" or not (isinstance(rubric, str) and rubric and isinstance(model, str)):
        return None
    return {"model": model, "rubric": rubric}


def _task(inputs: JsonValue) -> str:
    if isinstance(inputs, str):
        return inputs
    if is_object(inputs) and len(inputs) == 1 and isinstance(text := next(iter(inputs.values())), str):
        return text
    return orjson.dumps(inputs, option=orjson.OPT_INDENT_2).decode()


def _evaluator(place: str, spec: EvaluatorSpec, expected: JsonValue, problems: list[Problem]) -> dict[str, Any]:
    kind = _built_in(spec.name)
    arguments = dict(spec.kwargs)
    if kind is None:
        name = f"{CHECKS_FILE}:{spec.name}"
        arguments |= {"value": spec.args[0]} if spec.args else {}
    else:
        name = spec.name
        fields = [field.name for field in dataclasses.fields(kind) if field.init]
        arguments |= dict(zip(fields, spec.args, strict=False))
        if unknown := [one for one in arguments if one not in fields]:
            message = f"{spec.name} has no argument {', '.join(unknown)}"
            problems.append(Problem(place, message, f"there are: {', '.join(fields)}"))
    found: dict[str, Any] = {"name": name}
    if arguments:
        found["arguments"] = arguments
    if expected is not None:
        found["expected_output"] = expected
    return found


def _built_in(name: str) -> Any:
    """The library's evaluator of this name; None where it has none."""
    kind: Any = getattr(built_in, name, None)
    fits = isinstance(kind, type) and issubclass(kind, built_in.Evaluator) and dataclasses.is_dataclass(cast(Any, kind))
    return cast(Any, kind) if fits else None


def _notes(folder: Path, dataset: _Dataset, scenarios: Mapping[str, Mapping[str, Any]]) -> list[str]:
    everything = [*dataset.evaluators, *(spec for case in dataset.cases for spec in case.evaluators)]
    asking, specs = _split(everything)
    own = sorted({spec.name for spec in specs if _built_in(spec.name) is None})
    bare = [name for name, document in scenarios.items() if not document["checks"]]
    notes = [f"define {', '.join(own)} in {folder / CHECKS_FILE}: evaluators of your own"] if own else []
    if dataset.report_evaluators:
        notes.append(f"left out, they judge a whole report: {', '.join(one.name for one in dataset.report_evaluators)}")
    if asking:
        kept = sum("judge" in document for document in scenarios.values())
        notes.append(
            f"{len(asking)} evaluators ask a model: {kept} scenarios have the first rubric as their judge, which "
            "stands beside the verdict; further ones are left out"
        )
    if bare:
        notes.append(f"without any check, so that completing is enough: {', '.join(bare[:10])}")
    return notes
