"""Start one worker host: `python -m workers.host replay` or `python -m workers.host live`."""

from __future__ import annotations

import gc
import logging
import sys
from typing import Any

from celery import signals

from passgrid.process import die_with_parent
from workers.app import app
from workers.settings import WorkerSettings, worker_settings

USAGE = "usage: python -m workers.host replay|live"


def collect_rarely() -> None:
    """Garbage-collector settings of a process that makes many short-lived objects on top of large imports."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _after_fork(**_: Any) -> None:
    """A forked process dies with its host, and leaves the imports it shares with it alone."""
    die_with_parent()
    collect_rarely()


_worker_process_init: Any = signals.worker_process_init
_worker_process_init.connect(_after_fork)


def arguments(kind: str, settings: WorkerSettings) -> list[str]:
    """Celery's command line for a host of this kind."""
    common = ["worker", "--queues", kind, "--hostname", f"{kind}@%h", "--loglevel", "WARNING"]
    common += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    if kind == "replay":
        return [*common, "--pool", "prefork", "--concurrency", str(settings.replay_processes)]
    return [*common, "--pool", "threads", "--concurrency", str(settings.live_slots)]


def main() -> None:
    """Run until told to stop. Raises `SystemExit` on a wrong command line or environment."""
    if len(sys.argv) != 2 or sys.argv[1] not in {"replay", "live"}:
        raise SystemExit(USAGE)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    settings = worker_settings()
    app.conf.broker_url = settings.broker_url
    # Imported before the fork, so that processes share it.
    app.loader.import_default_modules()
    if sys.argv[1] == "live":
        collect_rarely()
    app.worker_main(arguments(sys.argv[1], settings))


if __name__ == "__main__":
    main()
