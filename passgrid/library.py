"""Suites on disk: scenario files, prompts, the suite's own Python and templates, and which recordings there are.

A suite is a folder:

    airline/
      suite.yaml            description, default prompt, targets
      <scenario>.yaml       one scenario a file
      checks.py             Python checks; policies.py holds scripted models
      servers/ files/       MCP servers and workspace templates of its own
      cassettes/            recordings (see passgrid.cassettes.layout)
    prompts/<name>.md       beside the suites, shared by them
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from passgrid.agent_axis import BUILT_IN_AGENT, DEFAULT_AGENT
from passgrid.agent_command import AgentCommand
from passgrid.cassettes.layout import LEARNED_FILE, CassetteFolder
from passgrid.cassettes.matching import NO_RULES, MatchingRules
from passgrid.json_values import is_object
from passgrid.matrix import Prompt
from passgrid.parts import Name
from passgrid.problems import InvalidInput, Problem
from passgrid.scenario import Scenario
from passgrid.server import AnyServer, InProcessServer
from passgrid.suite_fakes import with_fakes
from passgrid.target import DEFAULT_TARGET, Target
from passgrid.yaml_files import read_yaml, validated

SUITE_FILE = "suite.yaml"
MAX_SUITE_BYTES = 20_000_000
_NOT_BUNDLED = frozenset({"cassettes", "prompts", "__pycache__", "node_modules"})


_Model = TypeVar("_Model", bound=BaseModel)


class SuiteFacts(BaseModel):
    """What `suite.yaml` holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: str = ""
    prompt: Annotated[Name | None, Field(description="The prompt when --prompt is absent.")] = None
    matching: Annotated[MatchingRules, Field(description="When a recorded call may answer another one.")] = NO_RULES
    recordings: Annotated[Name | None, Field(description="The label whose recordings answer in the mode sandbox.")] = (
        None
    )
    targets: Annotated[dict[Name, Target], Field(description="Servers to choose from with --target.")] = {}
    agents: Annotated[dict[Name, AgentCommand], Field(description="Programs to choose from with --agent.")] = {}


@dataclass(frozen=True)
class Suite:
    """A folder of scenarios, read and checked."""

    name: str
    folder: Path
    facts: SuiteFacts
    scenarios: tuple[Scenario, ...]
    learned: MatchingRules = NO_RULES
    """From `cassettes/learned.yaml`."""

    @property
    def cassettes(self) -> CassetteFolder:
        """Its recordings."""
        return CassetteFolder(self.folder)

    @property
    def matching(self) -> MatchingRules:
        """What its `suite.yaml` says of matching, and what was learned by recording twice."""
        return self.facts.matching.merged(self.learned)

    @cached_property
    def files(self) -> Mapping[str, bytes]:
        """Its own files by path: everything but scenarios, recordings and hidden files."""
        return {path: (self.folder / path).read_bytes() for path in sorted(self._file_names())}

    def _file_names(self) -> Iterator[str]:
        for root, folders, names in os.walk(self.folder):
            below = Path(root).relative_to(self.folder)
            # Recordings are many: their folder is not even entered.
            folders[:] = [name for name in folders if not _left_out(name)]
            for name in names:
                scenario = below == Path() and name.endswith(".yaml")
                if not scenario and not _left_out(name) and _lies_inside(Path(root, name), self.folder):
                    yield (below / name).as_posix()

    def prompts(self) -> dict[str, Path]:
        """The prompts it may use by name: its neighbours' in `prompts/`, and its own."""
        folders = [self.folder.parent / "prompts", self.folder / "prompts"]
        return {path.stem: path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.md"))}


def _left_out(name: str) -> bool:
    return name in _NOT_BUNDLED or name.startswith(".")


def _lies_inside(path: Path, folder: Path) -> bool:
    """Whether a file is one of the folder's own: a link that leads out of it takes nothing along."""
    return not path.is_symlink() or path.resolve().is_relative_to(folder.resolve())


def find_suite(reference: str, library: Path | None) -> Path:
    """The folder of a suite given by path, or by name in the library of scenarios. Raises `InvalidInput`."""
    candidates = [Path(reference)]
    if library is not None and len(PurePosixPath(reference).parts) == 1:
        candidates.append(library / reference)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate.resolve()
    known = sorted(path.parent.name for path in library.glob(f"*/{SUITE_FILE}")) if library is not None else []
    remedy = f"give a folder, or one of {', '.join(known)}" if known else "give a folder of scenario files"
    raise InvalidInput([Problem(f"--suite {reference}", "no such suite", remedy)])


def load_suite(folder: Path) -> Suite:
    """Read a whole suite. Raises `InvalidInput` with every mistake in all of its files."""
    problems: list[Problem] = []
    facts = SuiteFacts()
    suite_file = folder / SUITE_FILE
    if suite_file.is_file():
        facts = _read(SuiteFacts, suite_file, problems) or facts
        problems.extend(_target_problems(facts, suite_file, folder))
    learned_file = folder / "cassettes" / LEARNED_FILE
    learned = _read(MatchingRules, learned_file, problems) if learned_file.is_file() else None
    found: dict[str, Path] = {}
    scenarios: list[Scenario] = []
    for path in sorted(folder.glob("*.yaml")):
        if path.name == SUITE_FILE:
            continue
        scenario = _read(Scenario, path, problems, name=path.stem)
        if scenario is None:
            continue
        if scenario.name in found:
            message = f"the scenario {scenario.name} is also in {found[scenario.name].name}"
            problems.append(Problem(str(path), message, "every scenario of a suite needs a name of its own"))
        found[scenario.name] = path
        scenario, wrong = with_fakes(scenario, path, folder)
        problems.extend(wrong)
        scenarios.append(scenario)
        problems.extend(_missing_files(scenario, path, folder))
    if not scenarios and not problems:
        problems.append(Problem(str(folder), "holds no scenario file", "add <name>.yaml files with a task"))
    if problems:
        raise InvalidInput(problems)
    suite = Suite(folder.name, folder, facts, tuple(scenarios), learned or NO_RULES)
    if (size := sum(map(len, suite.files.values()))) > MAX_SUITE_BYTES:
        message = f"its own files take {size:,} bytes; {MAX_SUITE_BYTES:,} can travel to workers"
        raise InvalidInput([Problem(str(folder), message, "keep large files out of the suite's folder")])
    return suite


def _read(model: type[_Model], path: Path, problems: list[Problem], name: str | None = None) -> _Model | None:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(str(path), f"cannot be read: {error}"))
        return None
    value, wrong = read_yaml(path, text)
    if not wrong and not is_object(value):
        wrong = [Problem(str(path), "not a mapping of keys to values")]
    if wrong or not is_object(value):
        problems.extend(wrong)
        return None
    if name is not None:
        value.setdefault("name", name)
    result, wrong = validated(model, value, path, text)
    problems.extend(wrong)
    return result


def _missing_files(scenario: Scenario, path: Path, folder: Path) -> Iterable[Problem]:
    """Files and folders of the suite that a scenario names: they must exist, and lie inside it."""
    named = [check.suite_file for check in (*scenario.checks, *scenario.stages.values()) if check.suite_file]
    if scenario.workspace is not None and scenario.workspace.template is not None:
        named.append(scenario.workspace.template)
    named += _server_files(scenario.mcp_servers.values())
    yield from _missing(named, path, folder)


def _target_problems(facts: SuiteFacts, path: Path, folder: Path) -> Iterable[Problem]:
    """Targets and agents that cannot be: with a name that means something else, and files that are not there."""
    if DEFAULT_TARGET in facts.targets:
        message = f"a target cannot be called {DEFAULT_TARGET}: that means the scenarios' own servers"
        yield Problem(str(path), message, "give it another name")
    for name in sorted({DEFAULT_AGENT, BUILT_IN_AGENT} & facts.agents.keys()):
        yield Problem(str(path), f"an agent cannot be called {name}: that has a meaning of its own", "rename it")
    for target in facts.targets.values():
        yield from _missing(_server_files(target.mcp_servers.values()), path, folder)


def _server_files(servers: Iterable[AnyServer]) -> list[str]:
    return [server.python.partition(":")[0] for server in servers if isinstance(server, InProcessServer)]


def _missing(named: Iterable[str], path: Path, folder: Path) -> Iterable[Problem]:
    for name in named:
        target = (folder / name).resolve()
        if not target.is_relative_to(folder.resolve()):
            yield Problem(str(path), f"{name} lies outside the suite", "only files of the suite travel to workers")
        elif not target.exists():
            yield Problem(str(path), f"the suite has no {name}")


def load_prompt(suite: Suite, name: str | None) -> Prompt:
    """A prompt by name; the suite's default where none is named. One newline at the end of the file is not part of it.

    Raises `InvalidInput` naming the prompts there are.
    """
    known = suite.prompts()
    if name is None:
        if suite.facts.prompt is None:
            return Prompt("none", "")
        name = suite.facts.prompt
    if name not in known:
        there = ", ".join(sorted(known)) or "none"
        raise InvalidInput([Problem(f"--prompt {name}", f"no such prompt; there are: {there}")])
    return Prompt(name, known[name].read_text(encoding="utf-8").removesuffix("\n"))
