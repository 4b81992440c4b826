"""How the tools of a scenario are constructed: a command, a hosted server, or one made in the worker's own process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from passgrid.json_values import is_object

DEFAULT_MOUNT = "/mcp"
_PROJECTION = r"^[^.\s]+(\.[^.\s]+)*$"


class _Server(BaseModel):
    """What every kind of server may say; frozen, and unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    projection: str | None = Field(
        default=None,
        pattern=_PROJECTION,
        description="The part of its answers that drift compares, such as `message.content`; all of it when absent.",
    )
    mount: str | None = Field(
        default=None,
        pattern=r"^/",
        description="The mount its fakes are declared for; `/mcp` where a scenario has one server, else `/<its name>`.",
    )


class StdioServer(_Server):
    """An MCP server started as a command, in the usual `mcpServers` form."""

    command: str = Field(min_length=1, description="The program, found on PATH; `python` is the worker's own.")
    args: tuple[str, ...] = Field(
        default=(),
        description="Its arguments; ${workspace} and ${suite} stand for the attempt's and suite's folder, ${private} "
        "for an empty one of this process.",
    )
    env: dict[str, str] = Field(default_factory=dict, description="Added to a minimal environment.")
    stateless: bool = Field(
        default=False, description="It keeps nothing between sessions: one process serves many attempts."
    )


class OAuth(BaseModel):
    """How a worker gets access to a hosted server; tokens are kept in PASSGRID_HOME, readable by its owner alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scopes: tuple[str, ...] = ()
    client_id: str | None = Field(default=None, description="A client registered before; absent: registered at login.")
    client_secret: str | None = Field(
        default=None, description="${env:NAME}, for a client of its own: no person has to log in."
    )

    issuer: str | None = Field(
        default=None, description="The authorization server that knows the client_secret; it is sent to no other."
    )

    @model_validator(mode="after")
    def _secret_from_the_environment(self) -> Self:
        if self.client_secret is not None and not self.client_secret.startswith("${env:"):
            raise ValueError("a secret does not belong into a file: write client_secret: ${env:NAME}")
        if self.client_secret is not None and self.client_id is None:
            raise ValueError("a client_secret needs its client_id")
        return self


class HttpServer(_Server):
    """An MCP server reached over Streamable HTTP."""

    url: str = Field(pattern=r"^https?://", description="Address of the server's MCP endpoint.")
    headers: dict[str, str] = Field(default_factory=dict, description="Headers of every request; never recorded.")
    oauth: OAuth | None = Field(default=None, description="Log in with `passgrid login`; no headers needed then.")
    dedicated: bool | None = Field(
        default=None, description="Whether nobody else uses it, so that attempts may write there."
    )
    stateless: bool = Field(default=False, description="It keeps nothing between sessions: one serves many attempts.")


class InProcessServer(_Server):
    """An MCP server made in the worker's process, fresh for each attempt."""

    python: str = Field(
        pattern=r"^[A-Za-z0-9_./-]+\.py:[A-Za-z_][A-Za-z0-9_]*$",
        description="`servers/x.py:make`, a function of the suite that returns an MCPServer or FastMCP.",
    )


class BuiltinServer(_Server):
    """A server that comes with Passgrid."""

    builtin: Literal["files"] = Field(
        description="`files`: the tools of a file system server, over the workspace in memory; it needs no folder."
    )


class FakedServer(_Server):
    """A server of which there is only what the scenario's fakes say."""

    faked: Literal[True] = Field(description="true: no program and no address; its calls are all declared.")


def _kind(value: object) -> Literal["command", "url", "python", "builtin", "faked"]:
    """Which kind is meant: what is wrong with it is told about that one alone."""
    if isinstance(value, HttpServer) or (is_object(value) and "url" in value):
        return "url"
    if isinstance(value, InProcessServer) or (is_object(value) and "python" in value):
        return "python"
    if isinstance(value, BuiltinServer) or (is_object(value) and "builtin" in value):
        return "builtin"
    if isinstance(value, FakedServer) or (is_object(value) and "faked" in value):
        return "faked"
    return "command"


Server = Annotated[
    Annotated[StdioServer, Tag("command")]
    | Annotated[HttpServer, Tag("url")]
    | Annotated[InProcessServer, Tag("python")]
    | Annotated[BuiltinServer, Tag("builtin")]
    | Annotated[FakedServer, Tag("faked")],
    Discriminator(_kind),
]
"""Any of them, told apart by the key that only one has."""

AnyServer = StdioServer | HttpServer | InProcessServer | BuiltinServer | FakedServer


def mounts_of(servers: Mapping[str, AnyServer]) -> dict[str, str]:
    """The mount of each server's fakes, by the server's name."""
    alone = len(servers) == 1
    return {name: server.mount or (DEFAULT_MOUNT if alone else f"/{name}") for name, server in servers.items()}
