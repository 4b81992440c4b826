"""Watch a run until it is done: a table that refreshes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import sqlalchemy as sa
from rich.console import Console
from rich.live import Live
from rich.table import Table

from passgrid.warehouse.progress import RunProgress, run_progress

SLOWEST = 1.0
"""Seconds between two looks at a large run."""
LINE_SECONDS = 2.0
"""Seconds between two lines where progress is printed."""
SILENT_SECONDS = 15.0
"""After so many seconds without news a line is printed all the same."""


def wait_for(engine: sa.Engine, run_id: str, *, quiet: bool = False) -> bool:
    """Show progress on stderr until the run is done. Ctrl-C detaches, says how to go on, and returns False."""
    console = Console(stderr=True)
    try:
        if console.is_terminal and not quiet:
            _watch_live(engine, run_id, console)
        else:
            _watch_lines(engine, run_id, console)
    except KeyboardInterrupt:
        short = run_id[:12]
        console.print(f"detached; the run goes on. Watch: passgrid watch {short}   Cancel: passgrid cancel {short}")
        return False
    return True


def _each_look(engine: sa.Engine, run_id: str, show: Callable[[RunProgress], None]) -> None:
    pause = 0.02
    while True:
        started = time.perf_counter()
        with engine.connect() as connection:
            progress = run_progress(connection, run_id)
        show(progress)
        if progress.finished:
            return
        # A look costs the database time, more so for a large run: spend at most a tenth on looking.
        pause = min(SLOWEST, max(pause * 1.3, 10 * (time.perf_counter() - started)))
        time.sleep(pause)


def _watch_live(engine: sa.Engine, run_id: str, console: Console) -> None:
    with Live(console=console, refresh_per_second=8, transient=False) as live:
        _each_look(engine, run_id, lambda progress: live.update(progress_table(progress)))


def _watch_lines(engine: sa.Engine, run_id: str, console: Console) -> None:
    shown, last = -LINE_SECONDS, -1

    def show(progress: RunProgress) -> None:
        nonlocal shown, last
        now = time.monotonic()
        news = progress.done != last and now - shown > LINE_SECONDS
        if progress.finished or news or now - shown > SILENT_SECONDS:
            shown, last = now, progress.done
            passed = sum(arm.outcomes.get("passed", 0) for arm in progress.arms)
            running = sum(arm.running for arm in progress.arms)
            line = f"{progress.done}/{progress.wanted} done, {passed} passed, {running} running"
            if progress.budget_usd is not None:
                line += f", ${progress.spent_usd:.4f} of ${progress.budget_usd:g} spent"
            if progress.stop_reason:
                line += f"; {progress.state}: {progress.stop_reason}"
            print(line, file=sys.stderr, flush=True)

    _each_look(engine, run_id, show)
    with engine.connect() as connection:
        for reason, count in run_progress(connection, run_id).reasons:
            print(f"  {count} × {reason[:110]}", file=sys.stderr)


def progress_table(progress: RunProgress) -> Table:
    """Arms with their counts, and why attempts did not pass so far."""
    bought = any(arm.spent_usd is not None for arm in progress.arms) or progress.budget_usd is not None
    table = Table(title=f"run {progress.run_id[:12]}  {progress.label}  {progress.mode}", title_justify="left")
    targets = any(arm.target != "default" for arm in progress.arms)
    agents = any(arm.agent != "default" for arm in progress.arms)
    for column in ("model", "prompt", *(["target"] if targets else []), *(["agent"] if agents else [])):
        table.add_column(column, overflow="fold")
    for column in ("done", "passed", "failed", "other", *(["spent"] if bought else [])):
        table.add_column(column, justify="right")
    for arm in progress.arms:
        passed, failed = arm.outcomes.get("passed", 0), arm.outcomes.get("failed", 0)
        counts = (f"{arm.done}/{arm.wanted}", str(passed), str(failed), str(arm.done - passed - failed))
        spent = ["unknown" if arm.spent_usd is None else f"${arm.spent_usd:.4f}"] if bought else []
        axes = [*([arm.target] if targets else []), *([arm.agent] if agents else [])]
        table.add_row(arm.model, arm.prompt, *axes, *counts, *spent)
    notes = [f"{count} × {reason[:90]}" for reason, count in progress.reasons]
    if progress.budget_usd is not None:
        notes.insert(0, f"${progress.spent_usd:.4f} of ${progress.budget_usd:g} spent")
    if progress.stop_reason:
        notes.insert(0, f"{progress.state}: {progress.stop_reason}")
    table.caption, table.caption_justify = "\n".join(notes), "left"
    return table
