"""The one error of this package."""


class StackError(Exception):
    """The stack cannot be started, joined, reached or stopped; the command line prints it and exits with 1."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}\n{remedy}")
        self.problem = problem
        """What is wrong, naming the path or address (never a password)."""
        self.remedy = remedy
        """What a person can do about it."""
