"""How the state of a scenario's platform is read after an attempt, and which state is the right one."""

from __future__ import annotations

from typing import Self

from pydantic import Field, JsonValue, model_validator

from passgrid.parts import Name, Part, RelativePath


class ReferenceCall(Part):
    """One call of the right solution."""

    tool: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class EndState(Part):
    """What exists on a server after the attempt: the answer of a tool, a resource, or files it keeps.

    With `reference`, these calls are made on a fresh session of the same server, and its state is read likewise: what
    the attempt's should equal. What is compared are the `parts`, all of it where none are named.
    """

    server: Name | None = Field(default=None, description="Needed where a scenario has several.")
    tool: str | None = None
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    resource: str | None = None
    files: RelativePath | None = Field(
        default=None, description="A pattern for JSON files below the server's ${private} folder, such as `*.json`."
    )
    first: ReferenceCall | None = Field(
        default=None,
        description="A call made before reading, for a server that writes its files only when it is called.",
    )
    parts: tuple[str, ...] = Field(default=(), description="Paths of what is compared, such as `db.users`.")
    reference: tuple[ReferenceCall, ...] | None = Field(default=None, description="The calls of the right solution.")

    @model_validator(mode="after")
    def _reads_one_way(self) -> Self:
        if sum(way is not None for way in (self.tool, self.resource, self.files)) != 1:
            raise ValueError("say how it is read: exactly one of tool, resource and files")
        return self
