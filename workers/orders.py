"""From a claim to everything its attempt needs, out of the blobs in Postgres."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.agent_axis import DEFAULT_AGENT
from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import Cassette, cassette_of
from passgrid.cassettes.matching import NO_RULES, MatchingRules
from passgrid.cassettes.payloads import references, resolved
from passgrid.gate import OPEN_GATE, Gate
from passgrid.identity import short_id
from passgrid.matrix import Mode, Prompt
from passgrid.model_reference import ModelReference, parse_model_reference
from passgrid.scenario import Scenario
from passgrid.tools.sessions import Sessions
from passgrid.warehouse import blobs
from passgrid.warehouse.claims import Claim
from passgrid.warehouse.site import site_of
from workers.serving import serve_gateway
from workers.suite_folder import SuiteFolders


def namespace_of(site: str, run_id: str, attempt_id: str, fence: int) -> str:
    """The text of one try alone, which `${namespace}` stands for, wherever else the same attempt may be running.

    Ids of attempts and runs follow from their content: the database (`site`) is part of it too. None is the
    beginning of another: what carries one is looked for by it.
    """
    return f"pg-{short_id([site, run_id, attempt_id])[:12]}-{fence:05d}"


CACHED_BYTES = 64_000_000
"""Blobs a process keeps: orders, payloads and suite files are shared by many attempts."""


class OrderBook:
    """Makes attempt orders from claims; keeps what many attempts share."""

    def __init__(self, folders: SuiteFolders | None = None) -> None:
        self._cache: OrderedDict[str, tuple[int, Any]] = OrderedDict()
        self._size = 0
        self._cassettes: dict[str, Any] = {}
        self._references: dict[str, set[str]] = {}
        self._folders = folders
        self._asks_site = folders is not None
        self._site = ""

    def fetch(self, connection: sa.Connection, claims: Sequence[Claim]) -> None:
        """Read everything these claims need in a few queries; the cassettes are kept for this batch only."""
        self._shrink()
        self._know_site(connection)
        self._fetch(connection, (claim.order_hash for claim in claims), _Order.read)
        orders = [self._cache[claim.order_hash][1] for claim in claims if claim.order_hash in self._cache]
        self._fetch(connection, (name for order in orders for name in order.files.values()), bytes)
        self._cassettes = _documents(connection, {c.cassette_hash for c in claims if c.cassette_hash})
        listed = {name for document in self._cassettes.values() for name in document.get("recordings", ())}
        self._cassettes |= _documents(connection, listed)
        self._references = {name: references(document) for name, document in self._cassettes.items()}
        self._fetch_payloads(connection, set[str]().union(*self._references.values()))
        connection.rollback()

    def order(self, claim: Claim, gate: Gate = OPEN_GATE, sessions: Sessions | None = None) -> AttemptOrder:
        """The order of a claim that was fetched, with the gate for its live calls and who opens sessions.

        Raises `LookupError` naming what is missing in the database.
        """
        document: _Order = self._cached(claim.order_hash)
        files = {path: self._cached(name) for path, name in document.files.items()}
        sandbox = document.mode is Mode.SANDBOX
        return AttemptOrder(
            attempt_id=claim.attempt_id,
            scenario=document.scenario,
            prompt=document.prompt,
            model=document.model,
            mode=document.mode,
            sample=claim.sample,
            cassette=self._cassette(claim.cassette_hash) if claim.cassette_hash and not sandbox else None,
            recordings=self._recordings(claim.cassette_hash) if sandbox else (),
            matching=self._matching(claim.cassette_hash) if sandbox else NO_RULES,
            suite_files=files,
            suite_folder=self._folder(document, files),
            namespace=self.namespace(claim.run_id, claim.attempt_id, claim.fence),
            gate=gate,
            sessions=sessions,
            serving=serve_gateway,
            agent=document.agent,
            record=claim.record,
        )

    def scenario(self, connection: sa.Connection, order_hash: str) -> tuple[Scenario, dict[str, bytes], Path | None]:
        """The scenario of an order, its suite's files, and the folder where they lie. Raises `LookupError`."""
        self._know_site(connection)
        self._fetch(connection, [order_hash], _Order.read)
        document: _Order = self._cached(order_hash)
        self._fetch(connection, document.files.values(), bytes)
        files = {path: self._cached(name) for path, name in document.files.items()}
        return document.scenario, files, self._folder(document, files)

    def namespace(self, run_id: str, attempt_id: str, fence: int) -> str:
        """The text of one try alone; asked after its order was fetched, or its scenario."""
        return namespace_of(self._site, run_id, attempt_id, fence)

    def _know_site(self, connection: sa.Connection) -> None:
        """Replays have no text of their own, and need not ask."""
        if self._asks_site and not self._site:
            self._site = site_of(connection)

    def _cached(self, name: str) -> Any:
        if name not in self._cache:
            raise LookupError(f"blob {name} is not in the database")
        return self._cache[name][1]

    def _cassette(self, name: str) -> Cassette:
        if name not in self._cassettes:
            raise LookupError(f"cassette {name} is not in the database")
        values = {payload: self._cached(payload) for payload in self._references[name]}
        return cassette_of(resolved(self._cassettes[name], values))

    def _recordings(self, name: str | None) -> tuple[Cassette, ...]:
        return tuple(
            self._cassette(recording) for recording in self._cassettes.get(name or "", {}).get("recordings", ())
        )

    def _matching(self, name: str | None) -> MatchingRules:
        return MatchingRules.model_validate(self._cassettes.get(name or "", {}).get("matching", {}))

    def _folder(self, document: _Order, files: dict[str, bytes]) -> Path | None:
        if not files or (document.mode is Mode.REPLAY and document.scenario.agent is None):
            return None
        # A replay starts nothing from there but an agent that is a command.
        self._folders = self._folders or SuiteFolders()
        return self._folders.folder(document.files, files)

    def _fetch(self, connection: sa.Connection, hashes: Iterable[str], read: Any) -> None:
        missing = {name for name in hashes if name not in self._cache}
        if missing:
            for name, data in blobs.load(connection, missing).items():
                self._keep(name, len(data), read(data))

    def _fetch_payloads(self, connection: sa.Connection, names: Iterable[str]) -> None:
        missing = {name.partition(".")[0]: name for name in names if name not in self._cache}
        if missing:
            for digest, data in blobs.load(connection, missing).items():
                name = missing[digest]
                self._keep(name, len(data), data.decode() if name.endswith(".txt") else orjson.loads(data))

    def _keep(self, name: str, size: int, value: Any) -> None:
        self._cache[name] = (size, value)
        self._size += size

    def _shrink(self) -> None:
        """Forget the oldest before a new batch, never during one."""
        while self._size > CACHED_BYTES and len(self._cache) > 1:
            _, (size, _) = self._cache.popitem(last=False)
            self._size -= size


def _documents(connection: sa.Connection, names: set[str]) -> dict[str, Any]:
    return {name: orjson.loads(data) for name, data in blobs.load(connection, names).items()} if names else {}


class _Order:
    """A cell's order blob, read."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.scenario = Scenario.model_validate(document["scenario"])
        self.prompt = Prompt(**document["prompt"])
        self.model: ModelReference = parse_model_reference(document["model"])
        self.mode = Mode(document["mode"])
        self.files: dict[str, str] = document["files"]
        self.agent: str = document.get("agent", DEFAULT_AGENT)

    @classmethod
    def read(cls, data: bytes) -> _Order:
        """From the blob's bytes."""
        return cls(orjson.loads(data))
