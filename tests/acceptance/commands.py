"""The command line as a user runs it, on an installation of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Installation:
    """A PASSGRID_HOME, and how commands are run on it."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def run(self, *command: str | Path, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command of ours to its end, whatever its exit code."""
        program, *rest = command
        return subprocess.run(
            [BIN / str(program), *map(str, rest)],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env=self.variables(**environment),
        )

    def json(self, *command: str | Path, timeout: float = 120, **environment: str) -> Any:
        """Run a command that must succeed and read the JSON it prints."""
        done = self.run(*command, "--json", timeout=timeout, **environment)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start(self, *command: str | Path, **environment: str) -> subprocess.Popen[str]:
        """Start a command and leave it running."""
        program, *rest = command
        return subprocess.Popen(
            [BIN / str(program), *map(str, rest)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.variables(**environment),
        )

    def variables(self, **more: str) -> dict[str, str]:
        """The environment commands run in."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PASSGRID_")}
        return {**kept, "PASSGRID_HOME": str(self.home), **self.environment, **more}


def airline(suite: Path, *more: str | Path, k: int = 4) -> Sequence[str | Path]:
    """The submission of the published trajectories."""
    matrix = ("submit-matrix", "--suite", suite, "--model", "recorded:gpt-4o", "-k", str(k), "--mode", "replay")
    return (*matrix, *more)
