"""The description of the API, for those who may use it."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request

from api.http.roles import GuardedRoute, needs
from passgrid.access import Role

router = APIRouter(tags=["description"], route_class=GuardedRoute, dependencies=[needs(Role.READ)])


@router.get("/openapi.json")
def openapi(request: Request) -> dict[str, Any]:
    """Every operation with its input, as OpenAPI."""
    return request.app.openapi()
