"""Serve the API: on the Unix socket of an embedded stack, or on PASSGRID_API_HOST and PASSGRID_API_PORT."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import uvicorn

from api.http.app import make_app
from api.http.private_socket import prepare_socket
from api.http.settings import listening
from passgrid.problems import InvalidInput


def main() -> None:
    """Serve until told to stop."""
    try:
        place = listening(os.environ)
    except InvalidInput as error:
        print(f"error: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    app = make_app(place.settings)
    if place.socket:
        os.umask(0o077)
        prepare_socket(Path(place.socket))
        uvicorn.run(app, uds=place.socket, log_level="warning", server_header=False)
    else:
        uvicorn.run(app, host=place.host, port=place.port, log_level="info", server_header=False)


if __name__ == "__main__":
    main()
