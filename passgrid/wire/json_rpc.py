"""Errors of JSON-RPC, as they stand in a message."""

from __future__ import annotations

from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class RpcError(Exception):
    """Answers a request with an error instead of a result."""

    def __init__(self, code: int, message: str, data: Any = None, answered: str | None = None) -> None:
        """answered: what the journal says of a call that ends so, where that is not its server's usual answer."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.answered = answered

    def body(self) -> dict[str, Any]:
        """The `error` member of the answer."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        return body if self.data is None else {**body, "data": self.data}
