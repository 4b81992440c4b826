"""The tape format, version 1: one MCP session in one file of JSON lines.

* first `{"format": "passgrid-tape", "version": 1, "source": {…}}`
* then one line a frame, in the order they passed: `{"client": {…}}` or `{"server": {…}}`, with `"exchange": n` where
  the transport says which frames belong together. The order is that of requests and answers of overlapping calls too
* `{"era": "handshake" | "modern", "protocol": "…"}` after the frame that decides it
* last `{"frames": n, "hash": "<sha256 of all lines before>"}`

There are no headers, no times and no addresses with secrets in it: the same session gives the same bytes. A frame that
is not standard JSON (NaN, lone surrogates) stands as a string holding it as Python's `json` writes it; `null` stands
for a line that was no message. A recorder appends; a file without its last line is an incomplete tape and readable, and
so is one whose last line is torn.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import to_jsonable_python

from passgrid.json_values import is_object
from passgrid.tapes.era import Era, EraFinder
from passgrid.tapes.frames import Body, Frame, Sender

FORMAT = "passgrid-tape"
VERSION = 1
SUFFIX = ".tape.jsonl"

_SENDERS: tuple[Sender, ...] = ("client", "server")
_strict = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=to_jsonable_python)
_dialect = json.JSONEncoder(separators=(",", ":"), default=to_jsonable_python)


class BrokenTape(ValueError):
    """This is not a tape that can be read; the message says why and where."""


@dataclass(frozen=True, slots=True)
class Tape:
    """One recorded session."""

    frames: tuple[Frame, ...]
    source: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """`transport`, and what else is known of where it comes from; never a secret."""
    era: Era | None = None
    """None where the recording ended before it was decided."""
    complete: bool = True
    """Whether the recorder came to its end and wrote the hash."""
    torn: bool = False
    """Whether the last line was cut off, and dropped."""


def tape_of(frames: Iterable[Frame], source: Mapping[str, Any]) -> Tape:
    """A complete tape of these frames, its era found in them."""
    kept = tuple(frames)
    finder = EraFinder()
    return Tape(kept, dict(source), next(filter(None, map(finder.see, kept)), None))


class TapeLines:
    """The lines of a tape, made one after the other as a session goes on."""

    def __init__(self, source: Mapping[str, Any]) -> None:
        self._source = source
        self._hash = hashlib.sha256()
        self._frames = 0
        self._finder = EraFinder()
        self.era: Era | None = None

    def head(self) -> bytes:
        """The first line."""
        return self._line({"format": FORMAT, "version": VERSION, "source": dict(self._source)})

    def frame(self, frame: Frame) -> bytes:
        """The line of a frame, with the era's line where this frame decides it."""
        self._frames += 1
        lines = self._frame_line(frame)
        if self.era is None and (era := self._finder.see(frame)) is not None:
            self.era = era
            lines += self._line({"era": era.name, "protocol": era.protocol})
        return lines

    def end(self) -> bytes:
        """The last line."""
        return self._line({"frames": self._frames, "hash": self._hash.hexdigest()})

    def _frame_line(self, frame: Frame) -> bytes:
        line: dict[str, Any] = {frame.sender: frame.body}
        if frame.exchange is not None:
            line["exchange"] = frame.exchange
        try:
            return self._line(line)
        except (ValueError, UnicodeEncodeError):
            return self._line(line | {frame.sender: _dialect.encode(frame.body)})

    def _line(self, value: dict[str, Any]) -> bytes:
        line = _strict.encode(value).encode() + b"\n"
        self._hash.update(line)
        return line


def write_tape(tape: Tape) -> bytes:
    """The file's bytes: the same frames always give the same ones, as if they had been recorded."""
    lines = TapeLines(tape.source)
    parts = [lines.head(), *map(lines.frame, tape.frames)]
    return b"".join([*parts, lines.end()] if tape.complete else parts)


def read_tape(data: bytes) -> Tape:
    """Read and check a tape.

    Raises `BrokenTape` naming the line: not a tape, a newer version, a line that is no frame, a hash that does not
    hold.
    """
    text = data.replace(b"\r\n", b"\n")
    *lines, rest = text.split(b"\n")
    source = _source(lines[0] if lines else rest)
    reader = _Reader(lines)
    frames = tuple(reader.frames())
    if reader.ended and rest:
        raise BrokenTape(f"line {len(lines) + 1}: the tape goes on after its hash")
    found = tape_of(frames, source)
    if reader.era is not None and reader.era != found.era:
        raise BrokenTape(f"its frames are not of the era it says: {reader.era.name} {reader.era.protocol}")
    return Tape(frames, source, found.era, complete=reader.ended, torn=bool(rest))


class _Reader:
    """Goes through the lines after the first."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self.ended = False
        self.era: Era | None = None

    def frames(self) -> Iterator[Frame]:
        count = 0
        for number, line in enumerate(self._lines[1:], 2):
            if self.ended:
                raise BrokenTape(f"line {number}: the tape goes on after its hash")
            value = _value(line, number)
            if "hash" in value:
                self._end(value, number, count)
            elif "era" in value:
                self.era = _era(value, number)
            else:
                count += 1
                yield _frame(value, number)

    def _end(self, value: Mapping[str, Any], number: int, count: int) -> None:
        self.ended = True
        before = b"".join(line + b"\n" for line in self._lines[: number - 1])
        actual = hashlib.sha256(before).hexdigest()
        if value != {"frames": count, "hash": actual}:
            stored = f"{value.get('frames')} frames with {value['hash']}"
            raise BrokenTape(
                f"line {number}: its hash does not hold: the file says {stored}, it holds {count} with {actual}"
            )


def _source(line: bytes) -> dict[str, Any]:
    try:
        head: Any = json.loads(line)
    except ValueError:
        head = None
    if not is_object(head) or head.get("format") != FORMAT:
        raise BrokenTape(f'not a tape: its first line has no "format": "{FORMAT}"')
    if head.get("version") != VERSION:
        raise BrokenTape(f"version {head.get('version')} of the format; this Passgrid reads version {VERSION}")
    source = head.get("source")
    if not is_object(source):
        raise BrokenTape('line 1: "source" is no object')
    return source


def _value(line: bytes, number: int) -> dict[str, Any]:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BrokenTape(f"line {number}: not JSON: {error}") from None
    if not is_object(value):
        raise BrokenTape(f"line {number}: neither a frame, nor an era, nor the hash")
    return value


def _era(value: Mapping[str, Any], number: int) -> Era:
    name, protocol = value["era"], value.get("protocol")
    if name not in ("handshake", "modern") or not isinstance(protocol, str):
        raise BrokenTape(f"line {number}: no such era: {name} {protocol}")
    return Era(name, protocol)


def _frame(value: Mapping[str, Any], number: int) -> Frame:
    senders: list[Sender] = [sender for sender in _SENDERS if sender in value]
    exchange = value.get("exchange")
    if len(senders) != 1 or not isinstance(exchange, int | None) or isinstance(exchange, bool):
        raise BrokenTape(f"line {number}: neither a frame, nor an era, nor the hash")
    return Frame(senders[0], _body(value[senders[0]], number), exchange)


def _body(value: Any, number: int) -> Body | None:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            raise BrokenTape(f"line {number}: the frame in the string is not JSON: {error}") from None
    if value is not None and not is_object(value):
        raise BrokenTape(f"line {number}: the frame is no object")
    return value
