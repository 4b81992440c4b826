from pathlib import Path

import pytest

from api.stack.addresses import Addresses, external_addresses, masked, unix_url
from api.stack.errors import StackError

BOTH = {"PASSGRID_DATABASE_URL": "postgresql+psycopg://h/d", "PASSGRID_BROKER_URL": "redis://h"}


def test_without_addresses_the_embedded_stack_is_wanted() -> None:
    assert external_addresses({}) is None
    assert external_addresses({"PASSGRID_DATABASE_URL": " ", "PASSGRID_BROKER_URL": ""}) is None


@pytest.mark.parametrize("missing", BOTH)
def test_one_without_the_other_is_an_error_that_names_the_missing_one(missing: str) -> None:
    given = {name: value for name, value in BOTH.items() if name != missing}
    with pytest.raises(StackError, match=f"{missing} is not"):
        external_addresses(given)


def test_the_api_is_an_address_or_the_socket_a_service_was_given() -> None:
    assert external_addresses(BOTH) == Addresses("postgresql+psycopg://h/d", "redis://h", None, embedded=False)
    url = external_addresses(BOTH | {"PASSGRID_API_URL": "https://passgrid.example"})
    assert url is not None
    assert (url.api_url, url.api_socket) == ("https://passgrid.example", None)
    socket = external_addresses(BOTH | {"PASSGRID_API_SOCKET": "/a b/api.sock"})
    assert socket is not None
    assert socket.api_socket == Path("/a b/api.sock")
    assert socket.api_url == unix_url(Path("/a b/api.sock"))


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_an_address_without_a_driver_gets_one(scheme: str) -> None:
    found = external_addresses(BOTH | {"PASSGRID_DATABASE_URL": f"{scheme}://u:p@h/d"})
    assert found is not None
    assert found.database_url == "postgresql+psycopg://u:p@h/d"
    assert found.psycopg_url == "postgresql://u:p@h/d"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:secret@h:1/0", "redis://:***@h:1/0"),
        ("postgresql+psycopg://u:sec@ret@h/d", "postgresql+psycopg://u:***@h/d"),
        ("postgresql://u@h/d?password=secret&sslmode=require", "postgresql://u@h/d?password=***&sslmode=require"),
        ("redis+socket:///a/b.sock?virtual_host=0", "redis+socket:///a/b.sock?virtual_host=0"),
        ("postgresql+psycopg://passgrid@/passgrid?host=/a", "postgresql+psycopg://passgrid@/passgrid?host=/a"),
    ],
)
def test_passwords_are_masked_wherever_they_are(url: str, shown: str) -> None:
    assert masked(url) == shown
