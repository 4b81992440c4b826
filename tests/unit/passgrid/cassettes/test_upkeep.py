"""Recordings are listed, verified, redacted, pruned and packed; nothing of them is lost on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from passgrid.cassettes.format import BrokenCassette
from passgrid.cassettes.layout import PAYLOADS, CassetteFolder
from passgrid.cassettes.redacting import refuse_secrets
from passgrid.cassettes.telling import differences, told
from passgrid.cassettes.upkeep import label_sizes, pack, redact, removable, unpack, unreachable, verify, whole
from passgrid.redaction import Redactor
from tests.unit.passgrid.suites import COUNTING, answer, cassette, say

SECRET = "ghp" + "_abcdefghijklmnopqrstuvwxyz0123456789"
LONG = "a long answer " * 200


@pytest.fixture
def folder(tmp_path: Path) -> CassetteFolder:
    """Three recordings; the second holds a secret in a payload, the third in its last words."""
    made = CassetteFolder(tmp_path / "suite")
    made.write(cassette())
    made.write(cassette((*COUNTING[:2], answer(f"{LONG} {SECRET}"), COUNTING[3]), sample=1))
    made.write(cassette((*COUNTING[:3], say(f"the key is {SECRET}")), sample=2))
    return made


def test_sizes_by_label(folder: CassetteFolder) -> None:
    (size,) = label_sizes(folder)
    assert (size.label, size.prompts, size.scenarios, size.cassettes) == ("gpt", 1, 1, 3)
    assert size.payload_bytes > len(LONG)


def test_secrets_are_named_by_file_and_kind_and_never_shown(folder: CassetteFolder) -> None:
    problems = verify(folder, Redactor())
    assert [Path(problem.place).name for problem in problems] == ["1.json", "2.json"]
    assert all("github-token" in str(problem) and SECRET not in str(problem) for problem in problems)


def test_redacting_takes_secrets_out_of_files_and_payloads_and_a_dry_run_nothing(folder: CassetteFolder) -> None:
    assert len(redact(folder, Redactor(), dry_run=True)) == 2
    assert len(verify(folder, Redactor())) == 2
    assert len(redact(folder, Redactor())) == 2
    assert verify(folder, Redactor()) == []
    assert redact(folder, Redactor()) == []
    assert all(SECRET.encode() not in path.read_bytes() for path in folder.root.rglob("*") if path.is_file())
    assert whole(folder, folder.path("gpt", "plain", "count", 0)) == cassette()


def test_what_nothing_refers_to_is_found_and_what_a_broken_off_writing_left(folder: CassetteFolder) -> None:
    orphan = folder.root / PAYLOADS / ("0" * 64 + ".txt")
    orphan.write_text("nobody's")
    partial = folder.path("gpt", "plain", "count", 0).with_name(".0.json.123")
    partial.write_text("half")
    assert unreachable(folder) == [orphan, partial]


def test_a_pack_gives_every_byte_back_and_is_deterministic(folder: CassetteFolder, tmp_path: Path) -> None:
    data = pack(folder)
    assert data == pack(folder)
    other = CassetteFolder(tmp_path / "other")
    unpack(data, other)
    for path in folder.root.rglob("*.*"):
        assert (other.root / path.relative_to(folder.root)).read_bytes() == path.read_bytes()


def test_a_pack_that_would_leave_its_folder_writes_nothing(tmp_path: Path) -> None:
    import zstandard

    evil = zstandard.ZstdCompressor().compress(b"../../evil.json 2\n{}")
    with pytest.raises(BrokenCassette, match="leave its folder"):
        unpack(evil, CassetteFolder(tmp_path / "deep" / "suite"))
    assert not list(tmp_path.rglob("evil*"))
    with pytest.raises(BrokenCassette, match="not a pack"):
        unpack(b"nonsense", CassetteFolder(tmp_path))


def test_a_recording_with_a_secret_is_refused_without_printing_it() -> None:
    leaky = cassette((*COUNTING[:3], say(f"the key is {SECRET}")))
    with pytest.raises(BrokenCassette) as caught:
        refuse_secrets(leaky, Redactor())
    assert "github-token" in str(caught.value)
    assert SECRET not in str(caught.value)
    refuse_secrets(cassette(), Redactor())


def test_a_recording_is_told_in_order_and_compared_by_what_was_said() -> None:
    assert list(told(cassette()))[2:] == [
        "user: How many bolts?",
        'calls count {"item":"bolts"}',
        "  result of call 0: 5",
        "says: there are 5",
        "ended: completed",
    ]
    other = cassette((*COUNTING[:2], answer(6), COUNTING[3]))
    lines = list(differences(cassette(), other, "old", "new"))
    assert "-  result of call 0: 5" in lines
    assert "+  result of call 0: 6" in lines
    assert list(differences(cassette(), cassette(), "old", "new")) == []


def test_recordings_that_a_newer_label_has_again_can_go_with_all_that_is_theirs(tmp_path: Path) -> None:
    made = CassetteFolder(tmp_path / "suite")
    timings = {"model": [1.0], "calls": []}
    for night, samples in (("nightly-01", 2), ("nightly-02", 1), ("nightly-03", 1), ("release", 1)):
        for sample in range(samples):
            steps = (*COUNTING[:2], answer(f"{LONG} of {night} {sample}"), COUNTING[3])
            made.write(cassette(steps, label=night, sample=sample, timings=timings))
    assert removable(made) == []
    gone = [path.relative_to(made.root).as_posix() for path in removable(made, "nightly-*", keep=1)]
    old = ["nightly-01/plain/count/0", "nightly-02/plain/count/0"]
    assert [name for name in gone if name.endswith(".json")] == [f"{name}.json" for name in old]
    assert [name for name in gone if name.endswith(".ms")] == [f"{name}.ms" for name in old]
    assert sum(name.startswith(PAYLOADS) for name in gone) == 2, "the only recording of a sample stays"
    assert len(removable(made, "nightly-*", keep=2)) == 3
