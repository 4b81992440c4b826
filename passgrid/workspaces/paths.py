"""Which paths lead to a file of the workspace, and which are refused, with the reason."""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 255
LONGEST_PATH = 4096
_DRIVE = re.compile(r"^[A-Za-z]:")
_JOINERS = "\u200c\u200d"
_NOT_IN_NAMES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class PathRefused(ValueError):
    """A path that leads out of the workspace, or that another system would read as another path."""


def inner_path(path: str) -> str:
    """The path in its one form, without `.` and double slashes; empty for the workspace itself.

    Raises `PathRefused` saying why.
    """
    if "\0" in path:
        raise PathRefused("a path holds no NUL")
    if "\\" in path:
        raise PathRefused(f"{path!r} has a backslash: separate folders with /")
    names = [_name(name, path) for name in path.split("/") if name not in {"", "."}]
    inner = "/".join(names)
    if path.startswith("/") or _DRIVE.match(inner):
        raise PathRefused(f"{path!r} is absolute: give a path inside the workspace, such as notes/today.md")
    if inner.startswith("~"):
        raise PathRefused(f"{path!r} starts with ~: there is no home folder, give a path inside the workspace")
    if len(inner.encode()) > LONGEST_PATH:
        raise PathRefused(f"the path is longer than {LONGEST_PATH} bytes")
    return inner


def file_path(path: str) -> str:
    """The path of a file. Raises `PathRefused`, also for the workspace itself."""
    inner = inner_path(path)
    if not inner:
        raise PathRefused(f"{path!r} is the workspace itself, not a file in it")
    if path.endswith("/"):
        raise PathRefused(f"{path!r} ends with a slash: it names a folder, not a file")
    return inner


def likeness(path: str) -> str:
    """The same for two paths that a file system blind to case or to Unicode forms takes for one."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())


def _name(name: str, path: str) -> str:
    if name == "..":
        raise PathRefused(f"{path!r} has .. in it: paths do not lead upwards")
    strange = next((c for c in name if unicodedata.category(c) in _NOT_IN_NAMES and c not in _JOINERS), None)
    if strange is not None:
        raise PathRefused(f"{path!r} has a character in it that cannot be seen: U+{ord(strange):04X}")
    if unicodedata.normalize("NFC", name) != name:
        raise PathRefused(
            f"{path!r} is not in Unicode's composed form (NFC): write {unicodedata.normalize('NFC', path)!r}"
        )
    compatible = unicodedata.normalize("NFKC", name)
    if "/" in compatible or "\\" in compatible or compatible in {".", ".."}:
        raise PathRefused(f"{path!r} has characters in it that look like a separator or like ..")
    if name[-1] in ". ":
        raise PathRefused(f"{path!r} has a name that ends with {name[-1]!r}, which some systems leave out")
    if len(name.encode()) > LONGEST_NAME:
        raise PathRefused(f"a name in the path is longer than {LONGEST_NAME} bytes")
    return name
