import os
import signal
import statistics
import time
from dataclasses import replace
from pathlib import Path

import pytest

from api.stack.addresses import Addresses
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.join import hold, joined_stack, release
from tests.integration.stack.dummies import parts
from tests.integration.stack.processes import alive, eventually, tree
from tests.integration.stack.questions import (
    another_user,
    answer_of,
    answers,
    socket_folder,
    sql,
    state,
    supervisor_is_gone,
)


def test_the_first_command_of_a_new_installation_starts_everything(empty_home: Home) -> None:
    with joined_stack(empty_home, parts()) as addresses:
        assert answers(addresses)
        assert addresses.embedded
        assert sql(addresses, "SELECT current_database(), current_user") == [("passgrid", "passgrid")]
        assert [service.name for service in state(empty_home).services] == ["valkey", "postgres", "sleeper"]


def test_the_database_is_durable_and_the_server_listens_on_no_port(home: Home) -> None:
    with joined_stack(home, parts()) as addresses:
        names = ("fsync", "synchronous_commit", "full_page_writes", "listen_addresses", "max_connections", "jit")
        shown = [sql(addresses, f"SHOW {name}")[0][0] for name in names]
        assert shown == ["on", "on", "on", "", "200", "off"]


def test_the_users_libpq_settings_do_not_lead_astray(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "6000")
    monkeypatch.setenv("PGDATABASE", "elsewhere")
    with joined_stack(home, parts()) as addresses:
        assert sql(addresses, "SELECT current_database()") == [("passgrid",)]


def test_a_second_user_finds_the_same_supervisor_fast(home: Home) -> None:
    with joined_stack(home, parts()) as first:
        pid, seconds = state(home).pid, list[float]()
        for _ in range(5):
            begun = time.perf_counter()
            with joined_stack(home) as second:
                seconds.append(time.perf_counter() - begun)
            assert second == first
        assert state(home).pid == pid
        assert statistics.median(seconds) < 0.03


def test_two_commands_at_once_start_one_supervisor(home: Home) -> None:
    users = [another_user() for _ in range(3)]
    try:
        assert len({answer_of(user) for user in users}) == 1
    finally:
        for user in users:
            user.communicate()


def test_it_ends_after_its_last_user_and_leaves_no_process_and_no_socket(home: Home) -> None:
    with joined_stack(home, parts()):
        pid, sockets = state(home).pid, socket_folder(home)
        with joined_stack(home):
            pass
        everything = tree(pid)
    assert len(everything) > 5
    eventually(lambda: not alive(everything))
    assert not sockets.exists()


def test_consecutive_commands_share_a_supervisor(home: Home) -> None:
    with joined_stack(home, replace(parts(), grace=5.0)):
        first = state(home).pid
    time.sleep(0.5)
    with joined_stack(home, parts()):
        assert state(home).pid == first


def test_a_user_that_crashes_does_not_keep_it(home: Home) -> None:
    user = another_user()
    pid = answer_of(user)
    user.kill()
    user.communicate()
    eventually(lambda: supervisor_is_gone(pid))


def test_runnable_attempts_keep_it_until_they_are_done(home: Home) -> None:
    left = home.root / "runnable"
    left.write_text("3")
    with joined_stack(home, parts()):
        pid = state(home).pid
    with pytest.raises(AssertionError):
        eventually(lambda: supervisor_is_gone(pid), timeout=1.0)
    left.write_text("0")
    eventually(lambda: supervisor_is_gone(pid))


def test_held_it_stays_without_users_until_it_is_released(home: Home) -> None:
    hold(home, parts())
    pid = state(home).pid
    with pytest.raises(AssertionError):
        eventually(lambda: supervisor_is_gone(pid), timeout=1.0)
    everything = tree(pid)
    assert release(home)
    assert not alive(everything)
    assert not release(home)


def test_who_comes_while_it_is_ending_gets_a_new_one(home: Home) -> None:
    with joined_stack(home, parts("STUBBORN")):
        pid = state(home).pid
        eventually(lambda: (home.root / "stubborn").exists())
        os.kill(pid, signal.SIGTERM)
        eventually(lambda: state(home).phase == "ending")
        with joined_stack(home, parts()) as addresses:
            assert state(home).pid != pid
            assert answers(addresses)


def test_who_comes_at_the_last_moment_always_gets_a_working_stack(home: Home) -> None:
    with joined_stack(home, parts()):
        pass
    for delay in (0.2, 0.25, 0.3):  # around the time the supervisor makes up its mind
        time.sleep(delay)
        with joined_stack(home, parts()) as addresses:
            assert answers(addresses)


def test_services_find_their_addresses_in_the_environment(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANY_PROVIDER_KEY", "inherited")
    with joined_stack(home, parts("ENVIRONMENT")) as addresses:
        lines = eventually(lambda: _complete(home.log("environment"))).splitlines()
    assert f"PASSGRID_DATABASE_URL={addresses.database_url}" in lines
    assert f"PASSGRID_BROKER_URL={addresses.broker_url}" in lines
    assert f"PASSGRID_API_SOCKET={addresses.api_socket}" in lines
    assert f"PASSGRID_HOME={home.root}" in lines
    assert "ANY_PROVIDER_KEY=inherited" in lines


def _complete(log: Path) -> str:
    text = log.read_text() if log.exists() else ""
    return text if "PASSGRID_API_SOCKET" in text and "ANY_PROVIDER_KEY" in text and text.endswith("\n") else ""


def test_a_failed_migration_is_reported_and_leaves_nothing_running(home: Home) -> None:
    with (
        pytest.raises(StackError, match="revision 7 is not to be had"),
        joined_stack(home, parts(migrate="failing_migration")),
    ):
        pass
    with joined_stack(home, parts()) as addresses:
        assert answers(addresses)


def test_external_addresses_start_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with joined_stack(home, parts()) as embedded:
        monkeypatch.setenv("PASSGRID_DATABASE_URL", embedded.database_url)
        monkeypatch.setenv("PASSGRID_BROKER_URL", embedded.broker_url)
        nowhere = Home(home.root.with_name("nowhere"))
        with joined_stack(nowhere) as addresses:
            assert addresses == Addresses(embedded.database_url, embedded.broker_url, None, embedded=False)
        assert not nowhere.root.exists()
