"""Frames are found in bodies of HTTP, however they are cut."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from passgrid.tapes.http_bodies import EventFrames, event_frames, is_event_stream, json_frames

ONE = '{"jsonrpc":"2.0","id":1,"result":{"text":"Zoë ☃"}}'
TWO = '{"jsonrpc":"2.0","method":"notifications/message"}'
STREAM = f": ping\r\n\r\nevent: message\r\ndata: {ONE}\r\n\r\nid: 3\r\ndata:\r\n\r\ndata: {TWO}\n\n".encode()


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_events_are_found_however_the_stream_is_cut(cuts: list[int]) -> None:
    places = sorted({0, *cuts, len(STREAM)})
    decoder = EventFrames()
    found = [body for start, end in pairwise(places) for body in decoder.feed(STREAM[start:end])]
    assert found == event_frames(STREAM)
    assert [body.get("id") for body in found] == [1, None]


def test_data_over_several_lines_is_one_message() -> None:
    assert event_frames(b'data: {"jsonrpc":\ndata: "2.0"}\n\n') == [{"jsonrpc": "2.0"}]


def test_a_batch_is_several_messages_and_anything_else_is_none() -> None:
    assert len(json_frames(f"[{ONE},{TWO}]")) == 2
    assert json_frames("") == json_frames("not json") == json_frames('{"other": 1}') == []


def test_an_event_stream_is_told_by_its_type() -> None:
    assert is_event_stream("Text/Event-Stream; charset=utf-8")
    assert not is_event_stream("application/json")
    assert not is_event_stream(None)
