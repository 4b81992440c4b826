from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from api.stack import leaving
from api.stack.home import Home
from api.stack.leaving import Leaving
from api.stack.locks import add_user, gate, set_held
from api.stack.parts import Parts
from api.stack.state import StackState, read_state, write_state


@dataclass
class Clock:
    now: float = 1000.0

    def monotonic(self) -> float:
        return self.now


COUNTS: list[int] = []
"""What the next counts of runnable attempts find; an error when there are none."""


def count(database_url: str) -> int:
    return COUNTS.pop(0)


def load(parts: Parts) -> Callable[[str], int]:
    return count


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    write_state(home, StackState("up", 1, 0.0))
    return home


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(leaving, "time", clock)
    monkeypatch.setattr(Parts, "load_runnable", load)
    COUNTS.clear()
    return clock


def test_it_waits_for_users_and_then_for_the_grace(home: Home, clock: Clock) -> None:
    user, decision = add_user(home), Leaving(home, Parts(), "")
    COUNTS.append(0)
    clock.now += 100
    assert not decision.is_due()
    user.release()
    clock.now += 1.9
    assert not decision.is_due()
    clock.now += 0.2
    assert decision.is_due()
    state = read_state(home)
    assert state is not None
    assert state.phase == "ending"


def test_it_waits_while_it_is_held(home: Home, clock: Clock) -> None:
    decision = Leaving(home, Parts(), "")
    set_held(home, True)
    clock.now += 100
    assert not decision.is_due()


def test_it_waits_for_attempts_counting_them_once_a_second(home: Home, clock: Clock) -> None:
    decision = Leaving(home, Parts(), "")
    COUNTS.extend([2, 0])
    clock.now += 3
    assert [decision.is_due(), decision.is_due()] == [False, False]
    clock.now += 1
    assert decision.is_due()


def test_a_database_that_cannot_be_asked_keeps_it_for_a_minute(home: Home, clock: Clock) -> None:
    decision = Leaving(home, Parts(), "")
    clock.now += 3
    assert not decision.is_due()
    clock.now += 59
    assert not decision.is_due()
    clock.now += 2
    assert decision.is_due()


def test_somebody_who_is_just_joining_keeps_it(home: Home, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "_GATE_PATIENCE", 0.01)
    decision = Leaving(home, Parts(), "")
    clock.now += 3
    with gate(home):
        assert not decision.is_due()
