"""Which part of a gateway answers a request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import sqlalchemy as sa

from api.gateway.control import PREFIX, Control
from api.gateway.measures import failure_metrics
from api.gateway.tokens import BadToken, Bearer, bearer_of
from passgrid.fakes.fake_service import Behind, FakesAt, FakeService
from passgrid.fakes.loading import Fakes
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.fakes.state import DEFAULT_CAP
from passgrid.model_api.model_api import ModelApi
from passgrid.model_api.refusals import Refusal
from passgrid.server import DEFAULT_MOUNT
from passgrid.warehouse.gateway_state import SharedState
from passgrid.wire.http import JSON, HttpReply, HttpRequest
from passgrid.wire.json_text import dump
from passgrid.wire.mcp_identity import BadIdentity, as_identified, over, request_identity
from passgrid.wire.mcp_mount import McpMount
from passgrid.wire.mcp_service import Identity


class Gateway:
    """One process of a gateway; others over the same database answer alike."""

    def __init__(
        self,
        engine: sa.Engine,
        space: str,
        key: bytes,
        state: SharedState,
        *,
        behind: Mapping[str, Behind] | None = None,
        models: ModelApi | None = None,
        cap: int = DEFAULT_CAP,
        token_required: bool = False,
    ) -> None:
        """behind: what answers past the fakes, by mount. models: answers the model APIs, where there is any."""
        self._engine = engine
        self._space = space
        self._key = key
        self._state = state
        self._behind = behind or {}
        self._models = models
        self._cap = cap
        self._token_required = token_required
        self._control = Control(engine, space, state, self._paths)
        self._mounts: dict[str, McpMount] = {}
        self._known: Fakes | None = None
        self._served: set[str] = set()

    async def handle(self, request: HttpRequest) -> HttpReply:
        """The reply to a request."""
        if request.path in {"/health", "/ready"} and request.method == "GET":
            return _json(200, {"status": "ok"})
        try:
            bearer = bearer_of(request, self._key, required=self._token_required)
        except BadToken as error:
            refused = self._refused(request, 401, {"error": str(error)})
            return replace(refused, headers=(*refused.headers, (b"www-authenticate", b"Bearer")))
        mount = self._mounts.get(request.path)
        if mount is not None and request.path in self._paths(self._state.fakes):
            return await mount.handle(request, Identity(bearer.test_id))
        return await self._elsewhere(request, bearer)

    async def _elsewhere(self, request: HttpRequest, bearer: Bearer) -> HttpReply:
        if request.path == PREFIX or request.path.startswith(PREFIX + "/"):
            return await self._control.handle(request, bearer)
        if request.path == "/metrics" and request.method == "GET":
            text = await asyncio.to_thread(failure_metrics, self._engine, self._space)
            return HttpReply(200, text, ((b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),))
        if self._models is not None and self._models.handles(request.path):
            try:
                who = over(request_identity(request), Identity(bearer.test_id))
            except BadIdentity as error:
                return self._refused(request, 400, error.body)
            return await self._models.handle(as_identified(request, who))
        mount = await self._mount(request.path)
        if mount is None:
            paths = ", ".join(sorted(self._paths(self._state.fakes)))
            return _json(404, {"error": f"there is no {request.path}; mounts: {paths or 'none'}"})
        return await mount.handle(request, Identity(bearer.test_id))

    def _refused(self, request: HttpRequest, status: int, body: Mapping[str, str]) -> HttpReply:
        """An error before anybody was asked; clients of a model API understand only its own form."""
        if self._models is not None and self._models.handles(request.path):
            return self._models.refused(request, Refusal(status, body["error"], code=body.get("code"), final=True))
        return _json(status, body)

    def _paths(self, fakes: Fakes) -> set[str]:
        """Where something is served; worked out once for each version of what is loaded."""
        if self._known is not fakes:
            loaded = (path for path, one in fakes.mounts.items() if one.blocks)
            self._known, self._served = fakes, {DEFAULT_MOUNT, *self._behind, *loaded}
        return self._served

    async def _mount(self, path: str) -> McpMount | None:
        """The mount at a path, made when it is first asked for; None where nothing is there."""
        if path not in self._paths(self._state.fakes):
            await self._state.refresh()  # it may have been loaded by way of another process
            if path not in self._paths(self._state.fakes):
                return None
        service = FakeService(path, _fakes_at(self._state, path), self._state, self._behind.get(path), self._cap)
        self._mounts[path] = McpMount(path, service, self._state)
        return self._mounts[path]


def _fakes_at(state: SharedState, path: str) -> FakesAt:
    async def at() -> MountFakes:
        return await state.mount_fakes(path)

    return at


def _json(status: int, body: object) -> HttpReply:
    return HttpReply(status, dump(body), (JSON,))
