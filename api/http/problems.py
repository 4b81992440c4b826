"""Every refusal is one JSON shape: the problems found, each with its place and its remedy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException

from passgrid.problems import InvalidInput
from passgrid.storable import storable


class Problems(BaseModel):
    """Why a request was refused."""

    problems: list[str]


def _documented(status: int, when: str) -> dict[int | str, dict[str, Any]]:
    return {status: {"model": Problems, "description": when}}


REFUSALS: dict[int | str, dict[str, Any]] = {
    **_documented(400, "The request cannot be read."),
    **_documented(401, "No valid token."),
    **_documented(403, "The token's role may not do this."),
    **_documented(404, "What is named does not exist."),
    **_documented(413, "The body is too large."),
    **_documented(421, "The Host header names another server."),
    **_documented(422, "The input cannot be used."),
    **_documented(503, "The database is away."),
}
"""What every operation may answer besides."""

AWAY = "the database does not answer; try again (`passgrid doctor` says what is wrong)"


def refusal(status: int, problems: Iterable[str], headers: Mapping[str, str] | None = None) -> JSONResponse:
    """A refusal with its problems; what a client sent may be echoed in them, whatever it holds."""
    return JSONResponse({"problems": [storable(one) for one in problems]}, status, headers=headers)


def add_handlers(app: FastAPI) -> None:
    """Answer every error of ours in that shape."""
    app.add_exception_handler(InvalidInput, _invalid)
    app.add_exception_handler(LookupError, _missing)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(OperationalError, _away)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    return refusal(422, map(str, error.problems) if isinstance(error, InvalidInput) else ())


async def _missing(request: Request, error: Exception) -> JSONResponse:
    return refusal(404, [str(error.args[0] if error.args else error)])


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    found: Iterable[Any] = error.errors() if isinstance(error, RequestValidationError) else ()
    return refusal(422, (f"{_place(one['loc'])}: {one['msg'].removeprefix('Value error, ')}" for one in found))


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException), "registered for this class"
    return refusal(error.status_code, [str(error.detail)], error.headers)


async def _away(request: Request, error: Exception) -> JSONResponse:
    return refusal(503, [AWAY])


def _place(location: Iterable[int | str]) -> str:
    text = ""
    for step in location:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text[:200]
