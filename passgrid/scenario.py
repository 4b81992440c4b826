"""One realistic job with an expected result: what a scenario file holds."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from passgrid.identity import short_id

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Names become file and folder names and parts of addresses, so they hold nothing a path could be made of."""

Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=100)]


def _stays_inside(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "\\", "~")) or ".." in parts or "\0" in path:
        raise ValueError(f"{path!r} leads outside; write a path below the folder, without ..")
    return path


RelativePath = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_stays_inside)]


class _Part(BaseModel):
    """A piece of a scenario: frozen, and unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class StdioServer(_Part):
    """An MCP server started as a command, in the usual `mcpServers` form."""

    command: str = Field(min_length=1, description="The program, found on PATH; `python` is the worker's own.")
    args: tuple[str, ...] = Field(
        default=(), description="Its arguments; ${workspace} and ${suite} stand for the attempt's and suite's folder."
    )
    env: dict[str, str] = Field(default_factory=dict, description="Added to a minimal environment.")


class HttpServer(_Part):
    """An MCP server reached over Streamable HTTP."""

    url: str = Field(pattern=r"^https?://", description="Address of the server's MCP endpoint.")
    headers: dict[str, str] = Field(default_factory=dict, description="Headers of every request; never recorded.")


class Limits(_Part):
    """Where an attempt is broken off; over the whole attempt with all its user turns. null means no limit."""

    model_turns: int | None = Field(default=50, ge=1, description="Requests to the model.")
    tool_calls: int | None = Field(default=100, ge=0, description="Tool calls, errored ones included.")
    tokens: int | None = Field(default=None, ge=1, description="Input and output tokens together.")
    cost_usd: float | None = Field(default=None, gt=0, description="US dollars, where the cost is known.")
    seconds: float | None = Field(default=600, gt=0, description="Wall-clock seconds.")
    working_seconds: float | None = Field(
        default=None, gt=0, description="Seconds without those spent waiting for a provider."
    )


class Workspace(_Part):
    """The folder an attempt works in: fresh for each, gone after it."""

    template: RelativePath | None = Field(default=None, description="A folder of the suite whose files it starts with.")
    git: bool = Field(default=False, description="Make it a git repository with one commit of the template.")


class TextMatch(_Part):
    """What a text must be; at least one, and all that are given."""

    equals: str | None = None
    contains: str | tuple[str, ...] | None = Field(default=None, description="One text or several, all required.")
    matches: str | None = Field(default=None, description="A regular expression, searched for.")

    @field_validator("matches")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"not a regular expression: {error}") from None
        return pattern

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self._condition_free():
            raise ValueError("say what is expected: equals, contains or matches")
        return self

    def _condition_free(self) -> bool:
        return self.equals is None and self.contains is None and self.matches is None


class ToolCalled(_Part):
    """A tool was called, with these arguments among its own."""

    tool: str = Field(min_length=1)
    server: str | None = None
    arguments: dict[str, JsonValue] = Field(
        default_factory=dict, description="Each given argument must be equal; others may be there."
    )
    succeeded: bool = Field(default=True, description="Whether only a call that did not err counts.")


class FileCheck(TextMatch):
    """A file of the workspace at the end of the attempt."""

    path: RelativePath
    exists: bool = Field(default=True, description="false: the file must be gone.")

    def _condition_free(self) -> bool:
        return False

    @model_validator(mode="after")
    def _gone_has_no_text(self) -> Self:
        if not self.exists and not super()._condition_free():
            raise ValueError("a file that must not exist has no text to compare")
        return self


class Check(_Part):
    """One condition on a finished attempt: exactly one kind, and what it is called."""

    name: Name | None = Field(default=None, description="Shown in reports; made from the kind when absent.")
    required: bool = Field(default=True, description="false: shown beside the pass, never part of it.")
    final_text: TextMatch | None = Field(default=None, description="The agent's last message.")
    tool_called: ToolCalled | None = Field(default=None, description="A call the agent made.")
    file: FileCheck | None = Field(default=None, description="A file of the workspace afterwards.")
    python: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_./-]+\.py:[A-Za-z_][A-Za-z0-9_]*$",
        description="`checks.py:name`, a function of the suite over the transcript.",
    )
    recorded_verdict: Name | None = Field(default=None, description="A verdict another tool gave, from the cassette.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if len(self._kinds()) != 1:
            raise ValueError(f"a check has exactly one of {', '.join(CHECK_KINDS)}; this one has {len(self._kinds())}")
        return self

    def _kinds(self) -> list[str]:
        return [kind for kind in CHECK_KINDS if getattr(self, kind) is not None]

    @property
    def kind(self) -> str:
        """Which kind of check this is, such as `final_text`."""
        return self._kinds()[0]

    @property
    def shown_name(self) -> str:
        """The given name, or one made from what is checked."""
        if self.name:
            return self.name
        subject = {
            "final_text": "",
            "tool_called": self.tool_called.tool if self.tool_called else "",
            "file": self.file.path if self.file else "",
            "python": self.python.rpartition(":")[2] if self.python else "",
            "recorded_verdict": self.recorded_verdict or "",
        }[self.kind]
        if self.kind in {"python", "recorded_verdict"}:
            return subject
        return f"{self.kind}:{subject}" if subject else self.kind


CHECK_KINDS = ("final_text", "tool_called", "file", "python", "recorded_verdict")
"""The first vocabulary of checks."""


class Scenario(_Part):
    """One realistic job with an expected result."""

    name: Name
    description: str = Field(default="", description="For people: what the job is and what it is there to find out.")
    task: str | None = Field(default=None, description="The only user turn.")
    turns: tuple[str, ...] | Literal["recorded"] | None = Field(
        default=None, description="User turns in order, or `recorded`: they come from the cassette."
    )
    mcp_servers: dict[Name, StdioServer | HttpServer] = Field(default_factory=dict, alias="mcpServers")
    tools: tuple[str, ...] | None = Field(default=None, description="Only these tools are offered; all when absent.")
    limits: Limits = Limits()
    workspace: Workspace | None = None
    stages: dict[Name, Check] = Field(default_factory=dict, description="Milestones of the job, each a check.")
    checks: tuple[Check, ...] = ()
    tags: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _has_one_source_of_user_turns(self) -> Self:
        if (self.task is None) == (self.turns is None):
            raise ValueError("a scenario has either a task or turns")
        if self.turns == ():
            raise ValueError("turns must not be empty")
        return self

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [check.shown_name for check in self.checks] + list(self.stages)
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two checks or stages are called {', '.join(twice)}; give each a name of its own")
        return self

    @property
    def user_turns(self) -> tuple[str, ...] | None:
        """The scripted user turns; None when they come from the cassette."""
        if self.task is not None:
            return (self.task,)
        return None if isinstance(self.turns, str) else self.turns

    def trajectory_facts(self) -> dict[str, Any]:
        """What of this scenario decides how an attempt goes: never its checks, stages, tags or description.

        How a server is reached may hold secrets and changes nothing, so headers are left out.
        """
        servers = self.model_dump(mode="json", by_alias=True, exclude_defaults=True).get("mcpServers", {})
        return {
            "task": self.task,
            "turns": self.turns,
            "servers": {
                name: {key: value for key, value in server.items() if key != "headers"}
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
        }

    def verdict_hash(self) -> str:
        """What of this scenario decides the verdict on a finished attempt."""
        return short_id(self.model_dump(mode="json", include={"checks", "stages"}))
