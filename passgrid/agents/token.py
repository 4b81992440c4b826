"""The token of one attempt's gateway."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from passgrid.attempt_order import AttemptOrder
from passgrid.matrix import Mode

_SECRET = secrets.token_bytes(32)
"""Of this process: nobody else can tell the tokens it gives."""


def gateway_token(order: AttemptOrder) -> str:
    """What the attempt's agent shows to its gateway.

    In a replay it follows from the attempt alone: nobody else reaches that gateway, and what an agent prints is the
    same in every replay.
    """
    key = b"replay" if order.mode is Mode.REPLAY else _SECRET
    return hmac.new(key, f"{order.attempt_id} {order.own_namespace}".encode(), hashlib.sha256).hexdigest()[:40]
