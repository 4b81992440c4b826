"""Did this change make the agent better or worse, and can I believe it? The core of Passgrid.

The names below are the public face for people who write scenarios, checks and scripted models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from passgrid.models.scripted import Call, PolicyTurn, policy
    from passgrid.scenario import Scenario
    from passgrid.scoring.checks import check
    from passgrid.scoring.detectors import detector
    from passgrid.scoring.evidence import Evidence

__all__ = ["Call", "Evidence", "PolicyTurn", "Scenario", "check", "detector", "policy"]

_HOMES = {
    "Call": "passgrid.models.scripted",
    "Evidence": "passgrid.scoring.evidence",
    "PolicyTurn": "passgrid.models.scripted",
    "Scenario": "passgrid.scenario",
    "check": "passgrid.scoring.checks",
    "detector": "passgrid.scoring.detectors",
    "policy": "passgrid.models.scripted",
}


def __getattr__(name: str) -> Any:
    """Import on first use: the command line should not pay for the agent library."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'passgrid' has no attribute {name!r}")
