"""One thing the doctor looked at."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from api.stack.errors import StackError


@dataclass(frozen=True)
class Finding:
    """What was found about one subject.

    `remedy` is empty when all is well. One that is `ok` and has a remedy is worth knowing, and may be meant.
    """

    subject: str
    ok: bool
    detail: str
    remedy: str = ""


def examine(subject: str, look: Callable[[], Finding | str]) -> Finding:
    """Look at something and turn whatever goes wrong into a finding. `look` returns a finding, or what is fine."""
    try:
        seen = look()
    except StackError as error:
        return Finding(subject, False, error.problem, error.remedy)
    except Exception as error:  # noqa: BLE001  (the doctor reports what is broken, it never breaks itself)
        return Finding(subject, False, f"{type(error).__name__}: {error}", "Report this as a bug of Passgrid.")
    return seen if isinstance(seen, Finding) else Finding(subject, True, seen)


def examine_all(looks: Iterable[tuple[str, Callable[[], Finding | str]]]) -> Iterator[Finding]:
    """Look at one thing after the other."""
    for subject, look in looks:
        yield examine(subject, look)
