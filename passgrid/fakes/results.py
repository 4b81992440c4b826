"""What a declared `result` or `error` becomes: the whole result of tools/call."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from passgrid.json_values import is_array, is_object

_WHOLE_RESULT = frozenset({"content", "isError", "structuredContent", "_meta"})
"""An object with any of these is a whole result, and has no other key."""

_BLOCKS: Mapping[str, Mapping[str, type]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource_link": {"uri": str, "name": str},
    "resource": {"resource": dict},
}
"""The kinds of content blocks, and what each must have."""


class UnusableResult(ValueError):
    """This cannot be what a tool answers; the message says why."""


def tool_result(declared: Any) -> dict[str, Any]:
    """The result a declared `result` stands for. Raises `UnusableResult`.

    A text is one text block; an array is the content; an object with a key of a whole result is that, unchanged; any
    other object is compact JSON text and the structured content.
    """
    if isinstance(declared, str):
        return {"content": [_text(declared)], "isError": False}
    if is_array(declared):
        _check_content(declared)
        return {"content": declared, "isError": False}
    if not is_object(declared):
        raise UnusableResult("result must be a string, an array of content blocks or an object")
    if not _WHOLE_RESULT & declared.keys():
        text = json.dumps(declared, ensure_ascii=False, separators=(",", ":"))
        return {"content": [_text(text)], "structuredContent": declared, "isError": False}
    _check_whole(declared)
    return declared


def tool_error(text: str) -> dict[str, Any]:
    """The result a declared `error` stands for: a failure of the tool, which the model sees."""
    return {"content": [_text(text)], "isError": True}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _check_whole(declared: dict[str, Any]) -> None:
    others = sorted(declared.keys() - _WHOLE_RESULT)
    if others:
        raise UnusableResult(
            f"a whole result has no key {', '.join(others)}; it has {', '.join(sorted(_WHOLE_RESULT))}"
        )
    if not is_array(declared.get("content")):
        raise UnusableResult("a whole result needs a content array")
    if "isError" in declared and not isinstance(declared["isError"], bool):
        raise UnusableResult("isError must be true or false")
    for key in ("structuredContent", "_meta"):
        if key in declared and not is_object(declared[key]):
            raise UnusableResult(f"{key} must be an object")
    _check_content(declared["content"])


def _check_content(blocks: list[Any]) -> None:
    for index, block in enumerate(blocks):
        if (problem := _block_problem(block)) is not None:
            raise UnusableResult(f"content[{index}]: {problem}")


def _block_problem(block: Any) -> str | None:
    return _own_problem(block) or _protocol_problem(block)


def _protocol_problem(block: Any) -> str | None:
    """What the protocol's own types say of it: annotations and the like."""
    from mcp_types import ContentBlock
    from pydantic import TypeAdapter, ValidationError

    try:
        TypeAdapter[Any](ContentBlock).validate_python(block)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}"
    return None


def _own_problem(block: Any) -> str | None:
    if not is_object(block):
        return "a content block is an object"
    kind = block.get("type")
    if not isinstance(kind, str) or kind not in _BLOCKS:
        return f"type must be one of {', '.join(_BLOCKS)}"
    for key, wanted in _BLOCKS[kind].items():
        if not isinstance(block.get(key), wanted):
            return f"a block of type {kind} needs {key}, {'an object' if wanted is dict else 'a string'}"
    if kind in {"image", "audio"}:
        return _base64_problem("data", block["data"])
    return _resource_problem(block["resource"]) if kind == "resource" else None


def _resource_problem(resource: dict[str, Any]) -> str | None:
    if not isinstance(resource.get("uri"), str):
        return "a resource needs a uri, a string"
    if isinstance(resource.get("text"), str) == isinstance(resource.get("blob"), str):
        return "a resource has either a text or a blob, a string"
    if "text" in resource and "blob" in resource:
        return "a resource has either a text or a blob, not both"
    return _base64_problem("blob", resource["blob"]) if "blob" in resource else None


def _base64_problem(key: str, data: str) -> str | None:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"{key} is not valid base64"
    return None
