"""Look through the repository for what no other tool looks for. Prints each finding; exits with 1 if there is one.

Run by `make lint`. It looks for paths and package indexes of one machine in tracked files, a lock that does not fit
pyproject.toml, published schemas that are not today's, and commands in the README and in `--help` that do not exist.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from typer.core import TyperGroup
from typer.main import get_command

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
LOCK = "requirements.lock"
SCHEMAS = ("scenario", "cassette", "tape")

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:home|root|work)/[\w.-]+")
PLACEHOLDERS = frozenset({"/home/x"})
"""Stand for the home of any user, in tests of paths."""
INDEX_ADDRESS = re.compile(r"(?<!emit-)\bindex[-_]url\b|://\S*/(?:simple)\b")
COMMAND = re.compile(r"^(?:\$ )?(?:\S*/)?(passgrid|submit-matrix)(?= |$)")
HELP_EXAMPLE = re.compile(r"^Example: (.+)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong, and where."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def main() -> None:
    """Check everything; the exit code says whether all is well."""
    findings = [*tracked_text_findings(), *lock_findings(), *schema_findings(), *command_findings()]
    for finding in findings:
        print(finding)
    if findings:
        raise SystemExit(1)


def tracked_text_findings() -> Iterator[Finding]:
    """Paths of a developer's machine and addresses of package indexes, in every tracked text file."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            yield from line_findings(f"{name}:{number}", line)


def line_findings(place: str, line: str) -> Iterator[Finding]:
    """What one line holds that belongs to one machine."""
    for path in MACHINE_PATH.findall(line):
        if path not in PLACEHOLDERS:
            yield Finding(place, f"a path of one machine: {path}")
    if found := INDEX_ADDRESS.search(line):
        yield Finding(place, f"the address of a package index: {found[0]}")


def lock_findings() -> Iterator[Finding]:
    """Entries without hashes, and direct dependencies that the lock does not hold as they are asked for."""
    locked: dict[str, Requirement] = {}
    for number, entry in lock_entries((ROOT / LOCK).read_text(encoding="utf-8")):
        text, *options = entry.split(" --")
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            yield Finding(f"{LOCK}:{number}", f"cannot be read: {error}")
            continue
        if not any(option.startswith("hash=sha256:") for option in options):
            yield Finding(f"{LOCK}:{number}", f"{requirement.name} has no hash")
        locked[canonicalize_name(requirement.name)] = requirement
    for requirement in direct_dependencies():
        if message := lock_problem(requirement, locked):
            yield Finding(LOCK, f"{message}; run `make lock`")


def lock_entries(text: str) -> Iterator[tuple[int, str]]:
    """Each entry on one line, with the number of its first line."""
    entry, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not entry:
            start = number
        entry += " " + line.split("#", 1)[0].strip().removesuffix("\\").strip()
        if not line.rstrip().endswith("\\"):
            if entry.strip():
                yield start, entry.strip()
            entry = ""


def direct_dependencies() -> list[Requirement]:
    """What pyproject.toml asks for, extras included; an extra that names others of the project is left out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    texts: list[str] = [*project["dependencies"]]
    for extra in project.get("optional-dependencies", {}).values():
        texts += extra
    requirements = [Requirement(text) for text in texts]
    return [one for one in requirements if canonicalize_name(one.name) != canonicalize_name(project["name"])]


def lock_problem(wanted: Requirement, locked: Mapping[str, Requirement]) -> str | None:
    """Why the lock does not satisfy a direct dependency; None when it does."""
    found = locked.get(canonicalize_name(wanted.name))
    if found is None:
        return f"{wanted.name} is missing"
    versions = [clause.version for clause in found.specifier if clause.operator == "=="]
    if len(versions) != 1:
        return f"{wanted.name} is not pinned to one version"
    if not wanted.specifier.contains(versions[0], prereleases=True):
        return f"it holds {wanted.name} {versions[0]}, and pyproject.toml asks for {wanted.specifier}"
    return None


def schema_findings() -> Iterator[Finding]:
    """Published schemas that differ from what `passgrid schema` prints."""
    for kind in SCHEMAS:
        name = f"docs/schemas/{kind}.schema.json"
        printed = subprocess.run([BIN / "passgrid", "schema", kind], capture_output=True, text=True, check=True).stdout
        file = ROOT / name
        if not file.is_file():
            yield Finding(name, "is missing; run `make schemas`")
        elif file.read_text(encoding="utf-8") != printed:
            yield Finding(name, f"differs from what `passgrid schema {kind}` prints; run `make schemas`")


def command_findings() -> Iterator[Finding]:
    """Commands and flags that the README or the examples in `--help` name and that do not exist."""
    commands = our_commands()
    examples = list(readme_commands((ROOT / "README.md").read_text(encoding="utf-8")))
    for name, command in commands.items():
        if command.example is not None:
            examples.append((f"{name} --help", command.example))
        elif not command.group:
            yield Finding(f"{name} --help", "ends without an example")
    for place, line in examples:
        for part in re.split(r" && | \| ", line):
            if COMMAND.match(part) and (message := command_problem(part, commands)):
                yield Finding(place, message)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A command of ours: its flags, and the example that its `--help` ends with."""

    flags: frozenset[str]
    example: str | None
    group: bool = False
    """Whether it only holds others."""


def our_commands() -> dict[str, CommandLine]:
    """Every command by the words it starts with."""
    from api.cli import main, submit

    group = cast(TyperGroup, get_command(main.make_app()))
    found = {"submit-matrix": _command_line(get_command(submit.app)), "passgrid": _command_line(group)}
    return found | _below("passgrid", group)


def _below(name: str, group: TyperGroup) -> dict[str, CommandLine]:
    found: dict[str, CommandLine] = {}
    for word, command in group.commands.items():
        found[f"{name} {word}"] = _command_line(command)
        if isinstance(command, TyperGroup):
            found |= _below(f"{name} {word}", command)
    return found


def _command_line(command: Any) -> CommandLine:
    flags = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    example = HELP_EXAMPLE.match(command.epilog or "")
    return CommandLine(frozenset(flags | {"--help"}), example and example[1], isinstance(command, TyperGroup))


def readme_commands(text: str) -> Iterator[tuple[str, str]]:
    """Lines of code blocks that start with a command of ours, continuation lines joined."""
    inside, line, start = False, "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        if raw.startswith("```"):
            inside, line = not inside, ""
            continue
        if not inside:
            continue
        start = start if line else number
        line = f"{line} {raw.strip()}".strip()
        if line.endswith("\\"):
            line = line.removesuffix("\\").strip()
            continue
        if COMMAND.match(line):
            yield f"README.md:{start}", line
        line = ""


def command_problem(line: str, commands: Mapping[str, CommandLine]) -> str | None:
    """What of a command line does not exist; None when all of it does."""
    program, *words = shlex.split(line.removeprefix("$ "), comments=True)
    name = Path(program).name
    while commands[name].group and words and not words[0].startswith("-"):
        name = f"{name} {words.pop(0)}"
        if name not in commands:
            return f"there is no command `{name}`"
    ours = words[: words.index("--")] if "--" in words else words
    given = [word.partition("=")[0] for word in ours if word.startswith("-")]
    unknown = [flag for flag in given if flag not in commands[name].flags]
    return f"`{name}` has no flag {', '.join(unknown)}" if unknown else None


if __name__ == "__main__":
    main()
