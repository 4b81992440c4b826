"""The Unix socket of the API: whoever can open it is the local user, so nobody else can."""

from __future__ import annotations

import socket
from pathlib import Path


def prepare_socket(path: Path) -> None:
    """Make the file of the socket with mode 0600 before it is listened on.

    Uvicorn gives a new one mode 0666; the mode of one that is there it keeps.
    """
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))
    path.chmod(0o600)
