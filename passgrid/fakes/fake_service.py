"""An MCP server of fakes: declared calls first, then what stands behind them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from passgrid.fakes import refusals
from passgrid.fakes.blocks import Entry
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.fakes.offers import filled
from passgrid.fakes.state import DEFAULT_CAP, Ask, Candidate, FakeOutcome, FakeState, JournalRequest, Stale, Told
from passgrid.json_values import is_object
from passgrid.wire.json_rpc import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from passgrid.wire.mcp_messages import MODERN_VERSION
from passgrid.wire.mcp_service import Caller, McpService
from passgrid.wire.mcp_sessions import SessionEnded

log = logging.getLogger(__name__)

RESOURCE_NOT_FOUND = -32002
"""In the protocol with a handshake; the stateless one has given this code up."""
LISTED = "listed"
_NO_ANSWER = "unknown"
_NOTHING: Mapping[str, Any] = {}
_NO_SUGGESTION: Mapping[str, Any] = {"completion": {"values": [], "total": 0, "hasMore": False}}


class Behind(McpService, Protocol):
    """Answers what the fakes leave: handlers, recordings, a live server."""

    answered: str
    """What the journal says of its answers: handler, recorded, live."""


class NothingBehind:
    """There are only fakes."""

    answered = _NO_ANSWER

    async def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """None."""
        return ()

    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Nobody answers."""
        raise refusals.unknown_tool(str(params.get("name")))

    async def other(self, caller: Caller, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Nobody answers."""
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")

    async def noted(self, caller: Caller) -> int:
        """Nothing is kept."""
        return 0

    def capabilities(self) -> Mapping[str, Any]:
        """None of its own."""
        return {}


class FakesAt(Protocol):
    """Where the fakes of a mount are found, as they are now."""

    async def __call__(self) -> MountFakes:
        """The fakes as of this call."""
        ...


class FakeService:
    """Serves one mount. Everything it says of fakes is in the contract; state and journal are kept by `state`."""

    def __init__(
        self, mount: str, fakes: FakesAt, state: FakeState, behind: Behind | None = None, cap: int = DEFAULT_CAP
    ) -> None:
        self._mount = mount
        self._fakes = fakes
        self._state = state
        self._behind: Behind = behind or NothingBehind()
        self._cap = cap

    async def tools(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """Tools from behind, whose own description is kept, and faked ones; nothing is left out."""
        who, fakes = caller.identity, await self._fakes()
        registered = list(await self._behind.tools(caller))
        names = {tool["name"] for tool in registered}
        faked = fakes.tools(who.test_id, who.context)
        listed = [*registered, *(tool.listed() for name, tool in faked.items() if name not in names)]
        if caller.row:
            # A recording of this session holds the tools as they were listed.
            await self._state.answered(caller.row, LISTED, failed=False, result={"tools": listed})
        return listed

    async def call(self, caller: Caller, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer one call of a tool. Raises `RpcError` with the reason where nothing answers it."""
        try:
            tool = refusals.check_name(params)
        except RpcError:
            await self.noted(caller)
            raise
        arguments = params.get("arguments", {})
        try:
            entry, told = await self._claimed_now(caller, tool, arguments)
        except SessionEnded:
            raise
        except RpcError as refusal:
            log.warning(refusals.log_line(_kind(refusal), self._mount, tool, caller.identity))
            raise
        except Exception as error:
            log.exception(refusals.log_line("internal error", self._mount, tool, caller.identity))
            raise refusals.internal_error(self._mount, tool, caller.identity, error) from error
        if entry is None:
            return await self._passed_on(caller, params, told.row)
        if entry.delay_ms:
            await asyncio.sleep(entry.delay_ms / 1000)
        return entry.result

    async def other(self, caller: Caller, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Resources and prompts: faked ones, then those from behind."""
        who, fakes = caller.identity, await self._fakes()
        match method:
            case "resources/list" | "prompts/list":
                what = method.partition("/")[0]
                declared = (
                    fakes.resources(who.test_id, who.context)
                    if what == "resources"
                    else fakes.prompts(who.test_id, who.context)
                )
                return await self._listed(caller, method, params, what, [one["listed"] for one in declared.values()])
            case "resources/read":
                faked = fakes.resources(who.test_id, who.context).get(_text(params, "uri"))
                return {"contents": faked["contents"]} if faked else await self._read(caller, method, params)
            case "prompts/get":
                found = fakes.prompts(who.test_id, who.context).get(_text(params, "name"))
                return _prompt(found, params) if found else await self._read(caller, method, params)
            case "resources/templates/list":
                return await self._listed(caller, method, params, "resourceTemplates", [])
            case "resources/subscribe" | "resources/unsubscribe" if caller.version != MODERN_VERSION:
                # A faked resource never changes, so there is nothing to tell a subscriber.
                known = _text(params, "uri") in fakes.resources(who.test_id, who.context)
                return _NOTHING if known else await self._read(caller, method, params)
            case "completion/complete":
                known = _referred(params) in fakes.prompts(who.test_id, who.context)
                return _NO_SUGGESTION if known else await self._read(caller, method, params)
            case _:
                return await self._behind.other(caller, method, params)

    async def noted(self, caller: Caller) -> int:
        """Write a message into the journal that is no call of a tool."""
        return await self._state.note(self._mount, caller.identity, _request(caller), caller.session)

    def capabilities(self) -> Mapping[str, Any]:
        """Tools, resources and prompts, and what stands behind can do."""
        return {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, **self._behind.capabilities()}

    async def _claimed_now(self, caller: Caller, tool: str, arguments: Any) -> tuple[Entry | None, Told]:
        """Decided by what is loaded now, however often that changes meanwhile."""
        while True:
            try:
                return await self._claimed(caller, tool, arguments)
            except Stale:
                continue

    async def _claimed(self, caller: Caller, tool: str, arguments: Any) -> tuple[Entry | None, Told]:
        who, fakes = caller.identity, await self._fakes()
        tier = fakes.entries(tool, who.test_id, who.context)
        if tier is None:
            denied = fakes.policy(who.test_id, who.context, who.undeclared) == "deny"
            otherwise = FakeOutcome.NOT_DECLARED if denied else None
            matching: Sequence[Entry] = ()
        else:
            matching = [entry for entry in tier if entry.matcher.matches(arguments)]
            otherwise = FakeOutcome.EXHAUSTED if matching else FakeOutcome.MISMATCH
        told = await self._state.ask(
            Ask(
                self._mount,
                who,
                _request(caller),
                tool,
                tuple(Candidate(entry.entry_id, entry.times) for entry in matching),
                tuple(entry.entry_id for entry in tier or ()),
                otherwise,
                caller.session,
                fakes.version,
            )
        )
        match told.outcome:
            case FakeOutcome.ANSWERED:
                return next(entry for entry in matching if entry.entry_id == told.entry_id), told
            case FakeOutcome.MISMATCH:
                raise refusals.mismatch(self._mount, tool, who, arguments, tier or (), told.used)
            case FakeOutcome.EXHAUSTED:
                raise refusals.exhausted(self._mount, tool, who, arguments, matching)
            case FakeOutcome.NOT_DECLARED:
                raise refusals.not_declared(self._mount, tool, who, sorted(fakes.tools(who.test_id, who.context)))
            case FakeOutcome.EVICTED:
                raise refusals.evicted(self._mount, tool, who, self._cap)
            case None:
                return None, told

    async def _passed_on(self, caller: Caller, params: Mapping[str, Any], row: int) -> Mapping[str, Any]:
        try:
            result = await self._behind.call(replace(caller, row=row), params)
        except RpcError as error:
            answered = error.answered or self._behind.answered
            await self._state.answered(row, answered, failed=True, result={"error": error.body()})
            raise
        failed = result.get("isError") is True
        await self._state.answered(row, self._behind.answered, failed=failed, result=result)
        return result

    async def _listed(
        self, caller: Caller, method: str, params: Mapping[str, Any], what: str, faked: list[Any]
    ) -> Mapping[str, Any]:
        try:
            behind = await self._behind.other(caller, method, params)
        except RpcError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
            behind = _NOTHING
        key = {"resources": "uri", "prompts": "name"}.get(what, "uriTemplate")
        registered = list(behind.get(what) or ())
        known = {one.get(key) for one in registered}
        return {**behind, what: [*registered, *(one for one in faked if one[key] not in known)]}

    async def _read(self, caller: Caller, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return await self._behind.other(caller, method, params)
        except RpcError as error:
            if error.code != METHOD_NOT_FOUND:
                raise
        if method.startswith("resources/"):
            code = INVALID_PARAMS if caller.version == MODERN_VERSION else RESOURCE_NOT_FOUND
            raise RpcError(code, f"Resource not found: {params.get('uri')}", {"uri": params.get("uri")})
        raise RpcError(INVALID_PARAMS, f"Unknown prompt: {_referred(params) or params.get('name')}")


def _prompt(found: Mapping[str, Any], params: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = params.get("arguments")
    described = {"description": found["listed"]["description"]} if "description" in found["listed"] else {}
    return {**described, "messages": filled(found["messages"], arguments if is_object(arguments) else {})}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name)
    return value if isinstance(value, str) else ""


def _referred(params: Mapping[str, Any]) -> str:
    """The prompt whose argument is to be completed."""
    reference = params.get("ref")
    return _text(reference, "name") if is_object(reference) else ""


def _request(caller: Caller) -> JournalRequest:
    return JournalRequest(caller.method, caller.path, caller.headers or {}, caller.message)


def _kind(refusal: RpcError) -> str:
    code: str = refusal.data["aimock"]["code"]
    return code.removeprefix("MCP_FAKE_").lower().replace("_", " ")
