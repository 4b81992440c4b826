"""Who serves an agent's gateway: a web server is nothing the core knows, so whoever runs attempts brings one."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeAlias

from passgrid.wire.http import Handler

Serving: TypeAlias = Callable[[Handler, socket.socket], AbstractAsyncContextManager[None]]
"""Serves a handler on a listening socket for as long as the context lasts; closes the socket."""


class NotServed(Exception):
    """An agent that is a command was ordered where nobody can serve its gateway."""


def not_served(handler: Handler, listener: socket.socket) -> AbstractAsyncContextManager[None]:
    """Stands where no server was given. Raises `NotServed`."""
    listener.close()
    raise NotServed("nobody serves the gateway of an agent here; run it through a worker")
