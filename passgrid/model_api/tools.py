"""The tools and the form of the answer a client asks for, as the agent library's request parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from passgrid.model_api.fields import Fields

JSON_OBJECT = "json_object"
JSON_SCHEMA = "json_schema"


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A form the answer must have."""

    kind: str
    definition: OutputObjectDefinition


def function_tool(fields: Fields, schema_field: str, *, strict: bool | None = None) -> ToolDefinition:
    """One function tool; `schema_field` is what the API calls the schema of its arguments."""
    schema = fields.mapping(schema_field)
    return ToolDefinition(
        name=fields.needed_text("name"),
        parameters_json_schema=schema or {"type": "object", "properties": {}},
        description=fields.text("description"),
        strict=fields.flag("strict") if strict is None else strict,
    )


def schema_format(fields: Fields) -> AnswerFormat:
    """A JSON schema with its name, as both OpenAI APIs write it."""
    schema: dict[str, Any] | None = fields.mapping("schema")
    if schema is None:
        fields.refuse("schema", "must be given: an object")
    definition = OutputObjectDefinition(
        schema or {}, fields.text("name"), fields.text("description"), fields.flag("strict")
    )
    return AnswerFormat(JSON_SCHEMA, definition)


def any_object() -> AnswerFormat:
    """Any JSON object."""
    return AnswerFormat(JSON_OBJECT, OutputObjectDefinition({"type": "object"}))


def request_parameters(tools: Sequence[ToolDefinition], form: AnswerFormat | None) -> ModelRequestParameters:
    """Tools and form together. Instructions about the form are the client's own affair, none are added."""
    if form is None:
        return ModelRequestParameters(function_tools=list(tools))
    return ModelRequestParameters(
        function_tools=list(tools),
        output_mode="native" if form.kind == JSON_SCHEMA else "prompted",
        output_object=form.definition,
        prompted_output_template=False,
    )
