"""Where cassettes lie in a suite: `cassettes/<label>/<prompt>/<scenario>/<sample>.json`, payloads beside the labels.

How long everything took lies beside each, in `<sample>.ms`: it changes with every recording and says nothing to a
reviewer, so `.gitattributes` keeps it out of diffs.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from passgrid.cassettes.format import Cassette, write_cassette
from passgrid.cassettes.payloads import packed
from passgrid.json_values import is_object

PAYLOADS = "payloads"
TIMINGS_SUFFIX = ".ms"
LEARNED_FILE = "learned.yaml"
"""What was seen to be volatile by recording twice: matching rules, beside the labels."""
_ATTRIBUTES = f"*{TIMINGS_SUFFIX} -diff -merge\n"


@dataclass(frozen=True, slots=True)
class CassetteFolder:
    """The recordings of one suite."""

    suite: Path

    @property
    def root(self) -> Path:
        """The folder of all recordings and payloads."""
        return self.suite / "cassettes"

    def path(self, label: str, prompt: str, scenario: str, sample: int) -> Path:
        """Where the recording of one attempt lies, whether or not it exists."""
        return self.root / label / prompt / scenario / f"{sample}.json"

    def payload(self, name: str) -> bytes:
        """The bytes of a payload; raises `KeyError` where there is none of that name."""
        if os.sep in name or name.startswith("."):
            raise KeyError(name)
        try:
            return (self.root / PAYLOADS / name).read_bytes()
        except FileNotFoundError:
            raise KeyError(name) from None

    def labels(self) -> list[str]:
        """Every label something was recorded under."""
        if not self.root.is_dir():
            return []
        return sorted(folder.name for folder in self.root.iterdir() if folder.is_dir() and folder.name != PAYLOADS)

    def recordings(self, label: str, prompt: str, scenario: str) -> int:
        """How many attempts are recorded without a gap: samples 0 up to this number."""
        folder = self.path(label, prompt, scenario, 0).parent
        names = set(os.listdir(folder)) if folder.is_dir() else set[str]()
        return next(count for count in itertools.count() if f"{count}.json" not in names)

    def files(self) -> Iterator[Path]:
        """Every cassette file, sorted."""
        for label in self.labels():
            yield from sorted((self.root / label).glob("*/*/*.json"))

    def write(self, cassette: Cassette) -> Path:
        """Store a recording and its payloads; a file appears whole or not at all.

        Where nothing but its timings changed, nothing is written.
        """
        light, payloads = packed(cassette)
        for name, data in payloads.items():
            target = self.root / PAYLOADS / name
            if not target.exists():
                _write_whole(target, data)
        path = self.path(cassette.label, cassette.prompt, cassette.scenario, cassette.sample)
        data = write_cassette(light)
        if path.is_file() and path.read_bytes() == data:
            return path
        _write_whole(path, data)
        if cassette.timings:
            _write_whole(path.with_suffix(TIMINGS_SUFFIX), orjson.dumps(dict(cassette.timings)) + b"\n")
            self._keep_out_of_diffs()
        return path

    def timings(self, path: Path) -> dict[str, Any]:
        """How long the turns and calls of a recording took; empty where nobody knows."""
        try:
            found: Any = orjson.loads(path.with_suffix(TIMINGS_SUFFIX).read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return {}
        return found if is_object(found) else {}

    def _keep_out_of_diffs(self) -> None:
        attributes = self.root / ".gitattributes"
        if not attributes.exists():
            _write_whole(attributes, _ATTRIBUTES.encode())


def _write_whole(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    partial.write_bytes(data)
    os.replace(partial, path)
