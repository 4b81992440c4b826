"""From the JSON of a block to its values; what is wrong is collected, never only the first mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from passgrid.fakes.blocks import DEFAULT_MOUNT, Block, FakedTool, Policy, Scope
from passgrid.fakes.call_reading import LONGEST_NAME, read_call, usable_name
from passgrid.fakes.load_errors import Complaints, Rule
from passgrid.fakes.offers import read_prompts, read_resources
from passgrid.json_values import is_array, is_object, json_type

_BLOCK_KEYS = ("scope", "mount", "undeclaredTools", "tools", "resources", "prompts")
_TOOL_KEYS = ("name", "description", "inputSchema", "calls")
_SCOPE_KEYS = ("testId", "context")

RESERVED_MOUNTS = (
    *("/__aimock", "/__passgrid", "/metrics", "/health", "/ready"),
    *("/v1", "/chat", "/responses", "/messages", "/models"),
)
"""Paths that a gateway itself answers."""


class BlockReader:
    """Reads one block."""

    def __init__(self, block_id: str, complaints: Complaints) -> None:
        self._id = block_id
        self._complaints = complaints

    def read(self, block: Any) -> Block | None:
        """The block; None where it is not even an object. Mistakes go to the complaints."""
        if not is_object(block):
            self._bad(Rule.WRONG_TYPE, f"a block is an object, not {json_type(block)}")
            return None
        self._only(block, _BLOCK_KEYS, "a block")
        scope = self._scope(block)
        undeclared = self._undeclared(block, scope)
        return Block(
            block_id=self._id,
            scope=scope or Scope(),
            mount=self._mount(block),
            undeclared=undeclared,
            tools=self._tools(block, may_be_empty=scope is not None and not scope.shared and undeclared == "deny"),
            resources=read_resources(block["resources"], self._bad) if "resources" in block else {},
            prompts=read_prompts(block["prompts"], self._bad) if "prompts" in block else {},
        )

    def _bad(self, rule: Rule, message: str, entry: str | None = None) -> None:
        self._complaints.bad(rule, message, self._id, entry)

    def _only(self, value: Mapping[str, Any], keys: Sequence[str], what: str) -> None:
        for key in value:
            if key not in keys:
                self._bad(Rule.UNKNOWN_KEY, f"{what} has no key {key!r}; it has {', '.join(keys)}")

    def _scope(self, block: Mapping[str, Any]) -> Scope | None:
        if "scope" not in block:
            self._bad(Rule.NO_SCOPE, 'scope is missing: "shared", or {"testId": …, "context": …}')
            return None
        scope = block["scope"]
        if scope == "shared":
            return Scope()
        if not is_object(scope):
            self._bad(Rule.BAD_SCOPE, 'scope must be "shared" or an object with testId, context or both')
            return None
        before = len(self._complaints.errors)
        for key, value in scope.items():
            if key not in _SCOPE_KEYS:
                self._bad(Rule.UNKNOWN_KEY, f"scope has no key {key!r}; it has testId and context")
            elif not isinstance(value, str) or not value or not usable_name(value):
                self._bad(
                    Rule.BAD_SCOPE, f"scope.{key} must be a non-empty string of at most {LONGEST_NAME} characters"
                )
        if not set(_SCOPE_KEYS) & scope.keys():
            self._bad(Rule.BAD_SCOPE, "scope needs testId, context or both")
        if len(self._complaints.errors) > before:
            return None
        return Scope(scope.get("testId"), scope.get("context"))

    def _undeclared(self, block: Mapping[str, Any], scope: Scope | None) -> Policy | None:
        policy: Any = block.get("undeclaredTools", "allow")
        if policy not in ("allow", "deny"):
            rule = Rule.BAD_SHAPE if isinstance(policy, str) else Rule.WRONG_TYPE
            self._bad(rule, "undeclaredTools must be allow or deny")
            return None
        if policy == "deny" and scope is not None and scope.shared:
            self._bad(Rule.SHARED_DENY, "a shared block cannot deny undeclared tools; give it a testId or context")
        chosen: Policy = "deny" if policy == "deny" else "allow"
        return chosen if "undeclaredTools" in block else None

    def _mount(self, block: Mapping[str, Any]) -> str:
        mount: Any = block.get("mount", DEFAULT_MOUNT)
        if not isinstance(mount, str):
            self._bad(Rule.WRONG_TYPE, f"mount must be a string, not {json_type(mount)}")
        elif not mount.startswith("/") or not usable_name(mount):
            self._bad(Rule.BAD_SHAPE, f"mount {mount[:100]!r} must start with /, and be short plain text")
        elif any(mount == reserved or mount.startswith(reserved + "/") for reserved in RESERVED_MOUNTS):
            self._complaints.conflict(f"{mount} is answered by the gateway itself; choose another mount", self._id)
        else:
            return mount
        return DEFAULT_MOUNT

    def _tools(self, block: Mapping[str, Any], *, may_be_empty: bool) -> dict[str, FakedTool]:
        offers = "resources" in block or "prompts" in block
        tools: Any = block.get("tools", [] if offers else None)
        if not is_array(tools):
            self._bad(Rule.WRONG_TYPE, "tools must be an array")
            return {}
        if not tools and not (may_be_empty or offers):
            self._bad(Rule.WRONG_TYPE, "tools must not be empty, except in a scoped block with undeclaredTools: deny")
        found: dict[str, FakedTool] = {}
        for index, tool in enumerate(tools):
            read = self._tool(tool, f"tools[{index}]")
            if read is None:
                continue
            if read.name in found:
                self._bad(Rule.DUPLICATE_TOOL, f"{read.name} stands twice; put all its calls in one place")
            found[read.name] = read
        return found

    def _tool(self, tool: Any, place: str) -> FakedTool | None:
        if not is_object(tool):
            self._bad(Rule.WRONG_TYPE, f"{place} must be an object, not {json_type(tool)}")
            return None
        self._only(tool, _TOOL_KEYS, "a tool")
        name = self._name(tool, place)
        description, schema = tool.get("description"), tool.get("inputSchema")
        if "description" in tool and not isinstance(description, str):
            self._bad(Rule.WRONG_TYPE, f"{name}: description must be a string")
        if "inputSchema" in tool and not is_object(schema):
            self._bad(Rule.WRONG_TYPE, f"{name}: inputSchema must be an object")
        elif is_object(schema) and schema.get("type") != "object":
            self._bad(Rule.BAD_SHAPE, f'{name}: the root of inputSchema must have "type": "object"')
        calls: Any = tool.get("calls")
        if not is_array(calls) or not calls:
            self._bad(Rule.WRONG_TYPE, f"{name}: calls must be a non-empty array")
            return None if name is None else FakedTool(name, ())
        shown = name or place
        entries = [read_call(call, f"{self._id}:", f"{shown}#{index}", self._bad) for index, call in enumerate(calls)]
        self._warn_of_shadows(shown, calls)
        kept = tuple(entry for entry in entries if entry is not None)
        return None if name is None else FakedTool(name, kept, description, schema)

    def _name(self, tool: Mapping[str, Any], place: str) -> str | None:
        name = tool.get("name")
        if not isinstance(name, str):
            self._bad(Rule.WRONG_TYPE, f"{place}.name must be a string")
            return None
        if not name or not usable_name(name):
            self._bad(Rule.BAD_SHAPE, f"{place}.name must have 1 to {LONGEST_NAME} characters of plain text")
            return None
        return name

    def _warn_of_shadows(self, tool: str, calls: Sequence[Any]) -> None:
        kinds = [
            next((key for key in ("anyArgs", "args", "argsMatching") if is_object(c) and key in c), "") for c in calls
        ]
        if "anyArgs" not in kinds:
            return
        first = kinds.index("anyArgs")
        for index in range(first + 1, len(kinds)):
            if kinds[index] in {"args", "argsMatching"}:
                self._complaints.warnings.append(
                    f"{self._id}:{tool}#{index}: an anyArgs call before it answers first, until it is used up"
                )
