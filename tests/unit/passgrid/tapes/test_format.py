"""Tape files: deterministic, readable when cut off anywhere, and refused when they are not what they say."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.tapes.era import Era
from passgrid.tapes.format import BrokenTape, Tape, read_tape, tape_of, write_tape
from passgrid.tapes.frames import Frame, Sender
from passgrid.tapes.schema import tape_schema

TEXT = st.text(st.characters(exclude_categories=[]), max_size=8)
"""Lone surrogates too: a server may send them, escaped."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
SENDERS: st.SearchStrategy[Sender] = st.sampled_from(["client", "server"])
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(TEXT, JSON, max_size=3)
METHODS = st.sampled_from(["initialize", "tools/call", "tools/list"])
REQUESTS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": st.integers(0, 9), "method": METHODS, "params": OBJECTS}
)
BODIES = OBJECTS | REQUESTS
FRAMES = st.lists(st.builds(Frame, SENDERS, st.none() | BODIES, st.none() | st.integers(0, 99)), max_size=6)
SOURCE = {"transport": "stdio", "program": "a-server"}


@given(FRAMES)
def test_any_session_survives_writing_and_reading(frames: list[Frame]) -> None:
    tape = tape_of(frames, SOURCE)
    data = write_tape(tape)
    assert read_tape(data) == tape
    assert write_tape(read_tape(data)) == data


@given(FRAMES, st.data())
def test_a_tape_cut_off_anywhere_holds_what_had_passed(frames: list[Frame], data: st.DataObject) -> None:
    whole = write_tape(tape_of(frames, SOURCE))
    head = whole.index(b"\n") + 1
    cut = data.draw(st.integers(head, len(whole) - 1))
    tape = read_tape(whole[:cut])
    assert not tape.complete
    assert tape.torn == (whole[cut - 1 : cut] != b"\n")
    assert list(tape.frames) == frames[: len(tape.frames)]


@given(FRAMES)
def test_every_line_satisfies_the_published_schema(frames: list[Frame]) -> None:
    validator: Any = jsonschema.Draft202012Validator(tape_schema())
    for line in write_tape(tape_of(frames, {})).splitlines():
        # Ours are lines of messages; what hypothesis puts in their envelopes is not.
        value = json.loads(line)
        body = value.get("client") or value.get("server")
        if not isinstance(body, dict) or "jsonrpc" in body:
            validator.validate(value)


def handshake() -> list[Frame]:
    asked: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    answered = {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-11-25"}}
    return [Frame("client", asked), Frame("server", answered)]


def test_a_file_reads_like_the_session() -> None:
    lines = write_tape(tape_of(handshake(), SOURCE)).decode().splitlines()
    assert lines[0] == '{"format":"passgrid-tape","version":1,"source":{"transport":"stdio","program":"a-server"}}'
    assert [next(iter(json.loads(line))) for line in lines[1:]] == ["client", "server", "era", "frames"]
    assert lines[3] == '{"era":"handshake","protocol":"2025-11-25"}'


def test_the_era_is_known_before_the_end() -> None:
    data = write_tape(Tape(tuple(handshake()), SOURCE, complete=False))
    assert read_tape(data).era == Era("handshake", "2025-11-25")


def test_a_frame_that_is_not_standard_json_stands_as_a_string() -> None:
    frame = Frame("server", {"jsonrpc": "2.0", "id": 1, "result": {"nan": float("nan"), "half": "\ud800"}})
    data = write_tape(tape_of([frame], {}))
    assert b'{"server":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,' in data
    (again,) = read_tape(data).frames
    assert repr(again.body) == repr(frame.body)


def test_line_ends_of_another_system_do_not_matter() -> None:
    data = write_tape(tape_of(handshake(), SOURCE))
    assert read_tape(data.replace(b"\n", b"\r\n")) == read_tape(data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((b"", b""), "not a tape: its first line has no"),
        ((b"", b'{"format":"passgrid-cassette"}\n'), "not a tape"),
        ((b'"version":1', b'"version":2'), "version 2 of the format; this Passgrid reads"),
        ((b"initialize", b"initialise"), "line 5: its hash does not hold"),
        ((b'{"client"', b'{"somebody"'), "line 2: neither a frame, nor an era"),
        ((b'{"client"', b'"client"'), "line 2: not JSON"),
        ((b'"era":"handshake"', b'"era":"stone"'), "line 4: no such era: stone"),
    ],
)  # fmt: skip
def test_what_is_not_a_tape_is_refused_with_the_line(change: tuple[bytes, bytes], message: str) -> None:
    data = write_tape(tape_of(handshake(), SOURCE))
    with pytest.raises(BrokenTape, match=message):
        read_tape(data.replace(*change) if change[0] else change[1])


def test_nothing_comes_after_the_hash() -> None:
    data = write_tape(tape_of(handshake(), SOURCE))
    for more in (b'{"client":{}}\n', b'{"cli'):
        with pytest.raises(BrokenTape, match="line 6: the tape goes on after its hash"):
            read_tape(data + more)
