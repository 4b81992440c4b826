"""How arms are named: a short key for addresses, a full name for lists, a short one for charts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from dashboard.plain_text import one_line
from passgrid.report.facts import ArmName

USUAL = {"target": "default", "fault": "none", "mitigation": "none", "agent": "default"}
_AXES = ("model", "prompt", "target", "fault", "mitigation", "agent", "label", "mode")


def arm_key(arm: ArmName) -> str:
    """Short and stable: the start of the run's id and a hash of the axes."""
    agent = () if arm.agent == USUAL["agent"] else (arm.agent,)  # addresses of before there were any stay
    axes = "\0".join((arm.model, arm.prompt, arm.target, arm.fault, arm.mitigation, *agent))
    return f"{arm.run[:12]}-{hashlib.sha256(axes.encode(errors='replace')).hexdigest()[:8]}"


def full_name(arm: ArmName) -> str:
    """Every axis that says something, as plain text; what is unusual stands where a narrow screen still shows it."""
    unusual = [_said(arm, axis) for axis in _AXES if _unusual(arm, axis)]
    return one_line(" · ".join([arm.model, *unusual, arm.prompt, arm.label, origin(arm), arm.run[:8]]))


def origin(arm: ArmName) -> str:
    """Its mode; of an imported run also where it came from."""
    return arm.mode if arm.imported_from is None else f"{arm.mode}, imported from {arm.imported_from}"


def short_names(arms: Sequence[ArmName]) -> list[str]:
    """The model, the agent where one was chosen, and those axes in which these arms differ, as plain text."""
    named = {"model"} | {axis for axis in _AXES if len({getattr(arm, axis) for arm in arms}) > 1}
    if any(_unusual(arm, "agent") for arm in arms):
        named.add("agent")
    names = [" · ".join(_said(arm, axis) for axis in _AXES if axis in named) for arm in arms]
    names = [f"{name} · imported" if arm.imported_from else name for name, arm in zip(names, arms, strict=True)]
    doubled = len(set(names)) < len(names)
    return [one_line(f"{name} · {arm.run[:8]}" if doubled else name, 80) for name, arm in zip(names, arms, strict=True)]


def _unusual(arm: ArmName, axis: str) -> bool:
    return axis in USUAL and getattr(arm, axis) != USUAL[axis]


def _said(arm: ArmName, axis: str) -> str:
    """Its value; with the axis where the value alone would not tell which one it is of."""
    value: str = getattr(arm, axis)
    return f"{axis} {value}" if axis in USUAL else value
