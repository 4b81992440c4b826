"""Recordings of one label become those of another: a night's become the baseline that is replayed from now on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from passgrid.cassettes.format import Cassette
from passgrid.cassettes.layout import TIMINGS_SUFFIX, CassetteFolder
from passgrid.cassettes.telling import differences
from passgrid.cassettes.upkeep import whole
from passgrid.problems import InvalidInput, Problem


@dataclass(frozen=True, slots=True)
class Replacement:
    """One recording of the new baseline, and the one in its place before; None: there was none, or is none now."""

    place: str
    """Prompt, scenario and sample."""
    before: Cassette | None
    after: Cassette | None

    @property
    def kind(self) -> str:
        """added, removed, changed or same."""
        if self.before is None or self.after is None:
            return "added" if self.before is None else "removed"
        return "changed" if any(self.lines()) else "same"

    def lines(self) -> Iterator[str]:
        """Where they say different things; times and costs are no difference."""
        if self.before is not None and self.after is not None:
            yield from differences(self.before, replace(self.after, label=self.before.label), "before", "after")


@dataclass(frozen=True, slots=True)
class Promotion:
    """Everything that is to be replaced."""

    folder: CassetteFolder
    source: str
    target: str
    replacements: tuple[Replacement, ...]

    def count(self, kind: str) -> int:
        """How many of a kind."""
        return sum(one.kind == kind for one in self.replacements)


def promotion(folder: CassetteFolder, source: str, target: str) -> Promotion:
    """What promoting would do; nothing is written.

    Prompts and scenarios that the source has are replaced whole, all their samples; others of the target stay.
    Raises `InvalidInput` for labels that are not there, `BrokenCassette` for recordings that cannot be read.
    """
    labels = folder.labels()
    problems: list[Problem] = []
    if source not in labels:
        known = ", ".join(labels) or "none"
        problems.append(Problem(f"--from {source}", f"{folder.suite} has no recordings of it; there are: {known}"))
    if source == target:
        problems.append(Problem(f"--to {target}", "is the label they have"))
    if "/" in target or target.startswith(".") or not target:
        problems.append(Problem(f"--to {target}", "is no name of a folder"))
    if problems:
        raise InvalidInput(problems)
    after = {_place(path): path for path in _paths(folder, source)}
    cells = {place.rpartition("/")[0] for place in after}
    before = {_place(path): path for path in _paths(folder, target) if _place(path).rpartition("/")[0] in cells}
    return Promotion(
        folder,
        source,
        target,
        tuple(
            Replacement(
                place,
                whole(folder, before[place]) if place in before else None,
                replace(whole(folder, after[place]), label=target) if place in after else None,
            )
            for place in sorted(before.keys() | after.keys())
        ),
    )


def promote(made: Promotion) -> int:
    """Do it; returns how many recordings were written. Broken off, doing it again completes it. Raises `OSError`."""
    for one in made.replacements:
        if one.after is not None:
            made.folder.write(one.after)
    for one in made.replacements:
        if one.after is None and one.before is not None:
            cassette = one.before
            path = made.folder.path(made.target, cassette.prompt, cassette.scenario, cassette.sample)
            path.with_suffix(TIMINGS_SUFFIX).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
    return sum(one.after is not None for one in made.replacements)


def _paths(folder: CassetteFolder, label: str) -> list[Path]:
    return sorted((folder.root / label).glob("*/*/*.json"))


def _place(path: Path) -> str:
    return "/".join([*path.parts[-3:-1], path.stem])
