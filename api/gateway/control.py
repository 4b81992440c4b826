"""The control API of a gateway: load and unload fakes, read the journal, and ask how a test went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import sqlalchemy as sa

from api.gateway.tokens import Bearer
from passgrid.fakes.load_errors import UnusableFakes
from passgrid.fakes.loading import CONTROL_API, Fakes
from passgrid.fakes.report import Seen, report_of, seen_call
from passgrid.json_values import is_array, is_object
from passgrid.model_api.fixture_turns import read_fixture_turns
from passgrid.problems import InvalidInput, Problem
from passgrid.warehouse.gateway_loads import (
    JournalRow,
    add_document,
    end_test,
    evicted_mounts,
    journal,
    unload,
)
from passgrid.warehouse.gateway_state import SharedState
from passgrid.wire.http import JSON, HttpReply, HttpRequest
from passgrid.wire.json_text import BadJson, dump, parse
from passgrid.wire.mcp_identity import LONGEST, query_pairs

PREFIX = "/__aimock"
DEFAULT_TEST = "__default__"
_T = TypeVar("_T")


class _Refused(Exception):
    def __init__(self, status: int, **body: Any) -> None:
        super().__init__(status)
        self.reply = _json(status, body)


class Control:
    """Answers what comes below `/__aimock`."""

    def __init__(self, engine: sa.Engine, space: str, state: SharedState, mounts: Callable[[Fakes], set[str]]) -> None:
        self._engine = engine
        self._space = space
        self._state = state
        self._mounts = mounts

    async def handle(self, request: HttpRequest, bearer: Bearer) -> HttpReply:
        """The reply to one request."""
        path = request.path.removeprefix(PREFIX)
        try:
            match (request.method, path):
                case ("POST", "/fixtures"):
                    return await self._add(request, bearer)
                case ("POST", "/reset") | ("DELETE", "/fixtures"):
                    return await self._reset(bearer)
                case ("GET", "/mcp/fakes"):
                    return await self._fakes(request, bearer)
                case ("GET", "/journal"):
                    return await self._journal(request, bearer)
                case ("GET", "/report"):
                    return await self._report(request, bearer)
                case ("DELETE", "/test"):
                    return await self._end(request, bearer)
                case ("GET", "/health"):
                    return _json(200, {"status": "ok"})
                case _:
                    return _json(404, {"error": f"there is no {request.method} {request.path}"})
        except _Refused as refused:
            return refused.reply

    async def _add(self, request: HttpRequest, bearer: Bearer) -> HttpReply:
        _only_everything(bearer)
        try:
            document = parse(request.body)
        except BadJson as error:
            raise _Refused(400, error=f"not JSON: {error}") from None
        if not is_object(document):
            raise _Refused(400, error="the body must be an object with mcpFakes, fixtures, or both")
        fixtures: Any = document.get("fixtures", [])
        if not is_array(fixtures):
            raise _Refused(400, error="fixtures must be an array")
        try:
            read_fixture_turns(document, CONTROL_API)
        except InvalidInput as error:
            raise _Refused(
                400, error="nothing was added", details=[_fixture_detail(one) for one in error.problems]
            ) from None
        try:
            loaded = await self._in_database(lambda connection: add_document(connection, self._space, document))
        except UnusableFakes as error:
            details = [one.detail() for one in error.errors]
            raise _Refused(400, error="nothing was added", details=details) from None
        await self._state.refresh()
        return _json(200, {"added": len(fixtures), "mcpFakesAdded": loaded.added, "warnings": list(loaded.warnings)})

    async def _reset(self, bearer: Bearer) -> HttpReply:
        _only_everything(bearer)
        await self._in_database(lambda connection: unload(connection, self._space))
        await self._state.refresh()
        return _json(200, {"reset": True})

    async def _end(self, request: HttpRequest, bearer: Bearer) -> HttpReply:
        asked = self._asked(request, {"testId"})
        test_id = _test_of(asked, bearer)
        if test_id is None:
            raise _Refused(400, error="testId is missing: whose state is to be forgotten?")
        await self._in_database(lambda connection: end_test(connection, self._space, _stored(test_id)))
        return _json(200, {"ended": test_id})

    async def _fakes(self, request: HttpRequest, bearer: Bearer) -> HttpReply:
        asked = self._asked(request, {"testId", "context", "mount"})
        await self._state.refresh()
        paths = self._mounts(self._state.fakes)
        only = asked.get("mount")
        if only is not None and only not in paths:
            raise _Refused(404, error=f"there is no mount {only}", mounts=sorted(paths))
        test_id, context = _test_of(asked, bearer), asked.get("context")
        found: list[dict[str, Any]] = []
        for path in sorted(paths) if only is None else [only]:
            used = await self._state.used(path, test_id)
            found += [
                {"mount": path, **_block_shown(block, used)}
                for block in self._state.fakes.mount(path).blocks
                if (test_id is None and context is None) or block.scope.covers(test_id, context)
            ]
        return _json(200, {"fakes": found})

    async def _journal(self, request: HttpRequest, bearer: Bearer) -> HttpReply:
        asked = self._asked(request, {"testId", "last"})
        rows = await self._rows(_test_of(asked, bearer), int(asked.get("last") or 10_000))
        return _json(200, [_entry(row) for row in rows])

    async def _report(self, request: HttpRequest, bearer: Bearer) -> HttpReply:
        asked = self._asked(request, {"testId", "mount"})
        test_id = _stored(_test_of(asked, bearer) or "") or None
        rows = await self._rows(test_id or "", 1_000_000, since_reset=True)
        evicted = await self._in_database(lambda connection: evicted_mounts(connection, self._space, test_id or ""))
        await self._state.refresh()
        report = report_of(
            self._state.fakes, test_id, seen_calls(rows), evicted=bool(evicted), mount=asked.get("mount")
        )
        return _json(200, report.to_json())

    async def _rows(self, test_id: str | None, last: int, *, since_reset: bool = False) -> list[JournalRow]:
        wanted = None if test_id is None else _stored(test_id)
        return await self._in_database(
            lambda connection: journal(connection, self._space, wanted, last, since_reset=since_reset)
        )

    def _asked(self, request: HttpRequest, known: set[str]) -> dict[str, str]:
        pairs = query_pairs(request.query)
        unknown = sorted({name for name, _ in pairs} - known)
        if unknown:
            raise _Refused(
                400, error=f"there is no parameter {', '.join(unknown)}; there are {', '.join(sorted(known))}"
            )
        asked = {name: value for name, value in pairs if value}
        last = asked.get("last", "1")
        if not (last.isascii() and last.isdigit() and len(last) < 10):
            raise _Refused(400, error="last must be a whole number below 1,000,000,000")
        if any("\0" in value or len(value) > LONGEST for value in asked.values()):
            raise _Refused(400, error=f"a parameter may have {LONGEST} characters, none of them NUL")
        return asked

    async def _in_database(self, work: Callable[[sa.Connection], _T]) -> _T:
        def run() -> _T:
            with self._engine.connect() as connection:
                return work(connection)

        return await asyncio.to_thread(run)


def _fixture_detail(problem: Problem) -> dict[str, Any]:
    return {
        "name": "fixtures/bad-fixture",
        "rule": None,
        "file": CONTROL_API,
        "blockId": None,
        "entryId": problem.place,
        "message": problem.message,
    }


def seen_calls(rows: list[JournalRow]) -> list[Seen]:
    """The calls of tools in a journal."""
    calls = (seen_call(row.mount, row.tool, row.outcome, row.entry_id, row.answered, row.body) for row in rows)
    return [call for call in calls if call is not None]


def _test_of(asked: Mapping[str, str], bearer: Bearer) -> str | None:
    """The test that is asked for; a token of one test reads no other."""
    wanted = asked.get("testId")
    if bearer.test_id is None:
        return wanted
    if wanted not in {None, bearer.test_id}:
        raise _Refused(403, error="this token reads its own test and no other")
    return bearer.test_id


def _stored(test_id: str) -> str:
    """A test as the database has it: what came without one is under an empty name."""
    return "" if test_id == DEFAULT_TEST else test_id


def _only_everything(bearer: Bearer) -> None:
    if bearer.test_id is not None:
        raise _Refused(403, error="this token speaks for one test; loading and resetting concerns all of them")


def _block_shown(block: Any, used: Mapping[str, int]) -> dict[str, Any]:
    scope = {"testId": block.scope.test_id, "context": block.scope.context}
    return {
        "blockId": block.block_id,
        "scope": "shared"
        if block.scope.shared
        else {name: value for name, value in scope.items() if value is not None},
        "undeclaredTools": block.undeclared or "allow",
        "tools": [
            {
                "name": tool.name,
                "calls": [
                    {
                        "id": entry.entry_id,
                        **entry.matcher.shown(),
                        "times": entry.times,
                        "used": used.get(entry.entry_id, 0),
                        "consumed": used.get(entry.entry_id, 0) >= entry.times,
                    }
                    for entry in tool.entries
                ],
            }
            for tool in block.tools.values()
        ],
    }


def _entry(row: JournalRow) -> dict[str, Any]:
    response: dict[str, Any] = {"status": 200}
    if row.outcome is not None:
        response["mcpFake"] = {"id": row.entry_id, "outcome": row.outcome}
    if row.answered is not None:
        response |= {"answered": row.answered, "failed": row.failed}
    return {
        "at": row.at,
        "method": row.method,
        "path": row.path,
        "mount": row.mount,
        "headers": row.headers,
        "body": row.body,
        "testId": row.test_id or DEFAULT_TEST,
        "context": row.context,
        "response": response,
    }


def _json(status: int, body: Any) -> HttpReply:
    return HttpReply(status, dump(body), (JSON,))
