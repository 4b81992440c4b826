"""What a request of the stateless protocol must say of itself: in its headers, and the same in its body."""

from __future__ import annotations

from typing import Any

from passgrid.json_values import is_object
from passgrid.wire.http import HttpRequest
from passgrid.wire.json_rpc import INVALID_REQUEST, RpcError
from passgrid.wire.mcp_messages import (
    HANDSHAKE_VERSIONS,
    MODERN_VERSION,
    error_message,
    invalid_message,
    is_answer,
    problem_of,
)

_VERSION = b"mcp-protocol-version"
PROTOCOL_KEY = "io.modelcontextprotocol/protocolVersion"


def is_stateless(request: HttpRequest, body: Any) -> bool:
    """Whether a request speaks the protocol without sessions, or wants to: a mistake in it is told in its terms."""
    version = request.header(_VERSION)
    if version == MODERN_VERSION:
        return True
    if request.header(b"mcp-session-id") is not None:
        return False
    if version is not None and version not in HANDSHAKE_VERSIONS:
        return True
    return is_object(body) and (body.get("method") == "server/discover" or PROTOCOL_KEY in meta_of(body))


def _named_well(body: dict[str, Any]) -> dict[str, Any]:
    """The request without a name that is no text: no header can repeat it, and it is told of as what it is."""
    params = body.get("params")
    if not is_object(params) or isinstance(params.get("name", ""), str):
        return body
    return {**body, "params": {key: value for key, value in params.items() if key != "name"}}


def meta_of(message: Any) -> dict[str, Any]:
    """The `_meta` of a message; empty where it has none."""
    params = message.get("params") if is_object(message) else None
    meta = params.get("_meta") if is_object(params) else None
    return meta if is_object(meta) else {}


def rejection(request: HttpRequest, body: Any) -> tuple[int, dict[str, Any]] | None:
    """Status and body where the request cannot be served; None where it can.

    Which headers and `_meta` keys there must be is decided by the official SDK's own rules.
    """
    if not is_object(body) or is_answer(body) or (problem_of(body) is not None):
        problem = "one request or notification, and nothing else" if not is_object(body) else problem_of(body)
        return 400, invalid_message(body, problem or "the stateless protocol has no answers of clients")
    # The SDK's types take a moment to import: only for clients that speak this protocol.
    from mcp.shared.inbound import (
        ERROR_CODE_HTTP_STATUS,
        InboundLadderRejection,
        classify_inbound_request,
        find_duplicated_routing_header,
        unsupported_protocol_version_rejection,
    )

    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers]
    twice = find_duplicated_routing_header(pairs)
    if twice is not None:
        return 400, error_message(body.get("id"), RpcError(INVALID_REQUEST, f"{twice} header appears more than once"))
    if "id" not in body:
        found = unsupported_protocol_version_rejection(request.header(_VERSION) or "")
    else:
        found = classify_inbound_request(_named_well(body), headers=dict(pairs))
    if not isinstance(found, InboundLadderRejection):
        return None
    status = ERROR_CODE_HTTP_STATUS.get(found.code, 400)
    return status, error_message(body.get("id"), RpcError(found.code, found.message, found.data))
