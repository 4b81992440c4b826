"""compose.yaml, Dockerfile and .dockerignore: that they fit together, and what is in this checkout.

`docker compose config` checks the file against the specification where there is a Docker Compose; everything else is
read here, without one.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE = (ROOT / "compose.yaml").read_text()
DOCKERFILE = (ROOT / "Dockerfile").read_text()
DOCUMENT: dict[str, Any] = yaml.safe_load(COMPOSE)
SERVICES: dict[str, dict[str, Any]] = DOCUMENT["services"]
ONE_SHOT = {"migrate"}
OURS = set(SERVICES) - {"postgres", "valkey"}
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|_KEY$")


def in_words(command: list[str]) -> str:
    return " ".join(command)


@pytest.mark.parametrize("password", ["a b:c/d@e", None])
def test_docker_compose_takes_it_and_wants_a_password(password: str | None) -> None:
    """What is right with a password is refused without one."""
    compose = ["docker", "compose"]
    try:
        subprocess.run([*compose, "version"], check=True, capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("no Docker Compose here")
    environment = {name: value for name, value in os.environ.items() if name != "POSTGRES_PASSWORD"}
    if password is not None:
        environment["POSTGRES_PASSWORD"] = password
    command = [*compose, "--file", ROOT / "compose.yaml", "config", "--quiet"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode == 0) == (password is not None), done.stderr


def test_it_holds_every_part_of_the_stack() -> None:
    from api.stack.services import SERVICES as EMBEDDED

    commands = {in_words(service["command"]) for name, service in SERVICES.items() if name in OURS}
    wanted = {in_words(["python", *service.command[2:]]) for service in EMBEDDED}
    assert wanted <= commands
    assert {"postgres", "valkey", "migrate", "exporter", "dashboard"} <= set(SERVICES)


@pytest.mark.parametrize("name", sorted(set(SERVICES) - ONE_SHOT))
def test_what_goes_on_is_watched_restarted_and_limited(name: str) -> None:
    service = SERVICES[name]
    check = service["healthcheck"]
    assert check["test"][0] in {"CMD", "CMD-SHELL"}
    assert {"interval", "timeout", "retries"} <= check.keys()
    assert service["restart"] == "unless-stopped"
    assert service["deploy"]["resources"]["limits"]["memory"]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_what_a_service_waits_for_can_come_true(name: str) -> None:
    for other, wanted in SERVICES[name].get("depends_on", {}).items():
        if wanted["condition"] == "service_completed_successfully":
            assert other in ONE_SHOT
        else:
            assert wanted["condition"] == "service_healthy"
            assert "healthcheck" in SERVICES[other]


def test_volumes_and_networks_are_declared_and_used() -> None:
    volumes = {volume.split(":")[0] for service in SERVICES.values() for volume in service.get("volumes", ())}
    assert {name for name in volumes if not name.startswith("$")} == set(DOCUMENT["volumes"])
    networks = {network for service in SERVICES.values() for network in service["networks"]}
    assert networks == set(DOCUMENT["networks"])


def test_a_replay_worker_and_the_data_have_no_way_out() -> None:
    assert DOCUMENT["networks"]["inside"]["internal"] is True
    for name in ("postgres", "valkey", "worker-replay", "exporter", "scheduler", "beat"):
        assert SERVICES[name]["networks"] == ["inside"]


def test_only_this_machine_reaches_what_is_published() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert len(published) == 2
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_secrets_come_from_the_environment_and_have_no_default() -> None:
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if SECRET.search(name):
                assert value is None or re.fullmatch(r"\$\{\w+:\?.+\}", value), name
    assert not re.search(r"\$\{\w*(?:PASSWORD|KEY|SECRET|TOKEN)\w*(?::?-)", COMPOSE)
    assert not re.search(r"://[^\s/@]*:[^\s/@]*@", COMPOSE)
    assert not SECRET.search(re.sub(r"(?m)^\s*#.*$", "", DOCKERFILE))


def test_the_dashboard_knows_no_database() -> None:
    assert SERVICES["dashboard"]["environment"].keys() == {"PASSGRID_API_URL", "PASSGRID_API_TOKEN"}
    (volume,) = SERVICES["dashboard"]["volumes"]
    assert volume.endswith(":ro")


@pytest.mark.parametrize("name", sorted(OURS))
def test_commands_are_there(name: str) -> None:
    service = SERVICES[name]
    commands = [service["command"]]
    match service.get("healthcheck", {}).get("test"):
        case ["CMD", *checked]:
            commands.append(checked)
        case _:
            pass
    for command in commands:
        for program in programs_in(command):
            assert (Path(sys.executable).parent / program).exists(), program
        for place, word in enumerate(command):
            if word == "-m":
                assert find_spec(command[place + 1]), command[place + 1]
            if word.startswith("/app/"):
                assert (ROOT / word.removeprefix("/app/")).is_file(), word


def programs_in(command: list[str]) -> Iterator[str]:
    """The programs of our environment that a command starts."""
    if command[0] == "sh":
        yield from re.findall(r"\bdo (\w[\w-]*)", command[2])
    else:
        yield command[0]


def test_variables_are_ones_that_somebody_reads() -> None:
    folders = [ROOT / folder for folder in ("passgrid", "api", "workers", "dashboard")]
    sources = "".join(path.read_text() for folder in folders for path in folder.rglob("*.py"))
    given = {name for service in SERVICES.values() for name in service.get("environment", {})}
    given |= set(re.findall(r"\bPASSGRID_\w+(?==)", DOCKERFILE))
    unknown = {name for name in given if name.startswith("PASSGRID_") and name not in sources}
    assert unknown == set()


def test_the_image_gets_everything_it_is_made_of() -> None:
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    assert "*" in ignored
    copied = {
        name
        for line in re.findall(r"(?m)^COPY (?!--from)(.+)$", DOCKERFILE)
        for name in line.split()[:-1]
    }  # fmt: skip
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)


def test_the_image_is_not_run_by_root_and_checks_hashes() -> None:
    assert re.findall(r"(?m)^USER (.+)$", DOCKERFILE) == ["passgrid"]
    assert "--verify-hashes --constraints requirements.lock" in DOCKERFILE


def test_mcp_servers_of_the_image_are_in_the_lock() -> None:
    found = re.search(r'(?m)^ARG MCP_SERVERS="(.+)"$', DOCKERFILE)
    assert found
    lock = (ROOT / "requirements.lock").read_text()
    assert all(re.search(rf"(?m)^{re.escape(name)}==", lock) for name in found[1].split())


def test_migrations_and_the_library_lie_where_the_image_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    from api.submission import library_folder
    from passgrid.warehouse.migrate import migrations_folder

    monkeypatch.delenv("PASSGRID_LIBRARY", raising=False)
    assert migrations_folder() == ROOT / "alembic"
    assert library_folder() == ROOT / "scenarios"
