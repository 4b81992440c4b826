import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.join import joined_stack, release
from tests.integration.stack.dummies import parts
from tests.integration.stack.processes import alive, eventually, tree
from tests.integration.stack.questions import answers, pid_of, socket_folder, sql, state


def _family(home: Home) -> int:
    """Return how many of the five processes of the dummy family live: itself, its child, its program."""
    return len(tree(pid_of(home, "family")))


def test_killing_the_supervisor_leaves_nothing_not_even_grandchildren(home: Home) -> None:
    with joined_stack(home, parts("FAMILY")):
        eventually(lambda: _family(home) == 3)
        everything = tree(state(home).pid)
        names = {process.name for process in everything}
        assert {"postgres", "valkey-server"} <= names
        os.kill(state(home).pid, signal.SIGKILL)
        stranger = "sleep"  # a program in a session of its own that never asked to die with its parent
        eventually(lambda: {process.name for process in alive(everything)} <= {stranger})
        for process in alive(everything):
            os.kill(process.pid, signal.SIGKILL)


def test_stopping_ends_even_grandchildren_that_keep_no_rule(home: Home) -> None:
    with joined_stack(home, parts("FAMILY")):
        eventually(lambda: _family(home) == 3)
        everything = tree(state(home).pid)
        release(home)
        assert not alive(everything)


def test_a_killed_service_is_started_again_and_its_children_are_gone(home: Home) -> None:
    with joined_stack(home, parts("FAMILY")):
        eventually(lambda: _family(home) == 3)
        family = tree(pid_of(home, "family"))
        os.kill(family[0].pid, signal.SIGKILL)
        eventually(lambda: not alive(family))
        eventually(lambda: state(home).services[-1].restarts == 1 and _family(home) == 3)


def test_postgres_recovers_from_being_killed_with_all_that_was_committed(home: Home) -> None:
    with joined_stack(home, parts()) as addresses:
        sql(addresses, "CREATE TABLE kept AS SELECT 42 AS answer")
        killed = pid_of(home, "postgres")
        os.kill(killed, signal.SIGKILL)
        eventually(lambda: state(home).services[1].restarts == 1 and answers(addresses))
        assert pid_of(home, "postgres") != killed
        assert sql(addresses, "SELECT answer FROM kept") == [(42,)]


def test_valkey_comes_back_at_the_same_socket(home: Home) -> None:
    with joined_stack(home, parts()) as addresses:
        os.kill(pid_of(home, "valkey"), signal.SIGKILL)
        eventually(lambda: state(home).services[0].restarts == 1 and answers(addresses))


def test_after_a_kill_of_everything_the_next_command_finds_its_data(home: Home) -> None:
    with joined_stack(home, parts()) as addresses:
        sql(addresses, "CREATE TABLE kept AS SELECT 42 AS answer")
        everything = tree(state(home).pid)
        for process in everything:
            with suppress(ProcessLookupError):  # it may have died with its parent already
                os.kill(process.pid, signal.SIGKILL)
        eventually(lambda: not alive(everything))
    assert (home.data / "postmaster.pid").exists()
    assert (socket_folder(home) / "postgres" / ".s.PGSQL.5432").exists()
    with joined_stack(home, parts()) as addresses:
        assert sql(addresses, "SELECT answer FROM kept") == [(42,)]


def test_a_lock_file_whose_pid_belongs_to_somebody_else_now_is_no_obstacle(home: Home) -> None:
    (home.data / "postmaster.pid").write_text(f"{os.getpid()}\n{home.data}\n")
    shutil.chown(home.data / "postmaster.pid", home.data.stat().st_uid, home.data.stat().st_gid)
    with joined_stack(home, parts()) as addresses:
        assert answers(addresses)


def test_a_shell_in_the_data_folder_is_left_alone(home: Home) -> None:
    (home.data / "postmaster.pid").write_text("1\n")
    shell = subprocess.Popen(["sleep", "100"], cwd=home.data)
    try:
        with joined_stack(home, parts()) as addresses:
            assert answers(addresses)
        assert shell.poll() is None
    finally:
        shell.kill()
        shell.wait()


def test_deleting_the_home_ends_the_stack_and_the_next_one_starts_anew(home: Home) -> None:
    with joined_stack(home, parts()):
        everything = tree(state(home).pid)
        shutil.rmtree(home.root)
        home.create()
        with joined_stack(home, parts()) as addresses:
            assert answers(addresses)
            assert not alive(everything)


def test_a_service_that_keeps_dying_is_started_again_ever_more_slowly(home: Home) -> None:
    with joined_stack(home, parts("QUITTER")) as addresses:
        eventually(lambda: state(home).services[-1].restarts >= 3)
        assert state(home).services[-1].restarts < 10
        assert answers(addresses)


def test_a_database_that_cannot_start_is_reported_with_the_end_of_its_log(home: Home) -> None:
    control = home.data / "global" / "pg_control"
    control.rename(control.with_name("lost"))
    with pytest.raises(StackError, match="pg_control"), joined_stack(home, parts()):
        pass
    _put_back(control)
    with joined_stack(home, parts()) as addresses:
        assert answers(addresses)


def _put_back(path: Path) -> None:
    path.with_name("lost").rename(path)
