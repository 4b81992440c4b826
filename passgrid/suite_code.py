"""Python that belongs to one suite: its checks and scripted policies, loaded by path from source text."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from passgrid.identity import content_hash


class BrokenSuiteCode(Exception):
    """A file of the suite cannot be loaded, or lacks the function asked for; the message names both."""


class SuiteCode:
    """The Python files of one suite, each executed at most once per process and content."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def function(self, reference: str) -> Callable[..., Any]:
        """The function `file.py:name` names. Raises `BrokenSuiteCode`."""
        path, _, name = reference.rpartition(":")
        found = getattr(self._module(path), name, None)
        if not callable(found):
            raise BrokenSuiteCode(f"{path} has no function {name}")
        return found

    def marked(self, path: str, mark: str) -> dict[str, Callable[..., Any]]:
        """The functions of a file that carry `mark`, by what the mark says; empty where there is no such file."""
        if path not in self._files:
            return {}
        values = vars(self._module(path)).values()
        return {getattr(value, mark): value for value in values if callable(value) and hasattr(value, mark)}

    def _module(self, path: str) -> ModuleType:
        source = self._files.get(path)
        if source is None:
            raise BrokenSuiteCode(f"the suite has no file {path}")
        name = f"passgrid_suite_{content_hash(path.encode() + source)[:32]}"
        if name in sys.modules:
            return sys.modules[name]
        module = ModuleType(name)
        module.__file__ = path
        sys.modules[name] = module
        try:
            # The author's own code: that is what a suite is. Who may bring code is decided where suites come in.
            exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102
        except Exception as error:
            del sys.modules[name]
            raise BrokenSuiteCode(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
        return module
