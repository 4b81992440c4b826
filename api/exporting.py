"""Where the analysis file of this installation lies, and keeping it up to date."""

from __future__ import annotations

import os
from pathlib import Path

from api.stack.home import Home


def analysis_folder() -> Path:
    """The folder of the DuckDB file: PASSGRID_ANALYSIS, else below PASSGRID_HOME."""
    given = os.environ.get("PASSGRID_ANALYSIS")
    return Path(given) if given else Home.from_environment().analysis
