"""What a scenario declares of its servers: places and variables filled in, and which of it is secret."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from passgrid.redaction import secrets_of, secrets_of_address
from passgrid.server import AnyServer, HttpServer, StdioServer

PRIVATE = "private"
"""`${private}`: an empty folder of one server process, gone with it."""

_OF_OURS = re.compile(r"\$\{env:([^}]*)\}")


def filled(text: str, places: Mapping[str, Path | None]) -> str:
    """`text` with ${workspace}, ${suite} and ${env:NAME} replaced."""
    for place, path in places.items():
        if path is not None:
            text = text.replace(f"${{{place}}}", str(path))
    while (start := text.find("${env:")) != -1 and (end := text.find("}", start)) != -1:
        text = text[:start] + os.environ.get(text[start + 6 : end], "") + text[end + 1 :]
    return text


def uses(server: StdioServer, place: str) -> bool:
    """Whether a command's arguments or environment name a place, such as `workspace`."""
    return any(f"${{{place}}}" in text for text in (*server.args, *server.env.values()))


def command_secrets(command: str, args: Iterable[str], env: Mapping[str, str]) -> set[str]:
    """What is secret in a declared command: by the name of a variable, or because it is taken from ours by name."""
    return secrets_of(env) | _taken((command, *args, *env.values()))


def _taken(texts: Iterable[str]) -> set[str]:
    """What is taken from our environment by name is meant to be known to few: alone, and with what stands beside it."""
    of_ours = [text for text in texts if "${env:" in text]
    names = {name for text in of_ours for name in _OF_OURS.findall(text)}
    return {filled(text, {}) for text in of_ours} | {os.environ.get(name, "") for name in names}


def server_secrets(servers: Mapping[str, AnyServer]) -> set[str]:
    """What a scenario's servers are given that is secret: headers, environment, passwords in addresses."""
    found: set[str] = set()
    for server in servers.values():
        if isinstance(server, HttpServer):
            found |= secrets_of(server.headers) | secrets_of_address(server.url)
            given = [*server.headers.values()]
            if server.oauth is not None and server.oauth.client_secret is not None:
                given.append(server.oauth.client_secret)
            if server.oauth is not None:
                # Brings the client of live servers in: only where a server needs it.
                from passgrid.tools.token_file import login_of

                found |= login_of(server).secrets()
        elif isinstance(server, StdioServer):
            found |= command_secrets(server.command, server.args, server.env)
            continue
        else:
            continue
        found |= _taken(given)
    return found
