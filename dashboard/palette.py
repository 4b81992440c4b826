"""Colours that colour-blind people can tell apart (Okabe and Ito), and what each stands for."""

from __future__ import annotations

from typing import Literal

Badge = Literal["blue", "orange", "green", "violet", "gray", "red", "yellow"]

ARMS = ("#0072B2", "#D55E00", "#009E73", "#AA4499", "#E69F00", "#56B4E9", "#332288", "#555555")
"""By position among the arms compared."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right", "triangle-left")
LETTERS = "ABCDEFGH"
MOST_ARMS = len(ARMS)

ERROR = "#D55E00"
DOMINANT = "#1F2937"
OTHER = "#9AA5B1"
MODEL = "#7FB8DA"
WARNING = "#B45309"
WASTED = "#B91C1C"
"""Calls in vain, beside the colours of arms."""


def outcome_badge(outcome: str | None) -> Badge:
    """The colour of a badge for an outcome such as `limit(turns)`."""
    if outcome is None:
        return "gray"
    kind = outcome.partition("(")[0]
    colours: dict[str, Badge] = {"passed": "green", "failed": "red", "limit": "orange"}
    return colours.get(kind, "gray")
