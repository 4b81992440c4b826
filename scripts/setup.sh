#!/bin/sh
# Make a virtual environment with everything in requirements.lock and Passgrid itself: `setup.sh VENV`.
# Uses uv where it is installed, else venv and pip. Hashes are checked either way. The lock is complete, and leaves out
# what no code of ours needs (`override-dependencies` in pyproject.toml): nothing else is installed.
set -eu
venv=$1
python=${PYTHON:-python3}
"$python" - <<'PY' || { echo "setup needs Python 3.11 or newer; set PYTHON=…" >&2; exit 1; }
import sys
sys.exit(sys.version_info < (3, 11))
PY
if command -v uv >/dev/null 2>&1; then
    uv venv --quiet --allow-existing --python "$python" "$venv"
    uv pip install --quiet --python "$venv/bin/python" --require-hashes --no-deps --requirement requirements.lock
    uv pip install --quiet --python "$venv/bin/python" --no-deps --editable .
else
    [ -x "$venv/bin/pip" ] || "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps --requirement requirements.lock
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --editable .
fi
# Compiled now, not at the first start of every process.
"$venv/bin/python" -m compileall -q -j 0 "$venv/lib" passgrid api workers dashboard scenarios >/dev/null 2>&1 || true
touch "$venv/.ready"
