"""Where the schedule file lies."""

from __future__ import annotations

import os
from pathlib import Path

from api.stack.home import Home

VARIABLE = "PASSGRID_SCHEDULES"


def schedule_path() -> Path:
    """PASSGRID_SCHEDULES, else `schedules.yaml` in PASSGRID_HOME."""
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else Home.from_environment().root / "schedules.yaml"
