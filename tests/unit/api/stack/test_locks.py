import os
from pathlib import Path

import pytest

from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.locks import add_user, gate, is_held, living_users, set_held, supervisor_lock, supervisor_runs, try_lock


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    return home


def test_the_gate_lets_one_in_and_tells_who_waits_too_long(home: Home) -> None:
    with gate(home), pytest.raises(StackError, match="gate"), gate(home, timeout=0.02):
        pass
    with gate(home, timeout=0.02):
        pass


def test_users_are_counted_until_they_leave(home: Home) -> None:
    assert living_users(home) == ()
    first, second = add_user(home), add_user(home)
    assert living_users(home) == (os.getpid(), os.getpid())
    first.release()
    assert living_users(home) == (os.getpid(),)
    second.release()
    assert living_users(home) == ()


def test_a_user_that_died_is_forgotten(home: Home) -> None:
    user = add_user(home)
    os.close(user.descriptor)  # which is all that the kernel does for a process that is killed
    assert living_users(home) == ()
    assert not user.path.exists()


def test_a_supervisor_is_whoever_holds_its_lock(home: Home) -> None:
    assert not supervisor_runs(home)
    lock = try_lock(supervisor_lock(home))
    assert lock is not None
    assert try_lock(supervisor_lock(home)) is None
    assert supervisor_runs(home)
    os.close(lock)
    assert not supervisor_runs(home)


def test_holding_is_remembered(home: Home) -> None:
    set_held(home, True)
    set_held(home, True)
    assert is_held(home)
    set_held(home, False)
    set_held(home, False)
    assert not is_held(home)
