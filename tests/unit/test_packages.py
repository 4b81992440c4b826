"""Where packages come from, and what importing them brings along."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("package", ["passgrid", "api", "workers", "dashboard", "scenarios"])
def test_our_packages_come_from_this_checkout(package: str) -> None:
    """`api` and `workers` are common names: another distribution must not stand in for ours."""
    (folder,) = importlib.import_module(package).__path__
    assert Path(folder) == ROOT / package


@pytest.mark.parametrize(
    ("statement", "never"),
    [
        ("import passgrid", ["celery", "fastapi", "streamlit", "pydantic_ai", "sqlalchemy"]),
        ("from passgrid import Scenario", ["celery", "fastapi", "streamlit", "pydantic_ai", "sqlalchemy"]),
        ("import passgrid.plan", ["celery", "fastapi", "streamlit", "pydantic_ai", "sqlalchemy"]),
        ("import passgrid.attempt", ["celery", "fastapi", "streamlit", "sqlalchemy"]),
        ("import passgrid.warehouse.analysis.store", ["celery", "sqlalchemy", "pydantic_ai", "adbc_driver_postgresql"]),
        ("from api.cli.main import make_app; make_app(['stack'])", ["sqlalchemy", "pydantic", "passgrid.plan"]),
        (
            "from api.cli.main import make_app; make_app(); import api.cli.submit",
            ["celery", "streamlit", "pydantic_ai", "fastapi", "duckdb"],
        ),
        ("import api.http.app, api.scheduler", ["workers", "streamlit", "pydantic_ai"]),
        ("import workers.tasks", ["api", "fastapi", "streamlit", "duckdb"]),
    ],
)
def test_an_import_brings_nothing_along_that_it_does_not_need(statement: str, never: list[str]) -> None:
    program = f"{statement}\nimport sys\nprint([name for name in {never!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_public_face_is_what_it_says() -> None:
    passgrid = importlib.import_module("passgrid")
    for name in passgrid.__all__:
        assert getattr(passgrid, name).__name__
    with pytest.raises(AttributeError):
        _ = passgrid.nothing
