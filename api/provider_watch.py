"""Applies the providers file whenever it changes: limits may be changed while runs go on."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import sqlalchemy as sa

from passgrid.problems import InvalidInput
from passgrid.provider_file import read_provider_file
from passgrid.warehouse.provider_limits import configure

log = logging.getLogger(__name__)


def provider_file() -> Path | None:
    """PASSGRID_PROVIDERS, else `providers.yaml` in PASSGRID_HOME; None where neither is set."""
    if named := os.environ.get("PASSGRID_PROVIDERS"):
        return Path(named)
    home = os.environ.get("PASSGRID_HOME")
    return Path(home) / "providers.yaml" if home else None


class ProviderWatch:
    """Looks at the file at every tick of the scheduler."""

    def __init__(self, engine: sa.Engine, path: Path | None) -> None:
        self._engine = engine
        self._path = path
        self._seen: tuple[int, int] | None = None

    def look(self) -> None:
        """Apply the file if it changed. One with a mistake is not applied: the limits stay as they were."""
        if self._path is None:
            return
        stamp = _stamp(self._path)
        if stamp == self._seen:
            return
        try:
            limits = read_provider_file(self._path)
        except InvalidInput as error:
            log.error("the providers file is not applied: %s", error)
        else:
            configure(self._engine, {name: one.model_dump() for name, one in limits.items()})
            log.info("limits of %s applied", ", ".join(sorted(limits)) or "no provider")
        self._seen = stamp


def _stamp(path: Path) -> tuple[int, int]:
    try:
        facts = path.stat()
    except OSError:
        return (0, 0)
    return (facts.st_mtime_ns, facts.st_size)
