"""What the numbers of a matrix mean: pass@k and pass^k, intervals, coverage, comparisons, gates and planning.

Pure functions over counts; nothing here reads a file, a clock or another part of Passgrid. N/A is None throughout:
never 0, never 1, never NaN. Proportions are between 0 and 1, intervals are of 95 %.
"""

from .aggregate import Kind, common_k, mean_pass_at, mean_pass_hat, posterior_mean, scenario_values
from .change import PairedChange, paired_change
from .compare import PairedDifference, paired_difference
from .coverage import Coverage, coverage
from .curves import Curve, CurvePoint, curve
from .gate import EXIT_CODES, GateVerdict, Verdict, gate, gate_change
from .intervals import (
    Interval,
    Method,
    Over,
    mean_intervals,
    pass_at_1_interval,
    scenario_interval,
    wilson,
)
from .kappa import Kappa, cohen_kappa
from .pass_at import pass_at_k, pass_hat_k, posterior_pass_at_k, posterior_pass_hat_k, posterior_rate
from .planning import Advice, advise, advised_scenarios, attempts_to_see, required_scenarios
from .significance import holm, mcnemar_exact
from .standard_error import clustered_standard_error, standard_error
from .tally import Tally

__all__ = [
    "EXIT_CODES",
    "Advice",
    "Coverage",
    "Curve",
    "CurvePoint",
    "GateVerdict",
    "Interval",
    "Kappa",
    "Kind",
    "Method",
    "Over",
    "PairedChange",
    "PairedDifference",
    "Tally",
    "Verdict",
    "advise",
    "advised_scenarios",
    "attempts_to_see",
    "clustered_standard_error",
    "cohen_kappa",
    "common_k",
    "coverage",
    "curve",
    "gate",
    "gate_change",
    "holm",
    "mcnemar_exact",
    "mean_intervals",
    "mean_pass_at",
    "mean_pass_hat",
    "paired_change",
    "paired_difference",
    "pass_at_1_interval",
    "pass_at_k",
    "pass_hat_k",
    "posterior_mean",
    "posterior_pass_at_k",
    "posterior_pass_hat_k",
    "posterior_rate",
    "required_scenarios",
    "scenario_interval",
    "scenario_values",
    "standard_error",
    "wilson",
]
