"""What a check may ask: the vocabulary of `checks` and `stages` in a scenario file."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from passgrid.json_values import is_object
from passgrid.parts import Name, Part, RelativePath

PYTHON_NAME = r"^[A-Za-z0-9_./-]+\.py:[A-Za-z_][A-Za-z0-9_]*$"


class NumberMatch(Part):
    """A number somewhere in a text."""

    value: float
    tolerance: float = Field(default=0.0, ge=0, description="How far it may be off.")
    relative: float = Field(default=0.0, ge=0, description="The same as a share of the value, 0.01 for 1 %.")


class TextMatch(Part):
    """What a text must be; at least one, and all that are given."""

    equals: str | None = None
    contains: str | tuple[str, ...] | None = Field(default=None, description="One text or several, all required.")
    matches: str | None = Field(default=None, description="A regular expression, searched for.")
    number: NumberMatch | None = Field(default=None, description="One of the numbers in it must be this one.")
    json_schema: dict[str, Any] | None = Field(default=None, description="It is JSON that satisfies this JSON Schema.")
    ignore_case: bool = Field(default=False, description="Of equals, contains and matches.")
    plain_numbers: bool = Field(default=False, description="Read 1,164 as 1164 before looking.")

    @field_validator("matches")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"not a regular expression: {error}") from None
        return pattern

    @field_validator("json_schema")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        if schema is not None:
            # Only where one is given: the library takes a while to import.
            from jsonschema import SchemaError
            from jsonschema.validators import validator_for

            try:
                validator_for(schema).check_schema(schema)
            except SchemaError as error:
                raise ValueError(f"not a JSON Schema: {error.message}") from None
        return schema

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self._condition_free():
            raise ValueError("say what is expected: equals, contains, matches, number or json_schema")
        return self

    def _condition_free(self) -> bool:
        given = (self.equals, self.contains, self.matches, self.number, self.json_schema)
        return all(condition is None for condition in given)


class _MaybeMatch(TextMatch):
    """A text that may be asked for; being there at all is a condition too."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        return self


class ToolPattern(Part):
    """Calls of a tool, with these arguments among their own.

    A value may refer to something of this very attempt: `{$created: KIND}` to the id of an artifact it made,
    `{$result: {tool: NAME, path: a.b}}` to a value an earlier call of it answered.
    """

    tool: str = Field(min_length=1)
    server: str | None = None
    arguments: dict[str, JsonValue] = Field(
        default_factory=dict, description="Each given argument must be equal; others may be there."
    )

    @field_validator("arguments")
    @classmethod
    def _known_references(cls, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name, value in arguments.items():
            if is_object(value) and any(key.startswith("$") for key in value):
                result: Any = value.get("$result")
                whole = is_object(result) and set(result) <= {"tool", "path"} and isinstance(result.get("tool"), str)
                if not (len(value) == 1 and (isinstance(value.get("$created"), str) or whole)):
                    raise ValueError(f"{name}: write {{$created: KIND}} or {{$result: {{tool: NAME, path: a.b}}}}")
        return arguments


class ToolCalled(ToolPattern):
    """A tool was called."""

    succeeded: bool = Field(default=True, description="Whether only a call that did not err counts.")
    at_least: int = Field(default=1, ge=1, description="So many such calls.")
    at_most: int | None = Field(default=None, ge=1)


class ToolResult(TextMatch):
    """What a tool answered at last."""

    tool: str = Field(min_length=1)
    server: str | None = None
    path: str | None = Field(default=None, description="The part of the answer that is looked at, such as `order.id`.")


class FileCheck(_MaybeMatch):
    """A file of the workspace at the end of the attempt."""

    path: RelativePath
    exists: bool = Field(default=True, description="false: the file must be gone.")
    change: Literal["created", "changed", "deleted", "none"] | None = Field(
        default=None, description="How it differs from the template."
    )

    @model_validator(mode="after")
    def _gone_has_no_text(self) -> Self:
        gone = not self.exists or self.change == "deleted"
        if gone and not self._condition_free():
            raise ValueError("a file that must not exist has no text to compare")
        return self


class ArtifactCheck(Part):
    """What the attempt made, changed or removed on the platform, by its ledger."""

    kind: Name = Field(description="As the ledger calls it.")
    change: Literal["created", "changed", "gone"] = "created"
    where: dict[str, JsonValue] = Field(default_factory=dict, description="Fields it must have, by path.")
    at_least: int = Field(default=1, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _can_be(self) -> Self:
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError("at_most is less than at_least")
        return self


class ReadBack(_MaybeMatch):
    """What a server says when it is asked after the attempt, before anything is taken away."""

    server: Name | None = Field(default=None, description="Needed where a scenario has several.")
    tool: str | None = None
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    resource: str | None = Field(default=None, description="The URI of a resource to read instead of a tool to call.")
    path: str | None = Field(
        default=None, description="The part of the answer that is looked at, such as `order.state`."
    )
    value: JsonValue = Field(default=None, description="What it must equal, as JSON.")

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        if (self.tool is None) == (self.resource is None):
            raise ValueError("name either a tool or a resource")
        if self._condition_free() and "value" not in self.model_fields_set:
            raise ValueError("say what is expected: value, equals, contains, matches, number or json_schema")
        return self


class EndStateCheck(Part):
    """The state of the platform after the attempt (`end_state` of the scenario says how it is read)."""

    reference: bool = Field(default=False, description="It equals the state after the reference's calls.")
    path: str | None = Field(default=None, description="The part that is looked at, such as `orders.0.state`.")
    value: JsonValue = Field(default=None, description="What that part must equal, as JSON.")

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.reference == ("value" in self.model_fields_set):
            raise ValueError("say what it must equal: either `reference: true` or a value")
        return self


MODEL_EVALUATORS = frozenset({"LLMJudge", "GEval"})
"""Evaluators of pydantic-evals that buy an answer."""


class Evaluator(Part):
    """An evaluator of pydantic-evals, by name or from the suite."""

    name: str = Field(min_length=1, description="Such as Contains, or `checks.py:MyEvaluator`.")
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    expected_output: JsonValue = None
    at_least: float | None = Field(default=None, description="The score from which on it passes; true when absent.")

    @field_validator("name")
    @classmethod
    def _asks_no_model(cls, name: str) -> str:
        if name in MODEL_EVALUATORS:
            raise ValueError(f"{name} asks a model, beside the run's budget; use `judge` of the scenario")
        return name


class Check(Part):
    """One condition on a finished attempt: exactly one kind, and what it is called."""

    name: Name | None = Field(default=None, description="Shown in reports; made from the kind when absent.")
    required: bool = Field(default=True, description="false: shown beside the pass, never part of it.")
    only: tuple[Literal["replay", "sandbox", "live", "drift"], ...] = Field(
        default=(), description="The modes in which it is made; in the others it is absent. All when empty."
    )
    final_text: TextMatch | None = Field(default=None, description="The agent's last message.")
    said: TextMatch | None = Field(default=None, description="Everything the agent said.")
    tool_called: ToolCalled | None = Field(default=None, description="Calls the agent made.")
    tool_never_called: ToolPattern | None = Field(default=None, description="A call the agent must not make.")
    tools_in_order: tuple[ToolPattern | Annotated[str, Field(min_length=1)], ...] | None = Field(
        default=None, min_length=2, description="Calls that came in this order, others between them."
    )
    tool_result: ToolResult | None = Field(default=None, description="What a tool answered at last.")
    file: FileCheck | None = Field(default=None, description="A file of the workspace afterwards.")
    artifact: ArtifactCheck | None = Field(default=None, description="What is different on the platform.")
    read_back: ReadBack | None = Field(default=None, description="What a server says afterwards.")
    end_state: EndStateCheck | None = Field(default=None, description="The state of the platform afterwards.")
    python: str | None = Field(
        default=None, pattern=PYTHON_NAME, description="`checks.py:name`, a function of the suite over the evidence."
    )
    evaluator: Evaluator | None = Field(default=None, description="An evaluator of pydantic-evals.")
    recorded_verdict: Name | None = Field(default=None, description="A verdict another tool gave, from the cassette.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if len(self._kinds()) != 1:
            raise ValueError(f"a check has exactly one of {', '.join(CHECK_KINDS)}; this one has {len(self._kinds())}")
        return self

    def _kinds(self) -> list[str]:
        return [kind for kind in CHECK_KINDS if getattr(self, kind) is not None]

    @property
    def kind(self) -> str:
        """Which kind of check this is, such as `final_text`."""
        return self._kinds()[0]

    @property
    def suite_file(self) -> str | None:
        """The file of the suite it needs."""
        reference = self.python or (self.evaluator.name if self.evaluator else "")
        path, colon, _ = reference.rpartition(":")
        return path if colon else None

    @property
    def shown_name(self) -> str:
        """The given name, or one made from what is checked."""
        if self.name:
            return self.name
        subject = self._subject()
        if self.kind in {"python", "recorded_verdict", "evaluator"}:
            return subject
        return f"{self.kind}:{subject}" if subject else self.kind

    def _subject(self) -> str:
        match self.kind, getattr(self, self.kind):
            case ("python", str(reference)):
                return reference.rpartition(":")[2]
            case (_, str(name)):
                return name
            case (_, Evaluator(name=name)):
                return name.rpartition(":")[2]
            case (_, ToolPattern(tool=tool) | ToolResult(tool=tool)):
                return tool
            case (_, FileCheck(path=path)):
                return path
            case (_, ArtifactCheck(kind=kind, change=change)):
                return f"{kind} {change}"
            case (_, ReadBack(tool=tool, resource=resource)):
                return tool or resource or ""
            case _:
                return ""


CHECK_KINDS = (
    "final_text", "said", "tool_called", "tool_never_called", "tools_in_order", "tool_result", "file", "artifact",
    "read_back", "end_state", "python", "evaluator", "recorded_verdict",
)  # fmt: skip
"""The vocabulary."""
