"""What one JSON-RPC frame is: a request, a notification or an answer, and whose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from passgrid.json_values import is_object

Sender: TypeAlias = Literal["client", "server"]
Body: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """One message that passed, as it was."""

    sender: Sender
    body: Body | None
    """None for something that was no JSON-RPC message: a stray line on stdout, say."""
    exchange: int | None = None
    """The HTTP exchange it belongs to, where the transport has such: its answers came on the same response."""


def is_request(body: Body) -> bool:
    """A message that wants an answer."""
    return isinstance(body.get("method"), str) and "id" in body


def is_notification(body: Body) -> bool:
    """A message that wants none."""
    return isinstance(body.get("method"), str) and "id" not in body


def is_answer(body: Body) -> bool:
    """A result or an error."""
    return "method" not in body and "id" in body and ("result" in body or "error" in body)


def frame_id(body: Body) -> str:
    """The id as a key. Some servers answer `7` with `"7"`; clients take both for the same."""
    return str(body.get("id"))


def params_of(body: Body) -> dict[str, Any]:
    """The parameters; empty where there are none or they are no object."""
    params = body.get("params")
    return params if is_object(params) else {}


def meta_of(holder: Any) -> dict[str, Any]:
    """The `_meta` of parameters or of a result; empty where there is none."""
    meta = holder.get("_meta") if is_object(holder) else None
    return meta if is_object(meta) else {}


def progress_token(body: Body) -> str | int | None:
    """The token under which a request asks to be told of progress."""
    token = meta_of(body.get("params")).get("progressToken")
    return token if isinstance(token, str | int) and not isinstance(token, bool) else None
