"""Which arm is compared with which: the one that is alike in most axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from passgrid.report.facts import ArmName

AXES = ("model", "prompt", "target", "fault", "mitigation", "agent")
"""What may tell two arms apart, besides their runs."""


@dataclass(frozen=True, slots=True)
class Matched:
    """Pairs of (baseline, candidate), and in words what stayed without a partner."""

    pairs: tuple[tuple[ArmName, ArmName], ...]
    unmatched: tuple[str, ...]


def differing_axes(one: ArmName, other: ArmName) -> tuple[str, ...]:
    """The axes in which two arms differ."""
    return tuple(axis for axis in AXES if getattr(one, axis) != getattr(other, axis))


def match_arms(baselines: Sequence[ArmName], candidates: Sequence[ArmName]) -> Matched:
    """A baseline for each candidate.

    First those that are alike in every axis. What is left goes to the one left that differs in the fewest axes, such
    as only in the model, of these to one of the same run; where several are equally near, none is taken, and that is
    said.
    """
    same = {one: [base for base in baselines if not differing_axes(base, one)] for one in candidates}
    found = {one: bases[0] for one, bases in same.items() if bases}
    left = [base for base in baselines if base not in found.values()] or list(baselines)
    unmatched: list[str] = []
    for one in candidates:
        if one in found:
            continue
        near = _nearest(left, one)
        if len(near) == 1:
            found[one] = near[0]
        else:
            unmatched.append(f"{arm_text(one)}: {_why(near, one)}")
    unmatched += [
        f"{arm_text(base)}: no arm is compared with this one of the baseline"
        for base in baselines
        if base not in found.values()
    ]
    return Matched(tuple((found[one], one) for one in candidates if one in found), tuple(unmatched))


def _nearest(baselines: Sequence[ArmName], one: ArmName) -> list[ArmName]:
    distances = [(len(differing_axes(base, one)), base.run != one.run) for base in baselines]
    return [base for base, distance in zip(baselines, distances, strict=True) if distance == min(distances)]


def _why(near: Sequence[ArmName], one: ArmName) -> str:
    if not near:
        return "the baseline has no arm"
    axes = sorted({axis for base in near for axis in differing_axes(base, one)}, key=AXES.index)
    return f"{len(near)} arms of the baseline are equally near to it, by {' and '.join(axes)}; not compared"


def arm_text(arm: ArmName) -> str:
    """An arm in one line: its model and prompt, and what is unusual."""
    usual = {"target": "default", "fault": "none", "mitigation": "none", "agent": "default"}
    unusual = [f"{axis} {getattr(arm, axis)}" for axis, value in usual.items() if getattr(arm, axis) != value]
    imported = [f"imported from {arm.imported_from}"] if arm.imported_from else []
    return ", ".join([arm.model, arm.prompt, *unusual, *imported])
