"""Matrix expansion: ids follow from content, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from passgrid.matrix import Harness, Matrix, Mode, Prompt, SuiteSlice
from passgrid.model_reference import parse_model_reference
from tests.unit.passgrid.suites import scenario

HARNESS = Harness("0.1.0", "2.62.0", "2.3.0")


def matrix(scenarios: int = 2, models: int = 2, prompts: int = 2, k: int = 3) -> Matrix:
    return Matrix(
        slices=(
            SuiteSlice(
                "shop",
                tuple(scenario(name=f"s{i}") for i in range(scenarios)),
                tuple(Prompt(f"p{i}", f"text {i}") for i in range(prompts)),
            ),
        ),
        models=tuple(parse_model_reference(f"recorded:m{i}") for i in range(models)),
        mode=Mode.REPLAY,
        k=k,
        label="default",
        harness=HARNESS,
    )


def ids(of: Matrix) -> list[str]:
    return [attempt.attempt_id for attempt in of.attempts(of.cells(), lambda cell, sample: f"cassette-{sample}")]


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_every_combination_is_there_once_with_an_id_of_its_own(s: int, m: int, p: int, k: int) -> None:
    found = ids(matrix(s, m, p, k))
    assert len(found) == len(set(found)) == s * m * p * k


def test_a_larger_k_adds_attempts_and_keeps_the_run() -> None:
    small, large = matrix(k=2), matrix(k=3)
    assert small.run_id(small.cells()) == large.run_id(large.cells())
    assert set(ids(small)) < set(ids(large))


def test_label_and_harness_make_another_run_of_the_same_attempts() -> None:
    base = matrix()
    for other in (replace(base, label="b"), replace(base, harness=replace(HARNESS, pydantic_ai="2.63.0"))):
        assert other.run_id(other.cells()) != base.run_id(base.cells())
        assert ids(other) == ids(base)


def test_the_order_of_scenarios_and_models_does_not_matter() -> None:
    base = matrix()
    (part,) = base.slices
    turned = replace(
        base,
        models=base.models[::-1],
        slices=(replace(part, scenarios=part.scenarios[::-1], prompts=part.prompts[::-1]),),
    )
    assert turned.run_id(turned.cells()) == base.run_id(base.cells())
    assert set(ids(turned)) == set(ids(base))


def test_another_recording_is_another_attempt() -> None:
    base = matrix(1, 1, 1, 1)
    (cell,) = base.cells()
    assert cell.attempt_id(0, "one") != cell.attempt_id(0, "two") != cell.attempt_id(1, "two")


def test_samples_come_round_by_round() -> None:
    base = matrix(2, 1, 1, 2)
    samples = [attempt.sample for attempt in base.attempts(base.cells(), lambda cell, sample: None)]
    assert samples == [0, 0, 1, 1]
