import pytest

from passgrid.statistics.resampling import bootstrap, sign_flip


def test_nothing_to_resample() -> None:
    assert bootstrap([], seed=0) == []
    assert sign_flip([], seed=0) == (1.0, True)


@pytest.mark.parametrize("columns", [[[]], [[0.1, 0.2], [0.1]], [[0.1], []]])
def test_columns_over_other_scenarios_are_refused(columns: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="same scenarios"):
        bootstrap(columns, seed=0)


def test_a_thousand_scenarios_take_several_blocks() -> None:
    ((low, high),) = bootstrap([[1.0, 0.0] * 500], seed=0)
    half = 1.96 * 0.5 / 1000**0.5
    assert (low, high) == (pytest.approx(0.5 - half, abs=0.002), pytest.approx(0.5 + half, abs=0.002))
