"""Recordings of vcr.py: HTTP exchanges with an MCP server over Streamable HTTP become tapes, one a session.

What is not MCP in the same file (a model's API, say) is left out and counted. Headers are read and not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from passgrid.json_values import is_array, is_object
from passgrid.problems import InvalidInput, Problem
from passgrid.tapes.era import INITIALIZE
from passgrid.tapes.format import SUFFIX, Tape, tape_of, write_tape
from passgrid.tapes.frames import Body, Frame
from passgrid.tapes.http_bodies import event_frames, is_event_stream, json_frames
from passgrid.yaml_files import read_yaml

SESSION_HEADER = "mcp-session-id"


@dataclass(frozen=True, slots=True)
class ImportedTapes:
    """What was written, and what was left out."""

    files: tuple[Path, ...]
    frames: int
    skipped: int
    """Exchanges that are not MCP."""

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {"tapes": [str(file) for file in self.files], "frames": self.frames, "skipped": self.skipped}


@dataclass(slots=True)
class _Session:
    """A session that is being read."""

    server: str
    header: str | None
    frames: list[Frame] = field(default_factory=list[Frame])


def import_tapes(file: Path, folder: Path) -> ImportedTapes:
    """Write the tapes of a recording into `folder`, as `<name>.tape.jsonl`, numbered where there are several.

    Raises `InvalidInput` naming what cannot be read, and what is there already; then nothing is written.
    """
    tapes, skipped = read_vcr(file)
    names = [f"{file.stem}{f'-{n}' if len(tapes) > 1 else ''}{SUFFIX}" for n in range(1, len(tapes) + 1)]
    paths = tuple(folder / name for name in names)
    if problems := [Problem(str(path), "is there already", "remove it first") for path in paths if path.exists()]:
        raise InvalidInput(problems)
    folder.mkdir(parents=True, exist_ok=True)
    for path, tape in zip(paths, tapes, strict=True):
        path.write_bytes(write_tape(tape))
    return ImportedTapes(paths, sum(len(tape.frames) for tape in tapes), skipped)


def read_vcr(file: Path) -> tuple[list[Tape], int]:
    """The tapes in a recording, in the order their sessions began, and how many exchanges are not MCP.

    Raises `InvalidInput` where the file is not YAML, not of vcr.py, or holds no MCP.
    """
    interactions = _interactions(file)
    sessions: list[_Session] = []
    skipped = 0
    for number, interaction in enumerate(interactions, 1):
        try:
            mcp = _add(interaction, number, sessions)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            place = f"{file}: interactions[{number - 1}]"
            raise InvalidInput(
                [Problem(place, f"not an exchange of vcr.py: {type(error).__name__}: {error}")]
            ) from None
        skipped += not mcp
    if not sessions:
        raise InvalidInput([Problem(str(file), f"none of its {len(interactions)} exchanges is with an MCP server")])
    return [tape_of(one.frames, {"transport": "http", "url": one.server, "tool": "vcr"}) for one in sessions], skipped


def _interactions(file: Path) -> list[Any]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InvalidInput([Problem(str(file), "no such file")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput([Problem(str(file), f"cannot be read: {error}")]) from None
    document, problems = read_yaml(file, text)
    if problems:
        raise InvalidInput(problems)
    interactions = document.get("interactions") if is_object(document) else None
    if not is_array(interactions):
        raise InvalidInput([Problem(str(file), 'not a recording of vcr.py: it has no list "interactions"')])
    return interactions


def _add(interaction: Any, number: int, sessions: list[_Session]) -> bool:
    """Add an exchange's frames to its session; False where it is not MCP."""
    request, response = interaction["request"], interaction["response"]
    asked = json_frames(_body(request))
    content_type = _header(response, "content-type")
    answered = event_frames(_body(response)) if is_event_stream(content_type) else json_frames(_body(response))
    if not asked and not answered:
        return False
    session = _session(request, response, asked, sessions)
    session.frames += [Frame("client", body, number) for body in asked]
    session.frames += [Frame("server", body, number) for body in answered]
    return True


def _session(request: Any, response: Any, asked: list[Body], sessions: list[_Session]) -> _Session:
    server = _origin(request["uri"])
    header = _header(request, SESSION_HEADER)
    begins = any(body.get("method") == INITIALIZE for body in asked)
    if not begins:
        for session in reversed(sessions):
            if session.server == server and session.header == header:
                return session
    session = _Session(server, _header(response, SESSION_HEADER) if begins else header)
    sessions.append(session)
    return session


def _origin(uri: str) -> str:
    """Scheme, host and port: paths, queries and user names may hold secrets."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"


def _body(message: Mapping[str, Any]) -> bytes:
    """A body as vcr.py or pydantic-ai's serializer writes it: text, bytes, `{"string": …}` or parsed JSON."""
    parsed = message.get("parsed_body")
    if parsed is not None:
        return orjson.dumps(parsed)
    body = message.get("body")
    text = body.get("string", "") if is_object(body) else body
    return text if isinstance(text, bytes) else (text or "").encode()


def _header(message: Mapping[str, Any], name: str) -> str | None:
    headers: dict[str, Any] = message.get("headers") or {}
    values = [value for key, value in headers.items() if key.lower() == name]
    if not values:
        return None
    return str(values[0][0]) if is_array(values[0]) else str(values[0])
