"""What a server's process gets of our environment: little, so that no secret of ours reaches it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT")
"""What is passed on; everything else a server needs is named by whoever starts it."""


def server_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server's process, with `extra` in it."""
    environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
    # Programs of our own environment are found first: servers are often installed beside us.
    own = str(Path(sys.executable).parent)
    environment["PATH"] = os.pathsep.join([own, environment.get("PATH", os.defpath)])
    return environment | dict(extra)
