"""For whom a request over HTTP is: its headers first, then its query, then what its session was begun with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from passgrid.wire.http import Header, HttpRequest
from passgrid.wire.mcp_service import Identity

TEST_ID = (b"x-test-id", "testId")
CONTEXT = (b"x-aimock-context", "context")
LONGEST = 500
UNDECLARED = (b"x-aimock-mcp-undeclared", "undeclared")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


class BadIdentity(Exception):
    """The request contradicts itself; `body` is what a client reads, with status 400."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.body: dict[str, Any] = {"error": message, "code": code}


def request_identity(request: HttpRequest) -> Identity:
    """Whom the request names itself; nothing for what it does not say. Raises `BadIdentity`."""
    return _identity(request.headers, request.query)


@lru_cache(maxsize=4_096)
def _identity(headers: tuple[Header, ...], query: bytes) -> Identity:
    """A client sends the same headers again and again."""
    pairs = query_pairs(query)
    return Identity(
        test_id=_named(headers, pairs, *TEST_ID),
        context=_named(headers, pairs, *CONTEXT),
        undeclared=_undeclared(headers, pairs),
    )


def as_identified(request: HttpRequest, who: Identity) -> HttpRequest:
    """The request as one that names these in its headers, and nobody anywhere else."""
    named = ((TEST_ID, who.test_id), (CONTEXT, who.context))
    ours = {TEST_ID[0], CONTEXT[0]}
    kept = [pair for pair in request.headers if pair[0] not in ours]
    said = [(header, quote(value).encode()) for (header, _), value in named if value is not None]
    return replace(request, headers=(*kept, *said), query=b"")


def over(bound: Identity, asked: Identity) -> Identity:
    """What a request says, over what its session was begun with; each part alone."""
    return Identity(
        asked.test_id or bound.test_id, asked.context or bound.context, asked.undeclared or bound.undeclared
    )


def query_pairs(query: bytes) -> list[tuple[str, str]]:
    """Names and values of a query, decoded; a bare name has an empty value."""
    pairs = (part.partition("=") for part in query.decode("latin-1").split("&") if part)
    return [(_from_query(name), _from_query(value)) for name, _, value in pairs]


def percent_decoded(text: str) -> str:
    """The text with its escapes resolved; as it is where that is not possible."""
    if "%" not in text:
        return text
    if _BAD_ESCAPE.search(text):
        return text
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeError:
        return text


def _from_query(text: str) -> str:
    return percent_decoded(text.replace("+", " "))


def _header(headers: Sequence[Header], name: bytes) -> str | None:
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise BadIdentity(f"The header {name.decode()} was sent twice", "MCP_DUPLICATE_IDENTITY")
    return values[0].decode("latin-1") if values else None


def _decoded(value: str | None) -> str | None:
    return percent_decoded(value) if value else None


def _one(query: Sequence[tuple[str, str]], name: str) -> str | None:
    values = [value for key, value in query if key == name]
    if len(values) > 1:
        raise BadIdentity(f"The query has {name} twice", "MCP_DUPLICATE_IDENTITY")
    return values[0] or None if values else None


def _named(headers: Sequence[Header], query: Sequence[tuple[str, str]], header: bytes, name: str) -> str | None:
    """A name in the header, else in the query; both are looked at, so that none is said twice."""
    sent, asked = _decoded(_header(headers, header)), _one(query, name)
    found = sent or asked
    if found is not None and (len(found) > LONGEST or "\0" in found):
        raise BadIdentity(f"{name} may have {LONGEST} characters, none of them NUL", "MCP_INVALID_IDENTITY")
    return found


def _undeclared(headers: Sequence[Header], query: Sequence[tuple[str, str]]) -> str | None:
    header, asked = _policy(_header(headers, UNDECLARED[0])), _policy(_one(query, UNDECLARED[1]))
    return header or asked


def _policy(value: str | None) -> str | None:
    chosen = (value or "").strip().lower()
    if chosen not in {"", "allow", "deny"}:
        raise BadIdentity(f"undeclared is {chosen[:100]!r}; it must be allow or deny", "MCP_INVALID_UNDECLARED")
    return chosen or None
