"""Suite files on a worker's disk, as its servers and agents need them."""

from __future__ import annotations

import os
import subprocess

import pytest

from workers.suite_folder import SuiteFolders


def test_programs_can_be_started_and_other_files_cannot() -> None:
    files = {"bin/agent": b"#!/bin/sh\necho here\n", "notes.txt": b"hello\n"}
    folders = SuiteFolders()
    folder = folders.folder({path: path for path in files}, files)
    assert subprocess.run([folder / "bin/agent"], capture_output=True, check=True).stdout == b"here\n"
    assert not os.access(folder / "notes.txt", os.X_OK)


def test_no_file_leaves_its_folder() -> None:
    with pytest.raises(ValueError, match="would leave its folder"):
        SuiteFolders().folder({"../a": "x"}, {"../a": b""})


def test_nothing_in_it_may_be_written() -> None:
    files = {"bin/agent": b"#!/bin/sh\n", "notes.txt": b"hello\n"}
    folders = SuiteFolders()
    folder = folders.folder({path: path for path in files}, files)
    for path in (folder, *folder.rglob("*")):
        assert path.stat().st_mode & 0o222 == 0, path
    assert (folder / "bin/agent").stat().st_mode & 0o100
