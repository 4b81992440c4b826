"""Workspaces on disk: fresh, isolated from their template, told apart from it, and gone at the end."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from passgrid.workspaces import attempt_workspace
from passgrid.workspaces.attempt_workspace import Place, make_workspace
from passgrid.workspaces.changes import WorkspaceFiles
from passgrid.workspaces.overlay import METHOD_VARIABLE, mounts_below

TEMPLATE: Mapping[str, bytes] = {
    "a.txt": b"one\n",
    "notes/b.txt": b"two\n",
    "notes/deep/c.bin": b"\xff\x00\n",
    "other/d.txt": b"four\n",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "a home, with: blanks"
    monkeypatch.setenv("PASSGRID_HOME", str(home))
    return home


Make = Callable[[], Place]


@pytest.fixture(params=["copy", "overlay"])
def make(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes workspaces by one of the methods, where this machine lets us."""
    monkeypatch.setenv(METHOD_VARIABLE, request.param)
    place = make_workspace(TEMPLATE)
    method = place.method
    place.remove()
    if request.param == "overlay" and method != "overlay":
        pytest.skip("no overlay can be mounted here")
    return lambda: make_workspace(TEMPLATE)


def folder_of(place: Place) -> Path:
    assert place.folder is not None
    return place.folder


def summary(files: WorkspaceFiles) -> dict[str, str]:
    return {change.path: change.change for change in files.diff.changes}


def texts(files: WorkspaceFiles) -> dict[str, str]:
    return dict(files.files)


def test_it_holds_the_template_and_differs_in_nothing(make: Make) -> None:
    place = make()
    files = place.read()
    assert summary(files) == {}
    assert texts(files) == {path: data.decode(errors="replace") for path, data in sorted(TEMPLATE.items())}
    place.remove()
    assert not folder_of(place).exists()


def test_every_kind_of_change_is_told_with_hashes_and_sizes(make: Make) -> None:
    place = make()
    folder = folder_of(place)
    (folder / "a.txt").write_text("other\n")
    (folder / "new").mkdir()
    (folder / "new/e.txt").write_text("five")
    (folder / "notes/b.txt").unlink()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/x.pyc").write_text("x")
    os.mkfifo(folder / "pipe")
    files = place.read()
    assert summary(files) == {"a.txt": "changed", "new/e.txt": "created", "notes/b.txt": "deleted", "link": "created"}
    changed = files.diff.changes[0]
    assert changed.before is not None
    assert changed.after is not None
    assert (changed.before.sha256, changed.before.size) == (hashlib.sha256(b"one\n").hexdigest(), 4)
    assert (changed.after.sha256, changed.after.size) == (hashlib.sha256(b"other\n").hexdigest(), 6)
    assert files.changed == {"a.txt": "other\n", "new/e.txt": "five", "link": "/etc/passwd"}
    assert "notes/b.txt" not in files.files
    place.remove()


def test_written_back_as_it_was_is_no_change(make: Make) -> None:
    place = make()
    path = folder_of(place) / "notes/b.txt"
    path.write_text("x")
    path.write_text("two\n")
    (folder_of(place) / "a.txt").chmod(0o600)
    assert summary(place.read()) == {}
    place.remove()


@pytest.mark.parametrize("how", ["renamed", "replaced", "removed", "file in its place", "made anew"])
def test_folders_that_went_elsewhere_are_told_file_by_file(make: Make, how: str) -> None:
    place = make()
    folder = folder_of(place)
    if how == "renamed":
        # It copies where the folder cannot be renamed: on an overlay of an ordinary user.
        subprocess.run(["mv", folder / "notes", folder / "moved"], check=True)
        expected = {"moved/b.txt": "created", "moved/deep/c.bin": "created"}
    else:
        subprocess.run(["rm", "-r", folder / "notes"], check=True)
        expected = dict[str, str]()
    if how == "replaced":
        subprocess.run(["mv", folder / "other", folder / "notes"], check=True)
        expected = {"notes/d.txt": "created", "other/d.txt": "deleted"}
    elif how == "file in its place":
        (folder / "notes").write_text("flat")
        expected = {"notes": "created"}
    elif how == "made anew":
        (folder / "notes").mkdir()
        (folder / "notes/b.txt").write_text("two\n")
    gone = {"notes/b.txt": "deleted", "notes/deep/c.bin": "deleted"}
    if how == "made anew":
        del gone["notes/b.txt"]
    assert summary(place.read()) == {**gone, **expected}
    place.remove()


def test_nothing_written_in_one_is_seen_in_the_next(make: Make) -> None:
    """Also by writing in place, which a hard link would let through."""
    first, beside = make(), make()
    with (folder_of(first) / "a.txt").open("r+b") as file:
        file.write(b"new")
    with (folder_of(first) / "notes/b.txt").open("ab") as file:
        file.write(b"more")
    first.remove()
    after = make()
    for place in (beside, after):
        assert summary(place.read()) == {}
        assert (folder_of(place) / "a.txt").read_bytes() == b"one\n"
        assert (folder_of(place) / "a.txt").stat().st_nlink == 1
        place.remove()


def test_folders_nobody_may_read_are_removed_too(make: Make) -> None:
    place = make()
    (folder_of(place) / "notes/deep").chmod(0)
    (folder_of(place) / "notes").chmod(0)
    place.remove()
    assert not folder_of(place).parent.exists()


def test_a_repository_is_clean_and_the_same_in_every_workspace(make: Make) -> None:
    commits: set[bytes] = set()
    for _ in range(2):
        place = make_workspace(TEMPLATE, git=True)
        folder = folder_of(place)
        for command in (["diff-files", "--name-only"], ["status", "--porcelain"]):
            done = subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, text=True)
            assert done.stdout == ""
        commits.add(subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True).stdout)
        (folder / "a.txt").write_text("neo\n")
        done = subprocess.run(["git", "status", "--porcelain"], cwd=folder, check=True, capture_output=True, text=True)
        assert done.stdout == " M a.txt\n"
        assert summary(place.read()) == {"a.txt": "changed"}
        place.remove()
    assert len(commits) == 1


def test_a_template_that_leads_out_is_refused(home: Path) -> None:
    for path in ("../x", "/x", "a/../../x"):
        with pytest.raises(ValueError, match="leads out of the workspace"):
            make_workspace({path: b""})
    assert not (home / "x").exists()


def test_what_is_kept_is_private(home: Path) -> None:
    make_workspace(TEMPLATE).remove()
    root = home / "workspaces"
    assert [path.stat().st_mode & 0o777 for path in (root, root / "templates", root / "processes")] == [0o700] * 3


KILLED = """
import os, sys, time
from passgrid.workspaces.attempt_workspace import make_workspace
place = make_workspace({"a.txt": b"one"})
(place.folder / "b.txt").write_text("left behind")
print(place.folder, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("method", ["copy", "overlay"])
def test_what_a_killed_process_left_is_removed_by_the_next(home: Path, method: str) -> None:
    environment = {**os.environ, METHOD_VARIABLE: method, "PASSGRID_HOME": str(home)}
    process = subprocess.Popen([sys.executable, "-c", KILLED], env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    folder = Path(process.stdout.readline().strip())
    assert (folder / "b.txt").exists()
    attempt_workspace.HostFolder(home / "workspaces").close()
    assert (folder / "b.txt").exists(), "it lives, so what it has stays"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    attempt_workspace.HostFolder(home / "workspaces").close()
    assert not folder.parent.exists()
    assert mounts_below(home.resolve()) == []


def test_templates_that_nobody_used_for_long_go(home: Path) -> None:
    other = attempt_workspace.HostFolder(home / "workspaces")
    folder = other.template(TEMPLATE, git=False)
    before = time.time() - 30 * 86_400
    lock = folder.with_suffix(".lock")
    os.utime(lock, (before, before))
    attempt_workspace.HostFolder(home / "workspaces").close()
    assert folder.exists(), "somebody holds it"
    other.close()
    os.utime(lock, (before, before))
    attempt_workspace.HostFolder(home / "workspaces").close()
    assert not folder.exists()
