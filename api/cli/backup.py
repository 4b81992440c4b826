"""`passgrid backup` and `passgrid restore`: everything in one file, and back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from api.cli.options import Json, print_json

Written = Annotated[Path, typer.Argument(metavar="FILE", help="Written in one step; replaced where it is there.")]
Read = Annotated[Path, typer.Argument(metavar="FILE", help="What `passgrid backup` wrote.")]
Force = Annotated[bool, typer.Option("--force", help="Also where the database holds runs: they are lost.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("backup", epilog="Example: passgrid backup passgrid-2026-10-01.dump")(backup)
    app.command("restore", epilog="Example: passgrid restore passgrid-2026-10-01.dump")(restore)


def backup(file: Written, json: Json = False) -> None:
    """Write everything in the database into one file, whatever runs meanwhile.

    It holds transcripts and recordings: keep it where only those may read it who may read them.
    """
    from api.backup import back_up
    from api.stack.join import joined_stack

    with joined_stack() as addresses:
        size = back_up(addresses, file)
    if json:
        print_json({"file": str(file), "bytes": size})
    else:
        print(f"{file}: {size / 1e6:.1f} MB")


def restore(file: Read, force: Force = False, json: Json = False) -> None:
    """Put a backup into an empty database: all of it, or nothing happens. Runs that were active are paused.

    The next export reads everything anew.
    """
    from api.backup import restore as put_back
    from api.stack.join import joined_stack

    with joined_stack() as addresses:
        restored = put_back(addresses, file, force=force)
    if json:
        print_json({"file": str(file), **asdict(restored)})
    else:
        print(f"{file}: {restored.runs} runs are back; those that were active are paused: passgrid resume RUN")
