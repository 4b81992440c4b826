"""The state of fakes in Postgres, shared by every gateway process of a space."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol

from passgrid.fakes.loading import Fakes, load
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.fakes.state import DEFAULT_CAP, Ask, FakeOutcome, JournalRequest, Stale, Told
from passgrid.warehouse.gateway_call_back import STATEMENTS as CALL_BACK
from passgrid.warehouse.gateway_call_back import CallBack, space_lock
from passgrid.warehouse.gateway_leases import Leases
from passgrid.warehouse.pipelined import Pipelined, Rows, text_array
from passgrid.wire.json_text import dump
from passgrid.wire.mcp_service import Identity
from passgrid.wire.mcp_sessions import Session, SessionEnded, new_session_id

_ASK = b"ask"
_STATEMENTS = {
    _ASK: b"SELECT * FROM gateway_ask($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
    b"note": b"WITH noted AS (INSERT INTO gateway_journal (test, context, method, path, headers, body) "
    b"VALUES ($2, $3, $4, $5, $6, $7) RETURNING id) "
    b"SELECT loads, sessions, noted.id FROM gateway_spaces, noted WHERE space = $1",
    b"answered": b"UPDATE gateway_journal SET answered = $2, failed = $3::boolean, result = $4 WHERE id = $1",
    b"test": b"WITH made AS (INSERT INTO gateway_tests (space, mount, test_id, capped) "
    b"VALUES ($1, $2, $3, $4::boolean) ON CONFLICT (space, mount, test_id) DO NOTHING RETURNING id) "
    b"SELECT id FROM made UNION ALL SELECT id FROM gateway_tests WHERE space = $1 AND mount = $2 AND test_id = $3",
    b"used": b"SELECT u.entry_id, u.used FROM gateway_used u JOIN gateway_tests t ON t.id = u.test "
    b"AND t.since = u.since WHERE t.space = $1 AND t.mount = $2 AND t.test_id = $3",
    b"recorded": b"SELECT j.id, j.body FROM gateway_journal j JOIN gateway_tests t ON t.id = j.test WHERE t.space = $1 "
    b"AND t.mount = $2 AND t.test_id = $3 AND j.answered = 'recorded' AND j.id > $4 ORDER BY j.id",
    b"space": b"SELECT loads, sessions, counters FROM gateway_spaces WHERE space = $1",
    b"loads": b"SELECT source, document FROM gateway_loads WHERE space = $1 ORDER BY n",
    b"begin": b"INSERT INTO gateway_sessions (session_id, space, mount, version, test_id, context, undeclared) "
    b"VALUES ($1, $2, $3, $4, $5, $6, $7)",
    b"find": b"SELECT version, test_id, context, undeclared, initialized FROM gateway_sessions "
    b"WHERE session_id = $1 AND space = $2 AND mount = $3",
    b"initialized": b"UPDATE gateway_sessions SET initialized = true WHERE session_id = $1",
    b"end": b"SELECT gateway_end($1, $2, $3)",
    **CALL_BACK,
}
_MOST_KEPT = 100_000
_MOST_HEADERS = 1_000
"""Sessions and tests a process remembers the rows of."""


class Redacts(Protocol):
    """Takes secrets out of what is kept of a message."""

    def body(self, value: Any) -> Any:
        """A body, or an answer."""
        ...

    def headers(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """The headers of its request."""
        ...


class SharedState:
    """`FakeState` and `Sessions` over one connection. What is loaded is kept here too, and read again when it changed.

    Every statement that answers a client says which state of the loads and sessions it was made with, so an answer is
    never given by what another process has unloaded, nor in a session that another process has ended.
    """

    def __init__(self, conninfo: str, space: str, redact: Redacts, cap: int = DEFAULT_CAP) -> None:
        self._leases = Leases(conninfo, space, lambda: (self._loads, self._epoch))
        self._line = Pipelined(conninfo, _STATEMENTS)
        self._name = space
        self._space = space.encode()
        self._redact = redact
        self._cap = str(cap).encode()
        self._loads: int = -1
        self._epoch: int = -1
        self.fakes = Fakes()
        self.documents: list[tuple[str, Any]] = []
        """What is loaded, as it came, by its source."""
        self._tests: OrderedDict[tuple[str, str | None], bytes] = OrderedDict()
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._headers: OrderedDict[tuple[tuple[str, str], ...], bytes] = OrderedDict()
        self._refreshing = asyncio.Lock()

    def close(self) -> None:
        """End the connections."""
        self._leases.close()
        self._line.close()

    async def mount_fakes(self, mount: str) -> MountFakes:
        """What is loaded on a mount, as far as this process knows; `ask` and `note` find out whether that is all."""
        if self._loads < 0:
            await self.refresh()
        return self.fakes.mount(mount)

    async def refresh(self) -> None:
        """Know what is loaded now, and forget sessions that may have ended."""
        async with self._refreshing:
            rows = await self._line.ask(b"space", [self._space])
            loads, epoch, counters = _whole(rows[0][0]), _whole(rows[0][1]), rows[0][2] or "{}"
            if epoch != self._epoch:
                self._sessions.clear()
            if loads != self._loads:
                documents = await self._line.ask(b"loads", [self._space])
                self.fakes = loaded_fakes(counters, documents).at_version(loads)
                self.documents = [(source or "", json.loads(text or "{}")) for source, text in documents]
            self._loads, self._epoch = loads, epoch

    async def ask(self, ask: Ask) -> Told:
        """See `FakeState`."""
        who = ask.identity
        test = await self._test(ask.mount, who.test_id)
        named = [None if who.context is None else _text(who.context), _text(ask.tool or "")]
        request = [*named, *self._request(ask.request)]
        calling = CallBack(self._line, self._name)
        while True:
            await self._leases.settled(test)
            entry = await self._leases.answer(test, ask.version, ask.candidates, request)
            if entry is not None:
                return Told(FakeOutcome.ANSWERED, entry)
            await self._leases.give_back(test)
            outcome, entry, used, row = (await self._asked(test, ask, request))[0]
            if outcome == "stale":
                await self._stale(ask.mount, ask.session)
                raise Stale
            if outcome != "leased":
                counts: Mapping[str, int] = json.loads(used) if used else {}
                return Told(FakeOutcome(outcome) if outcome else None, entry, counts, int(row or 0))
            holder = row or ""
            await self._leases.give_back(holder.encode())
            await calling.wait(holder)

    async def _asked(self, test: bytes, ask: Ask, request: list[bytes | None]) -> Rows:
        self._leases.before_asking(test)
        answered = False
        try:
            rows = await self._line.ask(
                _ASK,
                [
                    self._space,
                    str(ask.version).encode(),
                    str(self._epoch).encode(),
                    test,
                    self._cap,
                    *request[:2],
                    text_array([one.entry_id for one in ask.candidates]),
                    ("{" + ",".join(str(one.times) for one in ask.candidates) + "}").encode(),
                    text_array(ask.tier),
                    None if ask.otherwise is None else ask.otherwise.encode(),
                    *request[2:],
                ],
            )
            answered = rows[0][0] == FakeOutcome.ANSWERED
            return rows
        finally:
            self._leases.after_asking(test, answered=answered)

    async def note(self, mount: str, identity: Identity, request: JournalRequest, session: str | None) -> int:
        """See `FakeState`."""
        test = await self._test(mount, identity.test_id)
        context = None if identity.context is None else _text(identity.context)
        rows = await self._line.ask(b"note", [self._space, test, context, *self._request(request)])
        if (_whole(rows[0][0]), _whole(rows[0][1])) != (self._loads, self._epoch):
            await self._stale(mount, session)
        return _whole(rows[0][2])

    async def answered(self, row: int, answered: str, *, failed: bool, result: Any) -> None:
        """See `FakeState`."""
        said = dump(self._redact.body(result))
        flag = b"true" if failed else b"false"
        await self._line.ask(b"answered", [str(row).encode(), answered.encode(), flag, said])

    async def used(self, mount: str, test_id: str | None) -> Mapping[str, int]:
        """See `FakeState`."""
        rows = await self._line.ask(b"used", [self._space, mount.encode(), _text(test_id or "")])
        return {entry or "": _whole(used) for entry, used in rows}

    async def recorded_calls(self, mount: str, test_id: str, after: int) -> list[tuple[int, Any]]:
        """Calls of a test that recordings answered after a row of the journal, by any process: row and message."""
        rows = await self._line.ask(b"recorded", [self._space, mount.encode(), _text(test_id), str(after).encode()])
        return [(_whole(row), json.loads(body or "null")) for row, body in rows]

    async def begin(self, mount: str, version: str, identity: Identity) -> Session:
        """See `Sessions`."""
        session = Session(new_session_id(), mount, version, identity)
        parts = [identity.test_id, identity.context, identity.undeclared]
        await self._line.ask(
            b"begin",
            [
                session.session_id.encode(),
                self._space,
                mount.encode(),
                version.encode(),
                *(None if part is None else _text(part) for part in parts),
            ],
        )
        return session

    async def find(self, mount: str, session_id: str) -> Session | None:
        """See `Sessions`."""
        known = self._sessions.get(session_id)
        if known is not None and known.mount == mount:
            return known
        return await self._look_up(mount, session_id)

    async def initialized(self, session: Session) -> None:
        """See `Sessions`."""
        await self._line.ask(b"initialized", [session.session_id.encode()])

    async def end(self, session: Session) -> None:
        """See `Sessions`."""
        self._sessions.pop(session.session_id, None)
        calling = CallBack(self._line, self._name)
        ended = [self._space, str(space_lock(self._name)).encode(), session.session_id.encode()]
        await self._leases.give_all_back()
        while (await self._line.ask(b"end", ended))[0][0] != "t":
            await calling.wait()

    async def _look_up(self, mount: str, session_id: str) -> Session | None:
        if not session_id.isascii() or "\0" in session_id:
            return None
        rows = await self._line.ask(b"find", [session_id.encode(), self._space, mount.encode()])
        if not rows:
            return None
        version, test_id, context, undeclared, initialized = rows[0]
        found = Session(session_id, mount, version or "", Identity(test_id, context, undeclared), initialized == "t")
        if found.initialized:
            _keep(self._sessions, session_id, found)
        return found

    async def _stale(self, mount: str, session: str | None) -> None:
        epoch = self._epoch
        await self.refresh()
        if session is not None and epoch != self._epoch and await self._look_up(mount, session) is None:
            raise SessionEnded(session)

    async def _test(self, mount: str, test_id: str | None) -> bytes:
        """The row of a test on a mount."""
        key = (mount, test_id)
        known = self._tests.get(key)
        if known is None:
            capped = b"true" if test_id is not None else b"false"
            named = _text(test_id or "")
            rows: list[list[str | None]] = []
            while not rows:  # nothing, where somebody else made it at this very moment
                rows = await self._line.ask(b"test", [self._space, mount.encode(), named, capped])
            known = (rows[0][0] or "").encode()
            _keep(self._tests, key, known)
        return known

    def _request(self, request: JournalRequest) -> tuple[bytes, bytes, bytes, bytes]:
        # A client sends the same headers again and again.
        sent = tuple(request.headers.items())
        headers = self._headers.get(sent)
        if headers is None:
            headers = dump(self._redact.headers(request.headers))
            _keep(self._headers, sent, headers, _MOST_HEADERS)
        return request.method.encode(), _text(request.path), headers, dump(self._redact.body(request.body))


def loaded_fakes(counters: str, documents: list[list[str | None]]) -> Fakes:
    """Everything that is loaded, in its order."""
    numbers: dict[str, int] = json.loads(counters)
    fakes = Fakes({mount: MountFakes(mount, counter=number) for mount, number in numbers.items()})
    for source, document in documents:
        fakes = load(fakes, json.loads(document or "{}"), source or "").fakes
    return fakes


def _keep(kept: OrderedDict[Any, Any], key: Any, value: Any, most: int = _MOST_KEPT) -> None:
    kept[key] = value
    if len(kept) > most:
        kept.popitem(last=False)


def _whole(text: str | None) -> int:
    return int(text or 0)


def _text(text: str) -> bytes:
    return text.replace("\0", "\ufffd").encode(errors="replace")
