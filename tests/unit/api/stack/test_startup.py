import subprocess
import sys

from api.stack.python_command import python_environment

HEAVY = ("pydantic", "celery", "sqlalchemy", "psycopg", "redis", "fastapi", "duckdb", "numpy", "importlib.metadata")


def test_joining_imports_nothing_heavy() -> None:
    script = f"import sys, api.stack.join; print([name for name in {HEAVY!r} if name in sys.modules])"
    asked = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=python_environment())
    assert asked.stdout.strip() == "[]", asked.stderr
