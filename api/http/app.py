"""The FastAPI application."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from fastapi import FastAPI

from api.http import attempts, audit, control, description, gateway, health, metrics, reports, runs, suites, tokens
from api.http.entrance import Entrance
from api.http.problems import REFUSALS, add_handlers
from api.http.settings import HttpSettings
from passgrid.harness import installed_harness
from passgrid.warehouse.engine import make_engine


@asynccontextmanager
async def _connected(app: FastAPI) -> AsyncGenerator[None]:
    app.state.engine = make_engine(os.environ["PASSGRID_DATABASE_URL"], pool_size=8)
    app.state.gateway = None
    try:
        async with AsyncExitStack() as closing:
            app.state.closing = closing
            yield
    finally:
        app.state.engine.dispose()


def make_app(settings: HttpSettings | None = None) -> FastAPI:
    """The application; it finds its database in PASSGRID_DATABASE_URL when it starts.

    Without settings every caller needs a token.
    """
    settings = settings or HttpSettings()
    app = FastAPI(
        title="Passgrid",
        version=installed_harness().passgrid,
        summary="Submit matrices, follow runs, read what they say.",
        lifespan=_connected,
        # FastAPI would serve these to everybody, and its pages load programs from elsewhere.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    for part in (runs, control, reports, attempts, tokens, audit, description, health, metrics, gateway):
        app.include_router(part.router, max_body_size=settings.max_body, responses=REFUSALS)
    app.include_router(suites.router, max_body_size=settings.max_upload, responses=REFUSALS)
    app.add_middleware(Entrance, settings=settings)
    add_handlers(app)
    return app
