"""What a worker process is called in Postgres."""

from __future__ import annotations

import os
import secrets
import socket


def incarnation() -> str:
    """A name for one process in one of its lives: its number may be used again."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
