"""Start one worker host: `python -m workers.host replay` or `python -m workers.host live`."""

from __future__ import annotations

import gc
import logging
import os
import sys
import threading
from typing import Any

from celery import signals
from celery.utils.log import get_multiprocessing_logger

from passgrid.log_lines import configure_logging
from passgrid.process import die_with_parent
from passgrid.tracing.sending import send_the_rest
from passgrid.workspaces.overlay import METHOD_VARIABLE, private_mounts
from workers.app import app
from workers.heartbeats import start_beating, stop_beating
from workers.live import interrupt_live
from workers.memory import BACKSTOP, limit_memory
from workers.settings import WorkerSettings, worker_settings
from workers.stopping import STOPPING
from workers.teardowns import start_tearing_down
from workers.watchdog import die_with_any_thread

USAGE = "usage: python -m workers.host replay|live"


def collect_rarely() -> None:
    """Garbage-collector settings of a process that makes many short-lived objects on top of large imports."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _after_fork(**_: Any) -> None:
    """A forked process dies with its host, and leaves the imports it shares with it alone."""
    die_with_parent()
    die_with_any_thread()
    collect_rarely()
    limit_memory(worker_settings().memory_mb, times=BACKSTOP)
    start_beating(worker_settings().database_url, "replay")


def _when_ready(**_: Any) -> None:
    """A live host says that it is there once it listens to the broker."""
    start_beating(worker_settings().database_url, "live")
    start_tearing_down(worker_settings().database_url)


def _before_the_end(**_: Any) -> None:
    """A process that ends, also one that is recycled, sends its last spans and says that it leaves."""
    send_the_rest()
    stop_beating()


def _keep_our_logging(**_: Any) -> None:
    """Celery sets up no logging where somebody else does. Its own lines are ours, but for two about every hint."""
    logging.getLogger("celery").setLevel(max(logging.WARNING, logging.getLogger().level))
    pool: Any = get_multiprocessing_logger()
    pool.propagate = True
    pool.setLevel(logging.WARNING)


_worker_ready: Any = signals.worker_ready
_setup_logging: Any = signals.setup_logging
_setup_logging.connect(_keep_our_logging)
_worker_process_init: Any = signals.worker_process_init
_worker_process_init.connect(_after_fork)
for _ending in (signals.worker_process_shutdown, signals.worker_shutdown):
    _end: Any = _ending
    _end.connect(_before_the_end)


def _told_to_stop(**_: Any) -> None:
    """Called from a signal handler: what may wait for a lock goes into a thread of its own."""
    threading.Thread(target=_stop, name="stopping").start()


def _stop() -> None:
    """Claim nothing more; what still runs after the time of grace is handed back."""
    STOPPING.set()
    if not STOPPED.wait(worker_settings().grace_s):
        interrupt_live()


STOPPED = threading.Event()
"""Set when the host's pool has ended: nothing is left to interrupt."""

_worker_shutting_down: Any = signals.worker_shutting_down
_worker_shutting_down.connect(_told_to_stop)


def arguments(kind: str, settings: WorkerSettings) -> list[str]:
    """Celery's command line for a host of this kind. Quiet: no banner among the lines of the log."""
    common = ["--quiet", "worker", "--queues", kind, "--hostname", f"{kind}@%h", "--loglevel", "WARNING"]
    common += ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    if kind == "replay":
        return [*common, "--pool", "prefork", "--concurrency", str(settings.replay_processes)]
    return [*common, "--pool", "threads", "--concurrency", str(settings.live_slots)]


def main() -> None:
    """Run until told to stop. Raises `SystemExit` on a wrong command line or environment."""
    if len(sys.argv) != 2 or sys.argv[1] not in {"replay", "live"}:
        raise SystemExit(USAGE)
    configure_logging()
    if sys.argv[1] == "live":
        # Before anything starts a thread. Its children share it, those that run attempts alone too.
        private_mounts(as_user=os.environ.get(METHOD_VARIABLE) == "overlay")
    settings = worker_settings()
    app.conf.broker_url = settings.broker_url
    # Imported before the fork, so that processes share it.
    app.loader.import_default_modules()
    if sys.argv[1] == "live":
        collect_rarely()
        limit_memory(settings.memory_mb, times=BACKSTOP)
        die_with_any_thread()
        _worker_ready.connect(_when_ready)
    try:
        app.worker_main(arguments(sys.argv[1], settings))
    finally:
        STOPPED.set()


if __name__ == "__main__":
    main()
