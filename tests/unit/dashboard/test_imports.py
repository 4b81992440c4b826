import ast
import json
import subprocess
import sys
from pathlib import Path

import dashboard

MODULES = sorted(file.stem for file in Path(dashboard.__path__[0]).glob("*.py") if file.stem != "__init__")
FORBIDDEN = ("sqlalchemy", "celery", "fastapi", "pydantic_ai", "api", "workers", "alembic", "psycopg", "kombu")
STANDARD = sys.stdlib_module_names | {"duckdb", "api", "report", "workers", "passgrid"}


def test_the_dashboard_and_the_store_pull_in_no_server_parts() -> None:
    names = [f"dashboard.{module}" for module in MODULES]
    names += ["passgrid.warehouse.analysis.store", "passgrid.warehouse.analysis.arms", "passgrid.report.arms"]
    code = (
        f"import importlib, json, sys\nfor name in {names}: importlib.import_module(name)\n"
        f"print(json.dumps([name for name in {FORBIDDEN} if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout) == []


def test_no_module_hides_another_one() -> None:
    """Streamlit puts the folder of the script first on the path."""
    assert [module for module in MODULES if module in STANDARD] == []


def test_pages_render_no_foreign_markup() -> None:
    for file in Path(dashboard.__path__[0]).glob("*.py"):
        text = file.read_text()
        assert "unsafe_allow_html" not in text, file.name
        assert ":material/" not in text, file.name
        assert "st.html" not in text, file.name


def test_nothing_stands_alone_in_a_page() -> None:
    """Streamlit prints bare expressions of pages; only the text at their top is left out."""
    for module in ("main", *(name for name in MODULES if name.endswith("_page"))):
        body = ast.parse((Path(dashboard.__path__[0]) / f"{module}.py").read_text()).body
        assert not [statement.lineno for statement in body[1:] if isinstance(statement, ast.Expr)], module
