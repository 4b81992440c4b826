"""The FastAPI application."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from api.http import attempts, health, reports, runs
from passgrid.harness import installed_harness
from passgrid.problems import InvalidInput
from passgrid.warehouse.engine import make_engine


@asynccontextmanager
async def _connected(app: FastAPI) -> AsyncGenerator[None]:
    app.state.engine = make_engine(os.environ["PASSGRID_DATABASE_URL"], pool_size=8)
    try:
        yield
    finally:
        app.state.engine.dispose()


def make_app() -> FastAPI:
    """The application; it finds its database in PASSGRID_DATABASE_URL when it starts."""
    app = FastAPI(
        title="Passgrid",
        version=installed_harness().passgrid,
        summary="Submit matrices, follow runs, read what they say.",
        lifespan=_connected,
    )
    for part in (runs, reports, attempts, health):
        app.include_router(part.router)
    app.add_exception_handler(InvalidInput, _invalid)
    app.add_exception_handler(LookupError, _missing)
    return app


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    problems = error.problems if isinstance(error, InvalidInput) else ()
    return JSONResponse({"problems": [str(problem) for problem in problems]}, status_code=422)


async def _missing(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"problems": [str(error.args[0] if error.args else error)]}, status_code=404)
