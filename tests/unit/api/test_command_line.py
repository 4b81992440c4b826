"""The command line: every command has an example, and the flags are those of the design."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from api.cli import main, submit

COMMANDS = [
    "up", "down", "status", "doctor", "watch", "cancel", "resume", "report", "export", "dashboard",
    "validate", "schema", "prune", "backup", "restore", "pause", "retry", "tune", "providers",
    "drift", "login", "rescore", "agreement", "surface",
]  # fmt: skip
"""What there is in this version."""


def text_of(*arguments: str) -> str:
    """The help of a command, in one line."""
    app = main.make_app() if arguments else submit.app
    done = CliRunner().invoke(app, [*arguments, "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.mark.parametrize("part", main.PARTS)
def test_the_module_of_a_command_is_found_by_its_name(part: str) -> None:
    app = main.make_app([part])
    names = [command.name for command in app.registered_commands] + [group.name for group in app.registered_groups]
    assert sorted(map(str, names)) == sorted(main.PARTS[part])
    assert all(main.parts_for([command, "--help"]) == [part] for command in main.PARTS[part])


@pytest.mark.parametrize("arguments", [[], ["--help"], ["rnus"]])
def test_help_and_mistakes_know_every_command(arguments: list[str]) -> None:
    assert main.parts_for(arguments) == tuple(main.PARTS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command: str) -> None:
    assert f"Example: passgrid {command}" in text_of(command)


@pytest.mark.parametrize("command", ["create", "list", "revoke"])
def test_every_command_for_tokens_has_an_example(command: str) -> None:
    assert f"Example: passgrid token {command}" in text_of("token", command)


@pytest.mark.parametrize(
    "command", ["list", "show", "diff", "verify", "redact", "prune", "pack", "unpack", "learn", "promote"]
)
def test_every_command_for_cassettes_has_an_example(command: str) -> None:
    assert f"Example: passgrid cassette {command}" in text_of("cassette", command)


@pytest.mark.parametrize(
    "command",
    ["tau-bench", "vcr", "passgrid", "xplainable", "inspect", "pydantic-evals", "pydantic-evals-dataset"],
)
def test_every_format_that_is_imported_has_an_example(command: str) -> None:
    assert f"Example: passgrid import {command}" in text_of("import", command)


@pytest.mark.parametrize("command", ["list", "show", "check", "run-now"])
def test_every_command_for_schedules_has_an_example(command: str) -> None:
    assert f"Example: passgrid schedule {command}" in text_of("schedule", command)


def test_the_list_of_commands_is_complete() -> None:
    assert sorted(COMMANDS) == sorted(str(command.name) for command in main.make_app().registered_commands)


@pytest.mark.parametrize(
    "flag",
    ["--suite", "--scenario", "--model", "--prompt", "-k", "--mode", "--record", "--label", "--target", "--fault",
     "--mitigation", "--agent", "--tag", "--limit", "--priority", "--budget", "--wait", "--dry-run", "--json"],
)  # fmt: skip
def test_submit_matrix_has_the_flags_of_the_design(flag: str) -> None:
    assert flag in text_of()


def test_submit_matrix_has_an_example() -> None:
    assert "Example: submit-matrix --suite demo" in text_of()
