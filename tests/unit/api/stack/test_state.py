from pathlib import Path

import pytest

from api.stack.addresses import Addresses
from api.stack.errors import StackError
from api.stack.home import Home
from api.stack.state import ServiceState, StackState, announce_ending, clear_state, read_state, write_state

STATE = StackState(
    phase="up",
    pid=7,
    since=1.5,
    sockets="/s",
    addresses=Addresses("postgresql+psycopg://h/d", "redis://h", "http+unix:///s/api.sock", embedded=True),
    versions={"postgres": "18.6"},
    services=(ServiceState("http", 8, 0), ServiceState("live", None, 3)),
)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.create()
    return home


def test_what_is_written_is_read(home: Home) -> None:
    assert read_state(home) is None
    write_state(home, STATE)
    assert read_state(home) == STATE
    announce_ending(home)
    ending = read_state(home)
    assert ending is not None
    assert (ending.phase, ending.services) == ("ending", STATE.services)
    clear_state(home)
    assert read_state(home) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"phase": "up", "novelty": 1, "addresses": null, "services": []}'])
def test_a_state_of_another_kind_is_an_error_with_a_remedy(home: Home, text: str) -> None:
    (home.control / "state.json").write_text(text)
    with pytest.raises(StackError, match="passgrid down"):
        read_state(home)
