"""Paths an agent may give: whatever it tries, nothing but a file inside is reached."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from passgrid.workspaces.memory_files import FileRefused, MemoryFiles
from passgrid.workspaces.paths import PathRefused, file_path, inner_path, likeness

NASTY = [
    "..",
    ".",
    "",
    "a",
    "A",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "．．",
    "‥",
    "a／b",
    "a\\b",
    "c:",
    "~",
    "a.",
    "a ",
    "\0",
    "\u202e",
    "K",
]
PATHS = st.lists(st.sampled_from(NASTY) | st.text(max_size=6), max_size=5).map("/".join)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret", "paths do not lead upwards"),
        ("a/../../secret", "paths do not lead upwards"),
        ("/etc/passwd", "is absolute"),
        ("C:/windows", "is absolute"),
        ("./C:/windows", "is absolute"),
        ("~/x", "no home folder"),
        (".//~/x", "no home folder"),
        ("a\\..\\b", "backslash"),
        ("a\0b", "NUL"),
        ("e\u0301.txt", "composed form"),
        ("．．/x", "look like a separator or like .."),
        ("a／b", "look like a separator"),
        ("a./b", "ends with '.'"),
        ("a /b", "ends with ' '"),
        ("a\u202eb", "cannot be seen: U\\+202E"),
        ("x" * 256, "longer than 255 bytes"),
        ("/".join(["x" * 200] * 21), "longer than 4096 bytes"),
        ("", "the workspace itself"),
        ("a/", "names a folder"),
    ],
)
def test_what_leads_out_or_deceives_is_refused_with_its_reason(path: str, reason: str) -> None:
    with pytest.raises(PathRefused, match=reason):
        file_path(path)


@settings(max_examples=300)
@given(PATHS)
def test_what_is_accepted_has_one_form_and_stays_inside(path: str) -> None:
    try:
        inner = inner_path(path)
    except PathRefused:
        return
    parts = PurePosixPath(inner).parts
    assert "/".join(parts) == inner
    assert ".." not in parts
    assert "." not in parts
    assert not inner.startswith("/")
    assert not set(inner) & {"\0", "\\"}
    assert unicodedata.normalize("NFC", inner) == inner
    assert inner_path(inner) == inner


@given(st.lists(st.tuples(st.sampled_from(["write", "move", "delete", "folder"]), PATHS, PATHS), max_size=25))
def test_no_two_paths_are_alike_and_files_lie_in_folders(steps: list[tuple[str, str, str]]) -> None:
    files = MemoryFiles({"a/b.txt": b"1"})
    for what, path, other in steps:
        before = (list(files.below(".")), files.compared().changed)
        try:
            if what == "write":
                files.write(path, b"2")
            elif what == "move":
                files.move(path, other)
            elif what == "delete":
                files.delete(path)
            else:
                files.make_folder(path)
        except (PathRefused, FileRefused):
            assert (list(files.below(".")), files.compared().changed) == before, "what is refused changes nothing"
    paths = list(files.below("."))
    assert len({likeness(path) for path in paths}) == len(paths)
    assert all(files.is_folder(path.rpartition("/")[0]) for path in paths)
    assert all(inner_path(path) == path for path in paths)


@pytest.mark.parametrize("twin", ["A.txt", "ａ.txt", "a.TXT"])
def test_a_name_that_differs_only_in_case_or_form_is_refused(twin: str) -> None:
    files = MemoryFiles({"a.txt": b"1"})
    with pytest.raises(PathRefused, match="are one name where case or form do not count"):
        files.write(twin, b"2")
    with pytest.raises(PathRefused, match="are one name"):
        files.write(f"{twin}/b", b"2")
    files.move("a.txt", "A.txt")
    assert files.children(".") == ["A.txt"]
