"""Do the intervals, the gate and the planning keep what they promise? Simulated with arms whose truth is known.

    python benchmarks/statistics.py [--json] [--runs 2000] [--seed 1]

Exit code 0 when every figure lies within its bounds, 1 otherwise. Takes about five minutes; the simulation itself is
``statistics_simulation.py``.

A script's folder comes first on sys.path, so this file's name hides the standard library's module ``statistics`` from
every script of this folder. Imported under that name, it hands over to the real one and does nothing else.
"""

import sys
from pathlib import Path


def _hand_over_to_the_standard_library() -> None:
    """Put the module that was meant in this one's place: what is in sys.modules is what an import returns."""
    import sysconfig
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("statistics", Path(sysconfig.get_path("stdlib")) / "statistics.py")
    assert spec is not None
    assert spec.loader is not None
    sys.modules["statistics"] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules["statistics"])


if __name__ == "statistics":
    _hand_over_to_the_standard_library()
elif __name__ == "__main__":
    sys.path.insert(1, str(Path(__file__).resolve().parents[1]))
    from statistics_simulation import main

    sys.exit(main())
