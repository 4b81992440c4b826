"""Serve the API: on the Unix socket of an embedded stack, or on PASSGRID_API_HOST and PASSGRID_API_PORT."""

from __future__ import annotations

import os

import uvicorn

from api.http.app import make_app


def main() -> None:
    """Serve until told to stop."""
    socket = os.environ.get("PASSGRID_API_SOCKET")
    if socket:
        os.umask(0o077)
        uvicorn.run(make_app(), uds=socket, log_level="warning")
    else:
        host = os.environ.get("PASSGRID_API_HOST", "127.0.0.1")
        uvicorn.run(make_app(), host=host, port=int(os.environ.get("PASSGRID_API_PORT", "8400")), log_level="info")


if __name__ == "__main__":
    main()
