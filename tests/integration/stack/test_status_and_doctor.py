import os
import signal
import socket
import time

import pytest

from api.stack import reachable, stack_health
from api.stack.addresses import Addresses
from api.stack.doctor import diagnose
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.join import hold, joined_stack
from api.stack.reachable import check_reachable
from api.stack.status import stack_status
from tests.integration.stack.dummies import parts
from tests.integration.stack.processes import eventually
from tests.integration.stack.questions import pid_of, state


def _at_head(database_url: str) -> tuple[str, str]:
    return ("7", "7")


def test_the_status_of_nothing(empty_home: Home) -> None:
    status = stack_status(empty_home)
    assert (status.running, status.pid, status.addresses, status.services, status.held) == (
        False,
        None,
        None,
        (),
        False,
    )
    assert not empty_home.root.exists()


def test_the_status_of_a_running_stack(home: Home) -> None:
    begun = time.time()
    hold(home, parts())
    with joined_stack(home) as addresses:
        status = stack_status(home)
    assert status.running
    assert status.phase == "up"
    assert status.pid == state(home).pid
    assert status.since is not None
    assert begun - 1 < status.since < time.time()
    assert status.addresses == addresses
    assert {"postgres", "valkey", "passgrid", "pydantic-ai", "mcp"} == set(status.versions)
    assert [(service.name, service.alive, service.restarts) for service in status.services] == [
        ("valkey", True, 0),
        ("postgres", True, 0),
        ("sleeper", True, 0),
    ]
    assert status.users == (os.getpid(),)
    assert status.held


def test_the_status_after_a_failed_start_says_why(home: Home) -> None:
    with pytest.raises(StackError), joined_stack(home, parts(migrate="failing_migration")):
        pass
    eventually(lambda: not stack_status(home).running)
    assert "revision 7" in stack_status(home).problem
    assert any(not finding.ok and "revision 7" in finding.detail for finding in diagnose(home))


def test_the_doctor_finds_nothing_wrong_with_a_good_stack(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_health, "schema_revisions", _at_head)
    with joined_stack(home, parts()):
        findings = diagnose(home)
    assert [finding for finding in findings if not finding.ok] == []
    assert {"home", "free space", "sockets", "database", "broker", "schema", "sleeper"} <= {f.subject for f in findings}


def test_the_doctor_names_a_dead_database(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stack_health, "schema_revisions", _at_head)
    with joined_stack(home, parts()):
        pid = pid_of(home, "postgres")
        os.kill(state(home).pid, signal.SIGSTOP)  # so that it does not start it again
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not stack_status(home).services[1].alive)
        broken = {finding.subject for finding in diagnose(home) if not finding.ok}
        os.kill(state(home).pid, signal.SIGCONT)
    assert {"database", "postgres"} <= broken


def test_the_doctor_never_raises_for_an_unusable_home(empty_home: Home) -> None:
    empty_home.root.write_text("")
    home = next(finding for finding in diagnose(empty_home) if finding.subject == "home")
    assert not home.ok
    assert home.remedy


def test_unreachable_external_addresses_are_named_without_their_passwords(home: Home) -> None:
    with joined_stack(home, parts()) as good:
        no_database = Addresses("postgresql+psycopg://me:secret@127.0.0.1:1/x", good.broker_url, None, embedded=False)
        with pytest.raises(StackError, match=r"me:\*\*\*@127.0.0.1:1") as caught:
            check_reachable(no_database)
        assert "secret" not in str(caught.value)
        no_broker = Addresses(good.database_url, "redis://:secret@127.0.0.1:1/0", None, embedded=False)
        with pytest.raises(StackError, match=r":\*\*\*@127.0.0.1:1") as caught:
            check_reachable(no_broker)
        assert "secret" not in str(caught.value)


def test_servers_that_accept_and_say_nothing_are_given_up_within_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachable, "CONNECT_TIMEOUT", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        addresses = Addresses(f"postgresql+psycopg://127.0.0.1:{port}/x", f"redis://127.0.0.1:{port}", None, False)
        begun = time.monotonic()
        with pytest.raises(StackError, match=f"127.0.0.1:{port}"):
            check_reachable(addresses)
        assert time.monotonic() - begun < 10
