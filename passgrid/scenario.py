"""One realistic job with an expected result: what a scenario file holds."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from passgrid.agent_command import AgentCommand
from passgrid.conditions import Check, ReadBack
from passgrid.end_state import EndState
from passgrid.fakes_document import FakesDocument
from passgrid.identity import short_id
from passgrid.judge import Judge
from passgrid.ledger import LedgerKind, removal_order
from passgrid.parts import Name, Part, RelativePath
from passgrid.server import BuiltinServer, FakedServer, Server, StdioServer


class Limits(Part):
    """Where an attempt is broken off; over the whole attempt with all its user turns. null means no limit."""

    model_turns: int | None = Field(default=50, ge=1, description="Requests to the model.")
    tool_calls: int | None = Field(default=100, ge=0, description="Tool calls, errored ones included.")
    tokens: int | None = Field(default=None, ge=1, description="Input and output tokens together.")
    cost_usd: float | None = Field(default=None, gt=0, description="US dollars, where the cost is known.")
    seconds: float | None = Field(default=600, gt=0, description="Wall-clock seconds.")
    working_seconds: float | None = Field(
        default=None, gt=0, description="Seconds without those spent waiting for a provider."
    )


class Workspace(Part):
    """The folder an attempt works in: fresh for each, gone after it."""

    template: RelativePath | None = Field(default=None, description="A folder of the suite whose files it starts with.")
    git: bool = Field(default=False, description="Make it a git repository with one commit of the template.")


class Detectors(Part):
    """What the detectors of silent failures are told of a scenario."""

    off: tuple[Name, ...] = Field(default=(), description="Detectors that do not look at it.")
    immutable: tuple[str, ...] = Field(default=(), description="Names of fields whose value never changes.")


class Scenario(Part):
    """One realistic job with an expected result."""

    name: Name
    description: str = Field(default="", description="For people: what the job is and what it is there to find out.")
    task: str | None = Field(default=None, description="The only user turn.")
    turns: tuple[str, ...] | Literal["recorded"] | None = Field(
        default=None, description="User turns in order, or `recorded`: they come from the cassette."
    )
    mcp_servers: dict[Name, Server] = Field(default_factory=dict, alias="mcpServers")
    fakes: tuple[RelativePath | FakesDocument, ...] = Field(
        default=(),
        description="Declared tool calls, before recordings and live servers: files of the suite, or blocks.",
    )
    tools: tuple[str, ...] | None = Field(default=None, description="Only these tools are offered; all when absent.")
    limits: Limits = Limits()
    workspace: Workspace | None = None
    stages: dict[Name, Check] = Field(default_factory=dict, description="Milestones of the job, each a check.")
    checks: tuple[Check, ...] = ()
    detectors: Detectors = Detectors()
    ledger: dict[Name, LedgerKind] = Field(
        default_factory=dict, description="What attempts may make on the platform, by kind."
    )
    judge: Judge | None = Field(default=None, description="A model that gives a second opinion.")
    end_state: EndState | None = Field(default=None, description="How the state of the platform is read afterwards.")
    agent: AgentCommand | None = Field(
        default=None, description="A program that does the job instead of the built-in agent."
    )
    tags: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _has_one_source_of_user_turns(self) -> Self:
        if (self.task is None) == (self.turns is None):
            raise ValueError("a scenario has either a task or turns")
        if self.turns == ():
            raise ValueError("turns must not be empty")
        if self.agent is not None and self.turns == "recorded":
            raise ValueError("an agent that is a command is given its turns before it starts: they cannot be recorded")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [check.shown_name for check in self.checks] + list(self.stages)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two checks or stages are called {', '.join(twice)}; give each a name of its own")
        return self

    @model_validator(mode="after")
    def _what_is_checked_is_declared(self) -> Self:
        removal_order(self.ledger)
        for check in (*self.checks, *self.stages.values()):
            if check.artifact is not None and check.artifact.kind not in self.ledger:
                raise ValueError(f"{check.shown_name}: the ledger has no kind {check.artifact.kind}")
            if check.end_state is not None and self.end_state is None:
                raise ValueError(f"{check.shown_name}: end_state does not say how the state is read")
            if check.end_state is not None and check.end_state.reference and self.end_state.reference is None:  # pyright: ignore[reportOptionalMemberAccess]
                raise ValueError(f"{check.shown_name}: end_state has no reference")
        return self

    @property
    def read_backs(self) -> dict[str, ReadBack]:
        """What servers are asked after the attempt, by name of the check or stage."""
        named = [(check.shown_name, check) for check in self.checks] + list(self.stages.items())
        return {name: check.read_back for name, check in named if check.read_back is not None}

    @property
    def looks_afterwards(self) -> bool:
        """Whether servers are asked, or things taken away, after the agent is done."""
        return bool(self.ledger or self.end_state or self.read_backs)

    @property
    def fake_documents(self) -> tuple[FakesDocument, ...]:
        """Its fakes, once the files of its suite are read."""
        return tuple(one for one in self.fakes if isinstance(one, FakesDocument))

    @property
    def all_faked(self) -> bool:
        """Whether no server of it has anything behind its fakes."""
        return bool(self.mcp_servers) and all(isinstance(one, FakedServer) for one in self.mcp_servers.values())

    @model_validator(mode="after")
    def _files_in_memory_have_no_folder(self) -> Self:
        if not self.files_in_memory:
            return self
        commands = [server for server in self.mcp_servers.values() if isinstance(server, StdioServer)]
        if any("${workspace}" in text for server in commands for text in (*server.args, *server.env.values())):
            raise ValueError("the built-in file server keeps the workspace in memory: there is no ${workspace} folder")
        if self.workspace is not None and self.workspace.git:
            raise ValueError("the built-in file server keeps the workspace in memory: it cannot be a git repository")
        return self

    @property
    def files_in_memory(self) -> bool:
        """Whether its workspace lies in memory, behind the built-in file server."""
        return any(isinstance(server, BuiltinServer) for server in self.mcp_servers.values())

    @property
    def user_turns(self) -> tuple[str, ...] | None:
        """The scripted user turns; None when they come from the cassette."""
        if self.task is not None:
            return (self.task,)
        return None if isinstance(self.turns, str) else self.turns

    def trajectory_facts(self) -> dict[str, Any]:
        """What of this scenario decides how an attempt goes: never its checks, stages, tags or description.

        How a server is reached may hold secrets and changes nothing, so headers and logins are left out.
        """
        servers = self.model_dump(mode="json", by_alias=True, exclude_defaults=True).get("mcpServers", {})
        # Left out where there is none: ids of before there were any stay.
        agent = {"agent": self.agent.trajectory_facts()} if self.agent is not None else {}
        return {
            **agent,
            "task": self.task,
            "turns": self.turns,
            "servers": {
                name: {key: value for key, value in server.items() if key not in {"headers", "oauth"}}
                for name, server in servers.items()
            },
            "tools": self.tools,
            # Left out while it is not set: ids of before it existed stay.
            "limits": {
                name: value
                for name, value in self.limits.model_dump(mode="json").items()
                if name != "working_seconds" or value is not None
            },
            "workspace": self.workspace.model_dump(mode="json") if self.workspace else None,
            **({"fakes": [one.to_json() for one in self.fake_documents]} if self.fakes else {}),
        }

    def verdict_hash(self) -> str:
        """What of this scenario decides the verdict on a finished attempt."""
        return short_id(
            self.model_dump(mode="json", include={"checks", "stages", "detectors", "judge"}, exclude_defaults=True)
        )
