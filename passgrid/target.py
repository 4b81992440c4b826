"""Targets: the same scenarios on servers that are constructed in another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from passgrid.parts import Name
from passgrid.scenario import Scenario
from passgrid.server import AnyServer, HttpServer, Server

DEFAULT_TARGET = "default"
"""The scenario's own servers."""


class Target(BaseModel):
    """One entry of `targets` in `suite.yaml`: which servers the tools come from."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    description: str = ""
    mcp_servers: dict[Name, Server] = Field(
        alias="mcpServers", min_length=1, description="In place of the scenario's servers of these names."
    )
    dedicated: bool = Field(default=False, description="Nobody else uses its hosted servers: attempts may write there.")

    def servers_for(self, scenario: Scenario) -> dict[str, AnyServer]:
        """The servers of a scenario on this target: those it declares, made as the target says.

        A scenario that declares none, such as an imported one, gets all of the target's.
        """
        own = scenario.mcp_servers
        wanted = list(own) if own else list(self.mcp_servers)
        return {name: self._declared(self.mcp_servers.get(name)) or own[name] for name in wanted}

    def _declared(self, server: AnyServer | None) -> AnyServer | None:
        if isinstance(server, HttpServer) and server.dedicated is None:
            return server.model_copy(update={"dedicated": self.dedicated})
        return server

    def covers(self, scenario: Scenario) -> bool:
        """Whether it changes anything for a scenario."""
        return not scenario.mcp_servers or bool(scenario.mcp_servers.keys() & self.mcp_servers.keys())


def on_target(scenario: Scenario, target: Target | None) -> Scenario:
    """The scenario with a target's servers; itself where there is none.

    Nothing else of it changes, so what decides an attempt's course follows from the servers as declared there.
    """
    if target is None:
        return scenario
    changed: Mapping[str, Any] = {"mcp_servers": target.servers_for(scenario)}
    return scenario.model_copy(update=changed)
