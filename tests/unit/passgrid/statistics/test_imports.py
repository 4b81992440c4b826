import inspect
import subprocess
import sys
from pathlib import Path

import passgrid.statistics

ROOT = Path(passgrid.statistics.__file__).parents[2]


def test_numpy_is_loaded_only_where_it_draws() -> None:
    code = (
        "import sys, passgrid; sys.modules['numpy'] = None\n"
        "from passgrid.statistics import Tally, curve, mean_pass_at\n"
        "assert mean_pass_at([Tally(5, 2)], 2) and curve([Tally(3, 2), Tally(3, 1)], 'at')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_every_public_name_is_there_and_documented() -> None:
    assert len(set(passgrid.statistics.__all__)) == len(passgrid.statistics.__all__)
    for name in passgrid.statistics.__all__:
        public = getattr(passgrid.statistics, name)
        if inspect.isclass(public) or inspect.isfunction(public):
            assert public.__doc__, name
