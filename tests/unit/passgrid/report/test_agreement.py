"""Verdicts beside the labels of people."""

from __future__ import annotations

from pathlib import Path

import pytest

from passgrid.problems import InvalidInput
from passgrid.report.agreement import agreement, read_labels

LABELS = {("a", 0): True, ("a", 1): False, ("b", 0): True, ("b", 1): False}


def test_agreement_is_over_what_both_speak_of() -> None:
    found = agreement(
        "judge", {("a", 0): True, ("a", 1): False, ("b", 0): False, ("c", 0): True, ("b", 1): None}, LABELS
    )
    assert (found.kappa.n, found.unrated) == (3, 1)
    assert found.kappa.agreement == pytest.approx(2 / 3)
    assert found.kappa.value == pytest.approx(0.4)
    assert (found.both_pass, found.both_fail, found.only_rater_passes, found.only_people_pass) == (1, 1, 0, 1)


def test_a_rater_that_said_nothing_has_no_agreement() -> None:
    found = agreement("judge", {}, LABELS)
    assert (found.kappa.n, found.kappa.value, found.unrated) == (0, None, 4)


def test_labels_are_read_and_every_mistake_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text("scenario,sample,passed\na,0,pass\na,1,0\n")
    assert read_labels(file) == {("a", 0): True, ("a", 1): False}
    file.write_text("scenario,sample,passed\na,0,pass\na,x,pass\na,0,fail\nb,0,maybe\n")
    with pytest.raises(InvalidInput) as caught:
        read_labels(file)
    assert [problem.place.rpartition(":")[2] for problem in caught.value.problems] == ["3", "4", "5"]
    file.write_text("name,passed\nx,1\n")
    with pytest.raises(InvalidInput, match="has no column scenario, sample"):
        read_labels(file)
