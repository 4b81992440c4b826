"""A night's recordings become the baseline: what is replaced, what stays, and what is said before."""

from __future__ import annotations

from pathlib import Path

import pytest

from passgrid.cassettes.format import Cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.promoting import promote, promotion
from passgrid.cassettes.upkeep import whole
from passgrid.problems import InvalidInput
from tests.unit.passgrid.suites import COUNTING, cassette, say


@pytest.fixture
def folder(tmp_path: Path) -> CassetteFolder:
    """A baseline of three samples and another scenario; a night of two samples, one of which says something else."""
    folder = CassetteFolder(tmp_path / "a suite")
    for sample in range(3):
        folder.write(cassette(label="gpt", sample=sample))
    folder.write(cassette(label="gpt", scenario="other"))
    folder.write(cassette(label="gpt.night", sample=0))
    folder.write(cassette((*COUNTING[:3], say("x" * 60_000)), label="gpt.night", sample=1))
    return folder


def there(folder: CassetteFolder, label: str) -> dict[str, Cassette]:
    return {"/".join(path.parts[-2:]): whole(folder, path) for path in folder.files() if path.parts[-4] == label}


def test_what_would_be_replaced_is_told_and_nothing_is_written(folder: CassetteFolder) -> None:
    before = there(folder, "gpt")
    made = promotion(folder, "gpt.night", "gpt")
    assert {one.place.rpartition("/")[2]: one.kind for one in made.replacements} == {
        "0": "same", "1": "changed", "2": "removed",
    }  # fmt: skip
    (changed,) = [one for one in made.replacements if one.kind == "changed"]
    assert any(line.startswith("+says: xxx") for line in changed.lines())
    assert there(folder, "gpt") == before


def test_scenarios_it_has_are_replaced_whole_and_others_stay(folder: CassetteFolder) -> None:
    night, other = there(folder, "gpt.night"), there(folder, "gpt")["other/0.json"]
    assert promote(promotion(folder, "gpt.night", "gpt")) == 2
    now = there(folder, "gpt")
    assert sorted(now) == ["count/0.json", "count/1.json", "other/0.json"]
    assert now["other/0.json"] == other
    assert [one.label for one in now.values()] == ["gpt"] * 3
    assert now["count/1.json"].steps == night["count/1.json"].steps
    assert there(folder, "gpt.night") == night
    assert {one.kind for one in promotion(folder, "gpt.night", "gpt").replacements} == {"same"}


def test_a_label_that_is_not_there_yet_can_be_made(folder: CassetteFolder) -> None:
    assert promote(promotion(folder, "gpt.night", "fresh")) == 2
    assert sorted(there(folder, "fresh")) == ["count/0.json", "count/1.json"]


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [("nobody", "gpt", "has no recordings of it; there are: gpt, gpt.night"), ("gpt", "gpt", "is the label they have"),
     ("gpt", "../x", "is no name of a folder")],
)  # fmt: skip
def test_labels_that_make_no_sense_are_refused(folder: CassetteFolder, source: str, target: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        promotion(folder, source, target)
