"""`passgrid cassette learn`: what is seen to be volatile by recording twice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.table import Table

from api.cli.options import Json, print_json
from passgrid.cassettes.format import BrokenCassette, Cassette
from passgrid.cassettes.layout import LEARNED_FILE, CassetteFolder
from passgrid.cassettes.learning import Learned, learned, rules_of
from passgrid.problems import InvalidInput, Problem

_HEAD = "# Written by `passgrid cassette learn`; look at it as at code. `matching` of suite.yaml adds to it.\n"


def learn(
    suite: Annotated[Path, typer.Argument(help="Folder of a suite.")],
    label: Annotated[
        list[str],
        typer.Option(help="Of the recordings to compare: one compares its samples, two each other's same samples."),
    ],
    write: Annotated[bool, typer.Option("--write", help=f"Write them to cassettes/{LEARNED_FILE}.")] = False,
    json: Json = False,
) -> None:
    """Find the places that differ between two recordings of the same: times, nonces, ids that servers make."""
    if not suite.is_dir():
        raise InvalidInput([Problem(str(suite), "is not the folder of a suite")])
    places = learned(_pairs(CassetteFolder(suite), label))
    if write:
        _write(suite, places)
    if json:
        print_json([asdict(place) for place in places])
        return
    _tell(suite, places, write)


def _pairs(folder: CassetteFolder, labels: list[str]) -> Iterator[tuple[Cassette, Cassette]]:
    from passgrid.cassettes.upkeep import whole

    unknown = [Problem(f"--label {name}", f"unknown; there are {', '.join(folder.labels()) or 'none'}")
               for name in labels if name not in folder.labels()]  # fmt: skip
    if len(labels) > 2:
        unknown.append(Problem("--label", "one or two can be compared"))
    if unknown:
        raise InvalidInput(unknown)
    try:
        for path in folder.files():
            label, prompt, scenario, _ = path.relative_to(folder.root).parts
            sample = int(path.stem)
            if label == labels[0]:
                other = folder.path(labels[-1], prompt, scenario, sample + (len(labels) == 1))
                if other.is_file():
                    yield whole(folder, path), whole(folder, other)
    except BrokenCassette as error:
        raise InvalidInput([Problem(str(folder.suite), str(error), "passgrid cassette verify")]) from None


def _write(suite: Path, places: list[Learned]) -> None:
    rules = rules_of(places)
    document = {
        name: {tool: list(paths) for tool, paths in getattr(rules, name).items()} for name in ("volatile", "ids")
    }
    path = suite / "cassettes" / LEARNED_FILE
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_text(_HEAD + yaml.safe_dump(document, sort_keys=True))
    os.replace(partial, path)


def _tell(suite: Path, places: list[Learned], written: bool) -> None:
    if not places:
        print("nothing differs that the rules do not know already")
        return
    table = Table()
    for column in ("tool", "side", "place", "once", "and again"):
        table.add_column(column, overflow="fold")
    for place in places:
        table.add_row(place.tool, place.side, place.path, *(example[:40] for example in place.examples))
    Console().print(table)
    print(f"written to {suite / 'cassettes' / LEARNED_FILE}" if written else "to keep them: --write")
