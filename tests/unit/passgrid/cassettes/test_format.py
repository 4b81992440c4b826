"""Cassette files: deterministic, reviewable, and refused when they are not what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from passgrid.cassettes.calls import recorded_calls
from passgrid.cassettes.format import BrokenCassette, read_cassette, write_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.payloads import packed, resolve
from passgrid.cassettes.schema import cassette_schema
from tests.unit.passgrid.suites import COUNTING, answer, ask, cassette

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(), inner, max_size=4)
        | st.fixed_dictionaries({"$payload": inner})
    ),
    max_leaves=20,
)


@given(JSON)
def test_any_result_survives_writing_reading_packing_and_resolving(result: Any) -> None:
    original = cassette((COUNTING[0], ask("count", {"item": result}), answer(result)))
    light, payloads = packed(original)
    again = resolve(read_cassette(write_cassette(light)), payloads.__getitem__)
    assert json.dumps(again.to_document()) == json.dumps(original.to_document())
    assert write_cassette(again) == write_cassette(original)


def test_a_file_has_one_step_a_line() -> None:
    lines = write_cassette(cassette()).decode().splitlines()
    assert sum(line.startswith(('{"user"', '{"model"', '{"calls"')) for line in lines) == len(COUNTING)


def test_every_file_satisfies_the_published_schema() -> None:
    for one in (cassette(), packed(cassette((*COUNTING[:2], answer("x" * 5000))))[0]):
        jsonschema.validate(json.loads(write_cassette(one)), cassette_schema())


def test_half_a_file_is_refused_with_the_line() -> None:
    data = write_cassette(cassette())
    with pytest.raises(BrokenCassette, match=r"not a whole JSON document, line \d+"):
        read_cassette(data[: len(data) // 2])


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b'"version": 1', b'"version": 2', "version 2 of the format; this Passgrid reads version 1"),
        (b"there are 5", b"there are 6", "its hash does not hold"),
        (b"passgrid-cassette", b"other-cassette", "not a cassette"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_refused(before: bytes, after: bytes, message: str) -> None:
    with pytest.raises(BrokenCassette, match=message):
        read_cassette(write_cassette(cassette()).replace(before, after))


def test_payloads_are_shared_and_checked(tmp_path: Path) -> None:
    folder = CassetteFolder(tmp_path)
    long = "x" * 5000
    paths = [folder.write(cassette((*COUNTING[:2], answer(long)), sample=i)) for i in range(3)]
    stored = sorted((folder.root / "payloads").iterdir())
    assert len(stored) == 3, "system prompt, tools and the long result, once for all three"
    assert resolve(read_cassette(paths[2].read_bytes()), folder.payload).steps[2] == answer(long)
    next(path for path in stored if path.stat().st_size == 5000).write_text("y" * 5000)
    with pytest.raises(BrokenCassette, match="does not have the content its name promises"):
        resolve(read_cassette(paths[0].read_bytes()), folder.payload)


def test_a_missing_payload_is_named(tmp_path: Path) -> None:
    folder = CassetteFolder(tmp_path)
    path = folder.write(cassette())
    for stored in (folder.root / "payloads").iterdir():
        stored.unlink()
    with pytest.raises(BrokenCassette, match=r"its payload [0-9a-f]{64}\.(txt|json) is missing"):
        resolve(read_cassette(path.read_bytes()), folder.payload)


def test_a_payload_name_cannot_leave_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    with pytest.raises(KeyError):
        CassetteFolder(tmp_path).payload("../../secret")


def test_recordings_are_counted_up_to_the_first_gap(tmp_path: Path) -> None:
    folder = CassetteFolder(tmp_path)
    for sample in (0, 1, 3):
        folder.write(cassette(sample=sample))
    assert folder.recordings("gpt", "plain", "count") == 2
    assert folder.labels() == ["gpt"]


def test_an_answer_to_no_call_is_refused() -> None:
    with pytest.raises(BrokenCassette, match="an answer to call 3"):
        list(recorded_calls(cassette((*COUNTING[:2], answer(1, call=3)))))


def test_how_long_it_took_is_no_part_of_a_recording(tmp_path: Path) -> None:
    folder = CassetteFolder(tmp_path)
    path = folder.write(cassette(timings={"model": [3.5, 1.0], "calls": [[0.5]]}))
    before = path.read_bytes()
    assert b"3.5" not in before
    folder.write(cassette(timings={"model": [99.0, 1.0], "calls": [[0.5]]}))
    assert path.read_bytes() == before
    assert folder.timings(path) == {"model": [3.5, 1.0], "calls": [[0.5]]}, "nothing else changed: nothing is written"
    assert (folder.root / ".gitattributes").read_text() == "*.ms -diff -merge\n"


def test_timings_travel_inside_of_a_recording_and_are_in_no_hash() -> None:
    timed = cassette(timings={"model": [3.5], "calls": []})
    travelled = read_cassette(write_cassette(timed, with_timings=True))
    assert travelled.timings == timed.timings
    assert travelled.content_hash() == cassette().content_hash()
    jsonschema.validate(json.loads(write_cassette(timed, with_timings=True)), cassette_schema())
