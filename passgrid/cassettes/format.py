"""The cassette format, version 1: what is in a file, and its deterministic bytes.

A cassette is a JSON document laid out for review: one top-level key a line, one step a line, keys in a fixed order,
and last the SHA-256 over everything else in canonical form. `schema.py` publishes its JSON Schema.

Steps, in the order they happened:

* `{"user": text or parts}`: a user turn
* `{"model": {"parts": […], "usage"?, "served"?, "finish"?, "cost_usd"?}}`: a model turn; its parts are
  `{"text"}`, `{"thinking", "signature"?}`, `{"image", "media_type"}` or `{"call": tool, "id", "args"}`
* `{"calls": [{"call": n, "server"?, "result" | "error" | "library", "answered"?}]}`: the answers to the calls of the
  model turn before. Overlapping calls are one unordered step: `call` is the position of the request among the
  turn's calls, `answered` that of the response (left out where there is one call). `library` names the kind of a text
  that the agent library wrote itself, so that an upgrade of the library does not miss everywhere.
  Of an agent program, `"own": true` marks the result of a tool it has itself, and `told` what it told its model of an
  answer, where that was something else.
* `{"alone": {"tool", "args", "server", "result" | "error"}}`: a call that an agent program made by itself
* `{"feedback": kind}`: the agent library asked the model again after an unusable response

How long everything took differs with every recording, so it stands in no step and in no hash: `timings` lies in a file
beside the cassette (`layout.py`), and only travels inside of it. `{"model": [ms, …], "calls": [[ms, …], …]}`, one for
each model turn, and for each step of calls one for each call; null where it is not known. (Files of before hold `ms`
in their steps; they are read as they are.)

Anywhere a value may stand, `{"$payload": "<sha256>.txt" | "<sha256>.json"}` may stand for a large or repeated one,
stored once per suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import orjson

from passgrid.identity import value_hash
from passgrid.json_values import is_object

FORMAT = "passgrid-cassette"
VERSION = 1

Step: TypeAlias = dict[str, Any]
Payloads: TypeAlias = Callable[[str], bytes]
"""Gives the bytes of a payload by its file name; raises `KeyError` where there is none."""

LIMIT_ENDING = "limit"
COMPLETED_ENDING = "completed"


class BrokenCassette(ValueError):
    """This is not a cassette that can be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Cassette:
    """One recorded attempt. Payload references are still in place; `resolve` puts the values in."""

    scenario: str
    label: str
    prompt: str
    sample: int
    source: Mapping[str, Any]
    """Where it comes from: `model` as recorded, `tool` that made it, and what else is known (`at`, `trial`, …)."""
    system: Any
    """The system prompt's text, null when there was none."""
    tools: Any
    """The tools offered: `[{"server", "name", "description"?, "inputSchema"}]`."""
    steps: tuple[Step, ...]
    ending: Mapping[str, Any]
    """`outcome`: completed or limit (with `limit`)."""
    verdicts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Verdicts of other tools by name, such as a published reward."""
    workspace: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Files that differ from the template at the end: `{"changed": {path: text}, "deleted": [path]}`."""
    afterwards: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What servers said after the agent was done: artifacts, read-backs, the end state."""
    timings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """How long model turns and calls took, in ms; no part of what the cassette is."""

    def to_document(self) -> dict[str, Any]:
        """The JSON document without its hash."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "scenario": self.scenario,
            "label": self.label,
            "prompt": self.prompt,
            "sample": self.sample,
            "source": dict(self.source),
            "system": self.system,
            "tools": self.tools,
            "steps": list(self.steps),
            "ending": dict(self.ending),
        }
        if self.verdicts:
            document["verdicts"] = dict(self.verdicts)
        if self.workspace:
            document["workspace"] = dict(self.workspace)
        if self.afterwards:
            document["afterwards"] = dict(self.afterwards)
        return document

    def content_hash(self) -> str:
        """SHA-256 over the document in canonical form."""
        return value_hash(self.to_document())


def write_cassette(cassette: Cassette, *, with_timings: bool = False) -> bytes:
    """The file's bytes: the same cassette always gives the same ones.

    with_timings: put them in after the hash, for a way on which a file beside it would be lost.
    """
    document = cassette.to_document()
    lines = [
        f"{_line(key)}: [\n{_step_lines(value)}]" if key == "steps" else f"{_line(key)}: {_line(value)}"
        for key, value in document.items()
    ]
    lines.append(f'"hash": "{value_hash(document)}"')
    if with_timings and cassette.timings:
        lines.append(f'"timings": {_line(dict(cassette.timings))}')
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _step_lines(steps: list[Step]) -> str:
    return "".join(f"{_line(step)}{',' if i < len(steps) - 1 else ''}\n" for i, step in enumerate(steps))


def _line(value: Any) -> str:
    return orjson.dumps(value).decode()


def read_cassette(data: bytes) -> Cassette:
    """Read and check a cassette file.

    Raises `BrokenCassette` naming what is wrong: not JSON, another format, a newer version, a hash that does not hold.
    """
    try:
        document: Any = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BrokenCassette(f"not a whole JSON document, line {error.lineno}: {error.msg}") from None
    if not is_object(document) or document.get("format") != FORMAT:
        raise BrokenCassette(f'not a cassette: it has no "format": "{FORMAT}"')
    version: Any = document.get("version")
    if version != VERSION:
        raise BrokenCassette(f"version {version} of the format; this Passgrid reads version {VERSION}")
    stored: Any = document.pop("hash", None)
    timings: Any = document.pop("timings", None)
    actual = value_hash(document)
    if stored != actual:
        raise BrokenCassette(f"its hash does not hold: the file says {stored}, its content is {actual}")
    return replace(cassette_of(document), timings=timings or {})


def cassette_of(document: Mapping[str, Any]) -> Cassette:
    """The cassette a document holds, unchecked but for the keys it must have; raises `BrokenCassette`."""
    try:
        return Cassette(
            scenario=document["scenario"],
            label=document["label"],
            prompt=document["prompt"],
            sample=document["sample"],
            source=document["source"],
            system=document["system"],
            tools=document["tools"],
            steps=tuple(document["steps"]),
            ending=document["ending"],
            verdicts=document.get("verdicts", {}),
            workspace=document.get("workspace", {}),
            afterwards=document.get("afterwards", {}),
        )
    except KeyError as error:
        raise BrokenCassette(f"it has no {error.args[0]!r}") from None
