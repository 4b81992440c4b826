"""What is counted for one scenario of one arm."""

from dataclasses import dataclass
from operator import index


@dataclass(frozen=True, slots=True)
class Tally:
    """The valid attempts of one scenario in one arm, and how many of them passed.

    Infra errors, replay misses and cancelled attempts are in neither number: they are no failures, and
    :func:`passgrid.statistics.coverage` accounts for them.

    Raises:
        ValueError: unless 0 <= passed <= valid.
        TypeError: for a count that is not a whole number.
    """

    #: Attempts that ended in passed, failed or a limit (the n of the formulas).
    valid: int
    #: Those of them that passed (the c of the formulas).
    passed: int

    def __post_init__(self) -> None:
        if not 0 <= index(self.passed) <= index(self.valid):
            raise ValueError(f"a tally needs 0 <= passed <= valid, got passed={self.passed}, valid={self.valid}")
