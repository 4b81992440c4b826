"""Faked resources and prompts: they are read as often as one likes, and nothing of them is used up."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from passgrid.fakes.call_reading import Complain
from passgrid.fakes.load_errors import Rule
from passgrid.json_values import is_array, is_object

_RESOURCE_KEYS = ("uri", "name", "description", "mimeType", "text", "blob")
_PROMPT_KEYS = ("name", "description", "arguments", "messages")


def read_resources(declared: Any, bad: Complain) -> dict[str, dict[str, Any]]:
    """Resources by address: how each is listed, and what it holds."""
    found: dict[str, dict[str, Any]] = {}
    for place, one in _objects(declared, "resources", _RESOURCE_KEYS, bad):
        uri, name = one.get("uri"), one.get("name", one.get("uri"))
        if not (isinstance(uri, str) and uri and isinstance(name, str) and name):
            bad(Rule.BAD_SHAPE, f"{place}: a resource needs a uri, and its name is a non-empty string")
            continue
        content = {key: one[key] for key in ("text", "blob") if key in one}
        if len(content) != 1 or not all(isinstance(value, str) for value in content.values()):
            bad(Rule.BAD_SHAPE, f"{place}: a resource has either a text or a blob, a string")
            continue
        if "blob" in content and not _is_base64(content["blob"]):
            bad(Rule.BAD_SHAPE, f"{place}: blob is not valid base64")
        if uri in found:
            bad(Rule.DUPLICATE_TOOL, f"{place}: {uri} stands twice")
        kind = {"mimeType": one["mimeType"]} if "mimeType" in one else {}
        described = {"description": one["description"]} if "description" in one else {}
        found[uri] = {
            "listed": {"uri": uri, "name": name, **described, **kind},
            "contents": [{"uri": uri, **kind, **content}],
        }
    return found


def read_prompts(declared: Any, bad: Complain) -> dict[str, dict[str, Any]]:
    """Prompts by name: how each is listed, and its messages; `{{argument}}` in a text stands for what is sent."""
    found: dict[str, dict[str, Any]] = {}
    for place, one in _objects(declared, "prompts", _PROMPT_KEYS, bad):
        name, messages = one.get("name"), one.get("messages")
        if not (isinstance(name, str) and name):
            bad(Rule.BAD_SHAPE, f"{place}: a prompt needs a name, a non-empty string")
            continue
        if not is_array(messages) or not all(_is_message(message) for message in messages):
            bad(Rule.BAD_SHAPE, f"{place}: messages are an array of objects with role and content")
            continue
        if name in found:
            bad(Rule.DUPLICATE_TOOL, f"{place}: {name} stands twice")
        listed = {key: one[key] for key in ("name", "description", "arguments") if key in one}
        found[name] = {"listed": listed, "messages": messages}
    return found


def filled(value: Any, arguments: Mapping[str, Any]) -> Any:
    """Messages of a prompt with its arguments in place."""
    if isinstance(value, str):
        for name, text in arguments.items():
            value = value.replace("{{" + name + "}}", str(text))
        return value
    if is_object(value):
        return {key: filled(item, arguments) for key, item in value.items()}
    return [filled(item, arguments) for item in value] if is_array(value) else value


def _objects(declared: Any, what: str, keys: tuple[str, ...], bad: Complain) -> list[tuple[str, dict[str, Any]]]:
    if not is_array(declared) or not declared:
        bad(Rule.WRONG_TYPE, f"{what} must be a non-empty array")
        return []
    found: list[tuple[str, dict[str, Any]]] = []
    for index, one in enumerate(declared):
        place = f"{what}[{index}]"
        if not is_object(one):
            bad(Rule.WRONG_TYPE, f"{place} must be an object")
            continue
        for key in one:
            if key not in keys:
                bad(Rule.UNKNOWN_KEY, f"{place} has no key {key!r}; it has {', '.join(keys)}")
        found.append((place, one))
    return found


def _is_message(message: Any) -> bool:
    return is_object(message) and message.get("role") in ("user", "assistant") and is_object(message.get("content"))


def _is_base64(data: str) -> bool:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
