import json
import os
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    """Exact values computed elsewhere; they lie beside the project, not in it."""
    folder = os.environ.get("PASSGRID_DATA")
    if not folder:
        pytest.skip("PASSGRID_DATA is not set: no statistics-vectors.json to compare with")
    return json.loads((Path(folder) / "statistics-vectors.json").read_text(encoding="utf-8"))
