"""Log lines: for people or as JSON, with what they are about, and without secrets."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from passgrid.log_lines import configure_logging, log_context

log = logging.getLogger("tests.lines")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:], root.level = handlers, level


def configured(**environment: str) -> io.StringIO:
    stream = io.StringIO()
    configure_logging({f"PASSGRID_{name}": value for name, value in environment.items()}, stream)
    return stream


def documents(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_for_people_says_what_it_is_about() -> None:
    stream = configured()
    with log_context(run="r1", attempt="a1", try_=2):
        log.warning("lost %d", 3)
    assert stream.getvalue().endswith("WARNING tests.lines: lost 3 run=r1 attempt=a1 try=2\n")


def test_a_json_line_holds_what_it_is_about() -> None:
    stream = configured(LOG="json")
    with log_context(run="r1"), log_context(attempt="a1", try_=2):
        log.info("it\nbegins")
    log.info("outside")
    first, second = documents(stream)
    assert {name: first[name] for name in ("level", "logger", "message", "run", "attempt", "try")} == {
        "level": "INFO", "logger": "tests.lines", "message": "it\nbegins", "run": "r1", "attempt": "a1", "try": 2,
    }  # fmt: skip
    assert first["time"].endswith("+00:00")
    assert "run" not in second


async def test_a_task_keeps_what_was_bound_where_it_was_started() -> None:
    stream = configured(LOG="json")

    async def speak() -> None:
        await asyncio.sleep(0)
        log.info("from a task")

    with log_context(run="r1"):
        task = asyncio.create_task(speak())
    await task
    assert [line["run"] for line in documents(stream) if line["logger"] == log.name] == ["r1"]


def test_a_traceback_is_part_of_its_line() -> None:
    stream = configured(LOG="json")
    try:
        raise ValueError("no such \udcff thing")
    except ValueError:
        log.exception("failed")
    (line,) = documents(stream)
    assert "ValueError: no such ? thing" in line["error"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_secrets_of_the_environment_and_passwords_in_addresses_are_masked(form: str) -> None:
    stream = io.StringIO()
    secret = 'sk-12345"6789'
    configure_logging({"PASSGRID_LOG": form, "OPENAI_API_KEY": secret, "PGPASSWORD": "short"}, stream)
    log.info("asked %s with %s", "https://me:hunter2@db.example/x", secret)
    try:
        raise ValueError(secret)
    except ValueError:
        log.exception("failed")
    text = stream.getvalue()
    assert "hunter2" not in text
    assert "12345" not in text
    assert "https://me:***@db.example/x" in text


@pytest.mark.parametrize(("name", "value"), [("LOG", "yaml"), ("LOG_LEVEL", "loud")])
def test_a_word_that_means_nothing_is_refused(name: str, value: str) -> None:
    with pytest.raises(SystemExit, match=f"PASSGRID_{name} is"):
        configured(**{name: value})


def test_the_level_can_be_set() -> None:
    stream = configured(LOG_LEVEL="warning")
    log.info("not this")
    assert stream.getvalue() == ""
