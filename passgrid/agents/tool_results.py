"""Tool answers between our form and MCP's: what a client is sent, and whether it passed it on unchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic_ai.messages import BinaryContent

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.json_values import is_array, is_object
from passgrid.messages import plain_content


def answer_result(value: Any, output_schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The result of tools/call for an answer: blocks for text and images, JSON for everything else."""
    plain = plain_content(value)
    result: dict[str, Any] = {"content": _blocks(plain), "isError": False}
    if (structured := _structured(plain, output_schema)) is not None:
        result["structuredContent"] = structured
    return result


def error_result(text: str) -> dict[str, Any]:
    """The result of tools/call for an error that an agent is to see."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def tells_the_same(told: Any, value: Any) -> bool:
    """Whether what an agent told its model of an answer is that answer, in one of the usual forms."""
    if canonical_arguments(told) == canonical_arguments(value) or told in _texts(value):
        return True
    parsed = _parsed(told)
    if is_object(parsed) and is_array(parsed.get("content")):
        parsed = parsed["content"]
    if is_array(parsed) and parsed == _blocks(value):
        return True
    return parsed is not None and canonical_arguments(parsed) == canonical_arguments(value)


def _texts(value: Any) -> list[str]:
    texts = [block["text"] for block in _blocks(value) if block["type"] == "text"]
    return [separator.join(texts) for separator in ("", "\n", "\n\n")]


def _blocks(value: Any) -> list[dict[str, Any]]:
    if is_array(value) and value and all(_is_block(item) for item in value):
        return [_block(item) for item in value]
    return [_block(value)]


def _is_block(value: Any) -> bool:
    return isinstance(value, str) or _is_image(value)


def _is_image(value: Any) -> bool:
    return is_object(value) and set(value) == {"image", "media_type"}


def _block(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"type": "text", "text": value}
    if _is_image(value):
        content = BinaryContent.from_data_uri(value["image"])
        return {"type": "image", "data": content.base64, "mimeType": content.media_type}
    return {"type": "text", "text": orjson.dumps(value).decode()}


def _structured(value: Any, schema: Mapping[str, Any] | None) -> Any:
    """An object as it is; where a server wraps other values, as SDKs do, wrapped again."""
    properties: Any = (schema or {}).get("properties")
    if is_object(properties) and set(properties) == {"result"} and not (is_object(value) and set(value) == {"result"}):
        return {"result": value}
    return value if is_object(value) and not _is_image(value) else None


def _parsed(told: Any) -> Any:
    if not isinstance(told, str):
        return told
    try:
        return orjson.loads(told)
    except orjson.JSONDecodeError:
        return None
