"""The log lines of our processes: one format for all of them, for people or, with PASSGRID_LOG=json, for machines.

Which run, attempt and try a line is about is bound by `log_context`, and travels with the context into coroutines.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
from collections.abc import Generator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

import orjson

FORMAT_VARIABLE = "PASSGRID_LOG"
LEVEL_VARIABLE = "PASSGRID_LOG_LEVEL"

_SHORTEST_SECRET = 8
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$")
_PASSWORD_IN_URL = re.compile(r"(?<=://)([^:/@?#\s]*):[^/?#@\s]*@")
_NOTHING: Mapping[str, str | int] = {}

_bound: ContextVar[Mapping[str, str | int]] = ContextVar("passgrid_log", default=_NOTHING)


@contextlib.contextmanager
def log_context(*, run: str | None = None, attempt: str | None = None, try_: int | None = None) -> Generator[None]:
    """Name the run, attempt and try in every line that is logged inside the block, in tasks started from it too."""
    given = {"run": run, "attempt": attempt, "try": try_}
    token = _bound.set({**_bound.get(), **{name: value for name, value in given.items() if value is not None}})
    try:
        yield
    finally:
        _bound.reset(token)


def configure_logging(environment: Mapping[str, str] = os.environ, stream: TextIO | None = None) -> None:
    """Send everything logged in this process to one stream, by default stderr, in one format.

    Values of environment variables that are called a key, token, secret or password are masked, and passwords in
    addresses too. Raises `SystemExit` where PASSGRID_LOG or PASSGRID_LOG_LEVEL says what there is not.
    """
    form = environment.get(FORMAT_VARIABLE, "") or "text"
    if form not in {"text", "json"}:
        raise SystemExit(f"{FORMAT_VARIABLE} is {form!r}; it must be text or json")
    level = (environment.get(LEVEL_VARIABLE, "") or "INFO").upper()
    if level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
        raise SystemExit(f"{LEVEL_VARIABLE} is {level!r}; it must be debug, info, warning or error")
    mask = Mask.of(environment)
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines(mask) if form == "json" else TextLines(mask))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)


class Mask:
    """Takes secrets out of a text."""

    def __init__(self, secrets: frozenset[str]) -> None:
        # The longest first: one secret may be the start of another.
        ordered = sorted(secrets, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, ordered))) if ordered else None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Mask:
        """A mask of the secrets in an environment."""
        return cls(
            frozenset(
                value
                for name, value in environment.items()
                if _SECRET_NAME.search(name.upper()) and len(value) >= _SHORTEST_SECRET
            )
        )

    def __call__(self, text: str) -> str:
        """The text without them."""
        text = _PASSWORD_IN_URL.sub(r"\1:***@", text)
        return self._secrets.sub("***", text) if self._secrets else text


class TextLines(logging.Formatter):
    """Lines for people; what is bound stands behind the message."""

    def __init__(self, mask: Mask) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._mask = mask

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line, without a traceback."""
        bound = "".join(f" {name}={value}" for name, value in _bound.get().items())
        return super().formatMessage(record) + bound

    def format(self, record: logging.LogRecord) -> str:
        """The line and its traceback, masked."""
        return self._mask(super().format(record))


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, what is bound, and the traceback as `error`."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, str | int] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._mask(_encodable(record.getMessage())),
            "process": record.process or 0,
            **_bound.get(),
        }
        if record.exc_info:
            line["error"] = self._mask(_encodable(self.formatException(record.exc_info)))
        return orjson.dumps(line).decode()


def _encodable(text: str) -> str:
    """Without lone surrogates, which no encoding has."""
    return text.encode("utf-8", "replace").decode()
