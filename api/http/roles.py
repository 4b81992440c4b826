"""What each operation needs: a role, declared with its route and checked before anything of the body is read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Request, Response
from fastapi.params import Depends as DependsParam
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from fastapi.security.http import HTTPAuthorizationCredentials

from passgrid.access import Caller, Role

_bearer = HTTPBearer(auto_error=False, description="A token: `passgrid token create NAME --role ROLE`.")
"""For the description of the API only; the entrance reads the token."""


class RoleNeeded:
    """A dependency that lets a caller pass whose role covers the one needed."""

    def __init__(self, role: Role) -> None:
        self.role = role

    def __call__(
        self, request: Request, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
    ) -> None:
        """Raises the 403 that names the role."""
        self.check(request)

    def check(self, request: Request) -> None:
        """Raises the 403 that names the role."""
        asking = caller(request)
        if not asking.role.covers(self.role):
            message = f"this needs the role {self.role}, and the token {asking.name} has the role {asking.role}"
            raise HTTPException(403, message)


def needs(role: Role) -> Any:
    """Declare the role an operation needs: `APIRouter(dependencies=[needs(Role.READ)])`, or with a route."""
    return Depends(RoleNeeded(role))


def roles_needed(route: Any) -> list[RoleNeeded]:
    """What a route declares."""
    declared: list[DependsParam] = getattr(route, "dependencies", [])
    return [one.dependency for one in declared if isinstance(one.dependency, RoleNeeded)]


class GuardedRoute(APIRoute):
    """A route that checks its role first: FastAPI would read and check the body before any dependency."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the check."""
        handle = super().get_route_handler()
        needed = roles_needed(self)

        async def guarded(request: Request) -> Response:
            for one in needed:
                one.check(request)
            return await handle(request)

        return guarded


def caller(request: Request) -> Caller:
    """Who asks, as the entrance found out; it lets nobody through without."""
    found: Caller | None = getattr(request.state, "caller", None)
    if found is None:
        raise HTTPException(401, "a token is needed")
    return found


CallerOf = Annotated[Caller, Depends(caller)]
