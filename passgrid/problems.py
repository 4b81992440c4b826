"""What is wrong with an input: every problem at once, each with its place and its remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake in one input."""

    place: str
    """File with line, flag or field: where to look."""
    message: str
    """What is wrong there."""
    remedy: str = ""
    """What to do about it; empty when the message says it."""

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}"
        return f"{text} ({self.remedy})" if self.remedy else text


class PassgridError(Exception):
    """Something a user can act on; the command line prints it without a traceback and exits with `exit_code`."""

    exit_code = 1


class InvalidInput(PassgridError):
    """The input cannot be used; `problems` holds everything found wrong with it."""

    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class Unreachable(PassgridError):
    """A service, folder or file we need cannot be used now; the message names its address and the remedy."""
