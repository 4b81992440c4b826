"""The blows chaos deals: each finds its victim among the processes of one installation, by what the kernel says."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

BROKER_AWAY_SECONDS = 10.0


@dataclass
class Battlefield:
    """An installation and what was done to it."""

    home: Path
    broker_url: str
    rng: random.Random
    done: list[str] = field(default_factory=list[str])

    def processes(self) -> list[psutil.Process]:
        """Every process of this installation."""
        return [one for one in psutil.process_iter() if _home_of(one) == str(self.home)]

    def named(self, *words: str) -> list[psutil.Process]:
        """Those whose command line holds all of these words."""
        return [one for one in self.processes() if all(word in _command(one) for word in words)]

    def note(self, what: str) -> None:
        """Keep what was done."""
        self.done.append(what)


def kill_worker(field_: Battlefield) -> None:
    """One process that runs attempts: a replay child, the live host, or one that runs an attempt alone."""
    hosts = field_.named("workers.host")
    parents = {one.pid for one in hosts if "replay" in _command(one) and _is_host(one, hosts)}
    victims = [one for one in hosts if one.pid not in parents] + field_.named("forkserver")
    _kill(field_, "worker", victims[:0] or ([field_.rng.choice(victims)] if victims else []))


def kill_host(field_: Battlefield) -> None:
    """A whole host: all its processes at once."""
    kind = field_.rng.choice(["replay", "live"])
    victims = field_.named("workers.host", kind)
    _kill(field_, f"{kind} host", [*victims, *(field_.named("forkserver") if kind == "live" else [])])


def kill_scheduler(field_: Battlefield) -> None:
    """The scheduler."""
    _kill(field_, "scheduler", field_.named("api.scheduler"))


def empty_broker(field_: Battlefield) -> None:
    """FLUSHALL."""
    _broker(field_).flushall()
    field_.note("broker emptied")


def restart_broker(field_: Battlefield) -> None:
    """SIGKILL; its supervisor starts it again."""
    _kill(field_, "broker", _servers(field_, "valkey"))


def pause_broker(field_: Battlefield) -> None:
    """Unreachable for ten seconds."""
    for one in _servers(field_, "valkey"):
        one.suspend()
        time.sleep(BROKER_AWAY_SECONDS)
        one.resume()
    field_.note(f"broker unreachable for {BROKER_AWAY_SECONDS:.0f} s")


def restart_postgres(field_: Battlefield) -> None:
    """An immediate shutdown, as after a power cut; its supervisor starts it again."""
    mains = _servers(field_, "postgres")
    for one in mains:
        one.send_signal(signal.SIGQUIT)
    field_.note(f"postgres shut down immediately ({len(mains)} process)")


BLOWS: tuple[tuple[Callable[[Battlefield], None], int], ...] = (
    (kill_host, 2),
    (empty_broker, 3),
    (restart_broker, 2),
    (restart_postgres, 2),
    (kill_scheduler, 2),
    (pause_broker, 1),
)
"""Each blow, and how often a whole run gets it; workers are killed by the clock besides."""


def _kill(field_: Battlefield, what: str, victims: list[psutil.Process]) -> None:
    for one in victims:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            continue
    field_.note(f"{what} killed ({len(victims)} process{'es' if len(victims) != 1 else ''})")


def _broker(field_: Battlefield) -> Any:
    import redis

    return redis.Redis(unix_socket_path=field_.broker_url.split("://")[1].split("?")[0])


def _is_host(one: psutil.Process, hosts: list[psutil.Process]) -> bool:
    return one.ppid() not in {other.pid for other in hosts}


def _servers(field_: Battlefield, word: str) -> list[psutil.Process]:
    """The servers the supervisor runs: they have an account and an environment of their own."""
    supervisors = field_.named("api.stack.supervisor")
    children = [child for one in supervisors for child in one.children()]
    return [one for one in children if word in _command(one).partition(" ")[0]]


def _command(one: psutil.Process) -> str:
    try:
        return " ".join(one.cmdline())
    except psutil.Error:
        return ""


def _home_of(one: psutil.Process) -> str | None:
    try:
        return one.environ().get("PASSGRID_HOME")
    except psutil.Error:
        return None
