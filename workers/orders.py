"""From a claim to everything its attempt needs, out of the blobs in Postgres."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson
import sqlalchemy as sa

from passgrid.attempt_order import AttemptOrder
from passgrid.cassettes.format import Cassette, cassette_of
from passgrid.cassettes.payloads import references, resolved
from passgrid.matrix import Mode, Prompt
from passgrid.model_reference import ModelReference, parse_model_reference
from passgrid.scenario import Scenario
from passgrid.warehouse import blobs
from passgrid.warehouse.claims import Claim
from workers.suite_folder import SuiteFolders

CACHED_BYTES = 64_000_000
"""Blobs a process keeps: orders, payloads and suite files are shared by many attempts."""


class OrderBook:
    """Makes attempt orders from claims; keeps what many attempts share."""

    def __init__(self, folders: SuiteFolders | None = None) -> None:
        self._cache: OrderedDict[str, tuple[int, Any]] = OrderedDict()
        self._size = 0
        self._folders = folders

    def orders(self, connection: sa.Connection, claims: Sequence[Claim]) -> list[AttemptOrder]:
        """The orders of these claims, in order. Raises `LookupError` where a blob is missing."""
        self._fetch(connection, (claim.order_hash for claim in claims), _order_of)
        documents = [self._cache[claim.order_hash][1] for claim in claims]
        files = {name for document in documents for name in document.files.values()}
        self._fetch(connection, files, bytes)
        hashes = [claim.cassette_hash for claim in claims if claim.cassette_hash]
        cassettes = (
            {name: orjson.loads(data) for name, data in blobs.load(connection, hashes).items()} if hashes else {}
        )
        payloads = {name for document in cassettes.values() for name in references(document)}
        self._fetch_payloads(connection, payloads)
        connection.rollback()
        return [self._order(claim, cassettes) for claim in claims]

    def _order(self, claim: Claim, cassettes: dict[str, Any]) -> AttemptOrder:
        document: _Order = self._cache[claim.order_hash][1]
        files = {path: self._cache[name][1] for path, name in document.files.items()}
        return AttemptOrder(
            attempt_id=claim.attempt_id,
            scenario=document.scenario,
            prompt=document.prompt,
            model=document.model,
            mode=document.mode,
            sample=claim.sample,
            cassette=self._cassette(cassettes[claim.cassette_hash]) if claim.cassette_hash else None,
            suite_files=files,
            suite_folder=self._folder(document, files),
            record=claim.record,
        )

    def _cassette(self, document: dict[str, Any]) -> Cassette:
        values = {name: self._cache[name][1] for name in references(document)}
        return cassette_of(resolved(document, values))

    def _folder(self, document: _Order, files: dict[str, bytes]) -> Path | None:
        if self._folders is None or document.mode is Mode.REPLAY or not files:
            return None
        return self._folders.folder(document.files, files)

    def _fetch(self, connection: sa.Connection, hashes: Iterable[str], read: Any) -> None:
        missing = {name for name in hashes if name not in self._cache}
        if missing:
            for name, data in blobs.load(connection, missing).items():
                self._keep(name, len(data), read(data))
        self._shrink()

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


class _Order:
    """A cell's order blob, read."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.scenario = Scenario.model_validate(document["scenario"])
        self.prompt = Prompt(**document["prompt"])
        self.model: ModelReference = parse_model_reference(document["model"])
        self.mode = Mode(document["mode"])
        self.files: dict[str, str] = document["files"]


def _order_of(data: bytes) -> _Order:
    return _Order(orjson.loads(data))
