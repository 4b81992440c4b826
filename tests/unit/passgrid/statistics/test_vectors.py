"""Every vector of statistics-vectors.json. The other tests of this folder need no file."""

from fractions import Fraction
from math import ceil, comb, log, sqrt
from typing import Any

import pytest

from passgrid.statistics import (
    Tally,
    attempts_to_see,
    clustered_standard_error,
    coverage,
    holm,
    mcnemar_exact,
    mean_pass_at,
    mean_pass_hat,
    paired_difference,
    pass_at_k,
    pass_hat_k,
    posterior_mean,
    posterior_pass_at_k,
    posterior_pass_hat_k,
    required_scenarios,
    standard_error,
    wilson,
)
from passgrid.statistics.distributions import beta_quantile

Vectors = dict[str, Any]


def near(expected: float | None) -> object:
    return None if expected is None else pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_pass(vectors: Vectors) -> None:
    for v in vectors["pass"]:
        assert pass_at_k(v["n"], v["c"], v["k"]) == near(v["at"]), v
        assert pass_hat_k(v["n"], v["c"], v["k"]) == near(v["hat"]), v


def test_huge(vectors: Vectors) -> None:
    for v in vectors["huge"]:
        assert pass_at_k(v["n"], v["c"], v["k"]) == near(v["exact"]), v


def test_spread_of_the_estimator(vectors: Vectors) -> None:
    for v in vectors["sd"]:
        n, k = v["n"], v["k"]
        p = float(Fraction(v["p"]))
        weights = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
        for estimator, true, key in ((pass_at_k, 1 - (1 - p) ** k, "sd_at"), (pass_hat_k, p**k, "sd_hat")):
            values = [estimator(n, c, k) or 0.0 for c in range(n + 1)]
            mean = sum(w * x for w, x in zip(weights, values, strict=True))
            spread = sqrt(sum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True)))
            assert mean == pytest.approx(true, rel=1e-9), v  # unbiased
            assert spread == pytest.approx(v[key], rel=1e-9), v


def test_we_are_not_the_biased_plug_in(vectors: Vectors) -> None:
    for v in vectors["plugin_bias"]:
        at, hat = pass_at_k(v["n"], v["c"], v["k"]), pass_hat_k(v["n"], v["c"], v["k"])
        assert at == near(v["unbiased"])
        assert at != pytest.approx(v["plugin"], rel=1e-6)
        assert hat == near(v["hat_unbiased"])


def test_beta(vectors: Vectors) -> None:
    for v in vectors["beta"]:
        assert posterior_pass_at_k(v["n"], v["c"], v["k"]) == near(v["at"]), v
        assert posterior_pass_hat_k(v["n"], v["c"], v["k"]) == near(v["hat"]), v


def test_bayes_n(vectors: Vectors) -> None:
    for v in vectors["bayes_n"]:
        assert posterior_mean([Tally(v["N"], c) for c in v["c"]]) == (near(v["mu"]), near(v["sigma"])), v


def test_one_proportion(vectors: Vectors) -> None:
    for v in vectors["ci_p"]:
        n, c = v["n"], v["c"]
        assert wilson(c, n) == (near(v["wilson"][0]), near(v["wilson"][1])), v
        low = beta_quantile(0.025, c, n - c + 1) if c else 0.0
        high = beta_quantile(0.975, c + 1, n - c) if c < n else 1.0
        assert [low, high] == pytest.approx(v["clopper_pearson"], rel=1e-10), v


def test_clusters(vectors: Vectors) -> None:
    v = vectors["cluster"]
    groups: list[list[float]] = v["groups"]
    means = [sum(group) / len(group) for group in groups]
    assert sum(means) / len(means) == near(v["mean"])
    assert clustered_standard_error(groups) == near(v["se_cluster_G"])
    assert standard_error(means) == near(v["se_of_task_means"])
    single: list[float] = [value for group in groups for value in group]
    assert standard_error(single) == near(v["se_clt_naive"])
    uncorrected = (clustered_standard_error(groups) or 0.0) * sqrt((len(groups) - 1) / len(groups))
    assert uncorrected == near(v["se_cluster"])


def test_paired(vectors: Vectors) -> None:
    v = vectors["paired"]
    before: dict[str, float] = {str(i): x for i, x in enumerate(v["B"])}
    after: dict[str, float] = {str(i): x for i, x in enumerate(v["A"])}
    difference = paired_difference(before, after)
    assert difference.mean == near(v["mean_diff"])
    assert difference.se == near(v["se_paired"])
    assert difference.p_value == near(v["signflip_p"])
    assert difference.p_exact


def test_mcnemar(vectors: Vectors) -> None:
    for v in vectors["mcnemar"]:
        assert mcnemar_exact(v["b"], v["c"]) == near(v["p"]), v


def test_power(vectors: Vectors) -> None:
    for v in vectors["power"]:
        needed = required_scenarios(
            v["delta"], between=v["omega2"], within_baseline=v["sA2"], within_candidate=v["sB2"], attempts=v["K"]
        )
        assert needed == near(v["n"]), v


def test_attempts_to_see_one(vectors: Vectors) -> None:
    for v in vectors["see_one"]:
        assert attempts_to_see(v["p"]) == v["n"] == ceil(log(0.05) / log(1 - v["p"])), v


def test_aggregates(vectors: Vectors) -> None:
    suite = [Tally(5, 0), Tally(5, 1), Tally(5, 3), Tally(5, 5), Tally(3, 2)]
    for k, v in vectors["agg"].items():
        assert mean_pass_at(suite, int(k)) == near(v["all_tasks"]), k
        assert mean_pass_hat(suite, int(k)) == near(v["hat_all"]), k


def test_infra_errors(vectors: Vectors) -> None:
    for v in vectors["infra"]:
        found = coverage([Tally(v["wanted"] - v["errors"], v["c"])], [v["wanted"]])
        assert found.rate == near(v["exclude"]), v
        assert found.low == near(v["count_as_fail"]), v
        assert found.high == near(v["upper"]), v


def test_holm(vectors: Vectors) -> None:
    assert holm(vectors["holm"]["p"]) == pytest.approx(vectors["holm"]["adj"], rel=1e-12)
