"""How the API is served, from the environment."""

from __future__ import annotations

import pytest

from api.http.settings import allowed_hosts, host_name, listening
from passgrid.problems import InvalidInput


def test_a_socket_makes_callers_local_and_tcp_does_not() -> None:
    assert listening({"PASSGRID_API_SOCKET": "/run/x"}).settings.local
    assert not listening({}).settings.local
    assert not listening({"PASSGRID_API_HOST": "127.0.0.1"}).settings.local


@pytest.mark.parametrize(
    ("bound", "listed", "allowed"),
    [
        ("127.0.0.1", "", {"localhost", "127.0.0.1", "::1"}),
        ("127.0.0.2", "", {"localhost", "127.0.0.1", "::1", "127.0.0.2"}),
        ("localhost", "Passgrid.example, [fd00::1]", {"localhost", "127.0.0.1", "::1", "passgrid.example", "fd00::1"}),
        ("0.0.0.0", "", None),
        ("0.0.0.0", "api,", {"api"}),
    ],
)
def test_hosts_that_are_answered(bound: str, listed: str, allowed: set[str] | None) -> None:
    assert allowed_hosts(bound, listed) == allowed


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("a.b:80", "a.b"),
        ("A.B", "a.b"),
        ("[::1]:80", "::1"),
        ("a.b.", "a.b"),
        ("", ""),
        (":80", ""),
        ("a.b@c", "a.b@c"),
    ],
)
def test_the_name_in_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


def test_every_number_that_cannot_be_used_is_told() -> None:
    environment = {"PASSGRID_API_MAX_BODY": "1MB", "PASSGRID_API_MAX_UPLOAD": "0", "PASSGRID_API_PORT": "70000"}
    with pytest.raises(InvalidInput) as found:
        listening(environment)
    assert len(found.value.problems) == 3
