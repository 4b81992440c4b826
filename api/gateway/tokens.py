"""Tokens of a gateway: each stands for one test, or for everything."""

from __future__ import annotations

import base64
import hashlib
import hmac
from dataclasses import dataclass

from passgrid.wire.http import HttpRequest

_PREFIX = "pgg"
_EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Bearer:
    """Who a token stands for."""

    test_id: str | None
    """The only test it can speak for and read; None: all of them."""


class BadToken(Exception):
    """The token is none of ours, or none was sent where one is needed."""


def make_token(key: bytes, test_id: str | None) -> str:
    """The token of a test, or of everything (None)."""
    name = base64.urlsafe_b64encode((_EVERYTHING if test_id is None else f"t{test_id}").encode()).decode().rstrip("=")
    return f"{_PREFIX}_{name}.{_signature(key, name)}"


def bearer_of(request: HttpRequest, key: bytes, *, required: bool) -> Bearer:
    """Whom the request's token stands for. Without one: everything, unless one is required. Raises `BadToken`."""
    token = sent_token(request)
    if token is None:
        if required:
            raise BadToken("a token is needed: Authorization: Bearer …; `passgrid gateway token` makes one")
        return Bearer(None)
    if not token.startswith(_PREFIX + "_"):
        if required:
            raise BadToken("this is no token of this gateway")
        return Bearer(None)  # an API key that some client sends because it must
    name, _, signature = token.removeprefix(_PREFIX + "_").partition(".")
    if not hmac.compare_digest(signature.encode(), _signature(key, name).encode()):
        raise BadToken("this is no token of this gateway")
    said = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
    return Bearer(None if said == _EVERYTHING else said[1:])


def sent_token(request: HttpRequest) -> str | None:
    """The token in its own header, in `Authorization: Bearer`, or in the header that the Anthropic clients send."""
    own = request.header(b"x-passgrid-token")
    if own is not None:
        return own
    authorization = request.header(b"authorization")
    if authorization is not None and authorization.lower().startswith("bearer "):
        return authorization[7:].strip()
    return request.header(b"x-api-key")


def _signature(key: bytes, name: str) -> str:
    return base64.urlsafe_b64encode(hmac.new(key, name.encode(), hashlib.sha256).digest()[:24]).decode().rstrip("=")
