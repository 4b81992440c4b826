"""Suite files on a worker's own disk, for servers that are started from there."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from passgrid.identity import value_hash

_PROGRAMS = (b"#!", b"\x7fELF")
"""How files begin that can be started; blobs have no modes."""


class SuiteFolders:
    """Writes each version of a suite's files once per process; the folders go with the process.

    All attempts of the process use them, so nothing in them can be changed; root can, where it is not kept from it.
    """

    def __init__(self) -> None:
        self._root = tempfile.TemporaryDirectory(prefix="passgrid-suites-")
        self._folders: dict[str, Path] = {}

    def folder(self, manifest: Mapping[str, str], files: Mapping[str, bytes]) -> Path:
        """The folder that holds these files; `manifest` gives their hashes by path."""
        version = value_hash(dict(manifest))
        if version not in self._folders:
            folder = Path(self._root.name).resolve() / version[:16]
            for path, data in files.items():
                target = (folder / path).resolve()
                if not target.is_relative_to(folder):
                    raise ValueError(f"a suite file would leave its folder: {path}")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(data)
                if data.startswith(_PROGRAMS):
                    target.chmod(0o700)
            _make_read_only(folder)
            self._folders[version] = folder
        return self._folders[version]


def _make_read_only(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        path.chmod(path.stat().st_mode & 0o555)
