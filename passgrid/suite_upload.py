"""Suites that come as files by path instead of a folder: checked before anything is stored, laid out to be planned."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath

from passgrid.library import load_prompt, load_suite
from passgrid.problems import InvalidInput, Problem
from passgrid.validation import validate_path

MOST_FILES = 10_000
LONGEST_PATH = 500
LONGEST_NAME = 150
"""Bytes of one part of a path: less than the 255 file systems take, for partial files have longer names."""
RESERVED = frozenset({"prompts"})
"""Names that no suite may have: the folder beside the suites is called so."""


def check_upload(name: str, files: Mapping[str, bytes], library: Path) -> None:
    """Check an uploaded suite like one on disk; it may use the library's prompts. Raises `InvalidInput` with every
    problem."""
    problems = _name_problems(name, library) + _path_problems(files)
    if problems:
        raise InvalidInput(problems)
    with folder_of_suites({name: files}, library) as root:
        _, problems = validate_path(root / name)
        if not problems:
            try:
                load_prompt(load_suite(root / name), None)
            except InvalidInput as error:
                problems += error.problems
        if problems:
            raise InvalidInput(without_folder(problems, root))


@contextmanager
def folder_of_suites(suites: Mapping[str, Mapping[str, bytes]], library: Path) -> Generator[Path]:
    """A private folder with these suites, and the library's prompts beside them; gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="passgrid-uploaded-") as folder:
        root = Path(folder).resolve()
        if (library / "prompts").is_dir():
            (root / "prompts").symlink_to((library / "prompts").resolve())
        for name, files in suites.items():
            _lay_out(root / name, files)
        yield root


def without_folder(problems: Iterable[Problem], *folders: Path) -> list[Problem]:
    """The problems with paths as their author knows them, not as they lie on this machine."""

    def shown(text: str) -> str:
        for folder in folders:
            text = text.replace(f"{folder}/", "")
        return text

    return [
        replace(one, place=shown(one.place), message=shown(one.message), remedy=shown(one.remedy)) for one in problems
    ]


def _lay_out(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a new folder. They were checked when they came in; what is stored is not trusted either."""
    problems = _path_problems(files)
    if problems:
        raise InvalidInput(problems)
    folder.mkdir()
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(data)


def _name_problems(name: str, library: Path) -> list[Problem]:
    place = f"suite {name}"
    if name in RESERVED:
        return [Problem(place, "is not a name for a suite", "choose another")]
    if (library / name).is_dir():
        return [Problem(place, "the server's library has a suite of this name", "choose another")]
    return []


def _path_problems(files: Mapping[str, bytes]) -> list[Problem]:
    """What is wrong with the paths of an upload."""
    problems: list[Problem] = []
    if len(files) > MOST_FILES:
        problems.append(Problem("files", f"there are {len(files):,}; {MOST_FILES:,} are the most"))
    for path in files:
        if message := _path_problem(path):
            problems.append(Problem(f"files: {path[:LONGEST_PATH]!r}", message))
    folders = {str(folder) for path in files for folder in PurePosixPath(path).parents}
    problems += [Problem(f"files: {path!r}", "is a file and a folder at once") for path in files if path in folders]
    return problems


def _path_problem(path: str) -> str | None:
    if len(path) > LONGEST_PATH:
        return f"is longer than {LONGEST_PATH} characters"
    if "\\" in path or not path.isprintable():
        return "holds a backslash or a character that cannot be printed"
    parts = path.split("/")
    if "" in parts or "." in parts or ".." in parts:
        return "is not a plain path below the suite; write one like servers/stock.py"
    if any(part.startswith(".") for part in parts):
        return "is hidden; hidden files do not travel"
    if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in parts):
        return f"has a part longer than {LONGEST_NAME} bytes"
    return None
