"""What a scenario declares of its servers: places and variables filled in, and which of it is secret."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from passgrid.redaction import secrets_of, secrets_of_address
from passgrid.scenario import HttpServer, StdioServer


def filled(text: str, places: Mapping[str, Path | None]) -> str:
    """`text` with ${workspace}, ${suite} and ${env:NAME} replaced."""
    for place, path in places.items():
        if path is not None:
            text = text.replace(f"${{{place}}}", str(path))
    while (start := text.find("${env:")) != -1 and (end := text.find("}", start)) != -1:
        text = text[:start] + os.environ.get(text[start + 6 : end], "") + text[end + 1 :]
    return text


def server_secrets(servers: Mapping[str, StdioServer | HttpServer]) -> set[str]:
    """What a scenario's servers are given that is secret: headers, environment, passwords in addresses."""
    found: set[str] = set()
    for server in servers.values():
        if isinstance(server, HttpServer):
            found |= secrets_of(server.headers) | secrets_of_address(server.url)
            given = server.headers.values()
        else:
            found |= secrets_of(server.env)
            given = server.env.values()
        # Whatever is taken from the environment by name is meant to be known to few.
        found |= {filled(value, {}) for value in given if "${env:" in value}
    return found
