"""What a sealed agent must not find on the disk: sockets there lead out of any network of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from passgrid.agents.program import NoNamespace

_ADDRESSES = ("PASSGRID_DATABASE_URL", "PASSGRID_BROKER_URL")


def hidden_folders(environment: Mapping[str, str], needed: Iterable[Path]) -> tuple[Path, ...]:
    """The folders of this installation and of the sockets it is reached by.

    Raises `NoNamespace` where one of them holds what the agent needs, so that it cannot be hidden.
    """
    found = [Path(environment["PASSGRID_HOME"]).expanduser()] if environment.get("PASSGRID_HOME") else []
    for name in _ADDRESSES:
        address = urlsplit(environment.get(name, ""))
        hosts = [host for host in parse_qs(address.query).get("host", []) if host.startswith("/")]
        found += map(Path, hosts)
        if address.scheme.endswith(("unix", "socket")):
            found.append(Path(address.path).parent)
    folders = {path.resolve() for path in found if path.is_dir()}
    kept = [path.resolve() for path in needed]
    for folder in sorted(folders):
        if (inside := next((path for path in kept if path.is_relative_to(folder)), None)) is not None:
            raise NoNamespace(
                f"{folder} must be hidden from a replayed agent, and {inside}, which it needs, lies in it: "
                "let PASSGRID_HOME, the folders of sockets, TMPDIR and Python's environment lie beside each other"
            )
    return tuple(sorted(folders))
