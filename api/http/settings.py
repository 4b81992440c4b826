"""How the API is served, decided when it is started and never by a request."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass

from passgrid.problems import InvalidInput, Problem

MAX_BODY = 1024 * 1024
MAX_UPLOAD = 64 * 1024 * 1024
PORT = 8400
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """What the application needs to know about how it is served."""

    local: bool = False
    """Served on a private socket that only the user who started it can open: every caller is that user."""
    hosts: frozenset[str] | None = None
    """Host names it answers to, without ports; any when None."""
    max_body: int = MAX_BODY
    """Bytes of a request's body."""
    max_upload: int = MAX_UPLOAD
    """Bytes of a request that uploads a suite."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where it is served."""

    settings: HttpSettings
    socket: str | None = None
    """A Unix socket; else host and port."""
    host: str = "127.0.0.1"
    port: int = PORT


def listening(environment: Mapping[str, str]) -> Listening:
    """What the environment says. Raises `InvalidInput` with every value that cannot be used."""
    problems: list[Problem] = []
    max_body = _number(environment, "PASSGRID_API_MAX_BODY", MAX_BODY, problems)
    max_upload = _number(environment, "PASSGRID_API_MAX_UPLOAD", MAX_UPLOAD, problems)
    port = _number(environment, "PASSGRID_API_PORT", PORT, problems, most=65535)
    if problems:
        raise InvalidInput(problems)
    socket = environment.get("PASSGRID_API_SOCKET")
    if socket:
        return Listening(HttpSettings(local=True, max_body=max_body, max_upload=max_upload), socket=socket)
    host = environment.get("PASSGRID_API_HOST", "127.0.0.1")
    hosts = allowed_hosts(host, environment.get("PASSGRID_API_HOSTS", ""))
    return Listening(HttpSettings(hosts=hosts, max_body=max_body, max_upload=max_upload), host=host, port=port)


def allowed_hosts(bound: str, listed: str) -> frozenset[str] | None:
    """The host names to answer to: those listed, and the loopback ones where nothing else can reach the server.

    A page of another site can have its own name point to 127.0.0.1; requests of it would carry that name.
    """
    names = {name.strip().strip("[]").lower() for name in listed.split(",")} - {""}
    if is_loopback(bound):
        return frozenset({*names, *_LOOPBACK_NAMES, bound.lower()})
    return frozenset(names) or None


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets, in lower case."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0].removesuffix(".")


def _number(environment: Mapping[str, str], name: str, default: int, problems: list[Problem], most: int = 2**40) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or not 1 <= int(text) <= most:
        problems.append(Problem(f"{name}={text}", f"must be a number from 1 to {most}"))
        return default
    return int(text)
