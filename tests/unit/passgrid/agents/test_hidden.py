"""Which folders a sealed agent must not look into."""

from __future__ import annotations

from pathlib import Path

import pytest

from passgrid.agents.hidden import hidden_folders
from passgrid.agents.program import NoNamespace


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    made = {name: tmp_path / name for name in ("home", "postgres", "valkey", "suite")}
    for folder in made.values():
        folder.mkdir()
    return made


def test_home_and_the_folders_of_sockets_are_hidden(folders: dict[str, Path]) -> None:
    environment = {
        "PASSGRID_HOME": str(folders["home"]),
        "PASSGRID_DATABASE_URL": f"postgresql+psycopg://passgrid@/passgrid?host={folders['postgres']}&port=5432",
        "PASSGRID_BROKER_URL": f"redis+socket://{folders['valkey']}/valkey.sock?virtual_host=0",
    }
    assert set(hidden_folders(environment, ())) == {folders["home"], folders["postgres"], folders["valkey"]}


def test_a_folder_with_something_in_it_that_the_agent_needs_cannot_be_hidden(folders: dict[str, Path]) -> None:
    suite = folders["home"] / "suites" / "demo"
    with pytest.raises(NoNamespace, match=f"{folders['home']} must be hidden .* {suite}, which it needs"):
        hidden_folders({"PASSGRID_HOME": str(folders["home"])}, [folders["suite"], suite])


def test_addresses_over_tcp_and_folders_that_are_not_there_hide_nothing() -> None:
    environment = {
        "PASSGRID_HOME": "/no/such/folder",
        "PASSGRID_DATABASE_URL": "postgresql://me@db:5432/passgrid",
        "PASSGRID_BROKER_URL": "redis://broker:6379/0",
    }
    assert hidden_folders(environment, ()) == ()
    assert hidden_folders({}, ()) == ()
