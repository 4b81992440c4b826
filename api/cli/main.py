"""`passgrid`: everything but the submission itself."""

from __future__ import annotations

import typer

from api.cli import (
    agreement,
    backup,
    cassettes,
    dashboard,
    drift,
    exporting,
    gateway,
    importing,
    login,
    providers,
    pruning,
    recording,
    report,
    rescoring,
    runs,
    schedules,
    stack,
    surface,
    tokens,
    validating,
)
from api.cli.failing import run_command

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)


@app.callback()
def passgrid() -> None:
    """Did this change make the agent better or worse, and can I believe it?

    Matrices are submitted with `submit-matrix`; everything else is here.
    """


for part in (
    stack,
    providers,
    runs,
    report,
    rescoring,
    agreement,
    surface,
    drift,
    exporting,
    dashboard,
    importing,
    validating,
    cassettes,
    recording,
    gateway,
    schedules,
    tokens,
    login,
    pruning,
    backup,
):
    part.register(app)


def main() -> None:
    """The console script."""
    run_command(app)
