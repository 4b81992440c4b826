"""`passgrid`: everything but the submission itself."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType

import typer

from api.cli.failing import run_command

PARTS: Mapping[str, tuple[str, ...]] = {
    "stack": ("up", "down", "status", "doctor"),
    "providers": ("providers",),
    "runs": ("watch", "cancel", "pause", "resume", "retry", "tune"),
    "report": ("report",),
    "rescoring": ("rescore",),
    "agreement": ("agreement",),
    "surface": ("surface",),
    "drift": ("drift",),
    "exporting": ("export",),
    "dashboard": ("dashboard",),
    "importing": ("import",),
    "validating": ("validate", "schema"),
    "cassettes": ("cassette",),
    "recording": ("record",),
    "gateway": ("gateway",),
    "schedules": ("schedule",),
    "tokens": ("token",),
    "login": ("login",),
    "pruning": ("prune",),
    "backup": ("backup", "restore"),
}
"""Modules and their commands, in the order of the help. Only the module of the command that is run is loaded: the
whole of them takes a second."""


def make_app(parts: Sequence[str] = tuple(PARTS)) -> typer.Typer:
    """The command line with the commands of these modules."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
    app.callback()(passgrid)
    for part in parts:
        _module(part).register(app)
    return app


def passgrid() -> None:
    """Did this change make the agent better or worse, and can I believe it?

    Matrices are submitted with `submit-matrix`; everything else is here.
    """


def parts_for(arguments: Sequence[str]) -> Sequence[str]:
    """The modules that a command line needs: that of its command; all, where it has none that is known."""
    command = arguments[0] if arguments else ""
    return [part for part, commands in PARTS.items() if command in commands] or tuple(PARTS)


def main() -> None:
    """The console script."""
    run_command(make_app(parts_for(sys.argv[1:])))


def _module(part: str) -> ModuleType:
    return import_module(f"api.cli.{part}")
