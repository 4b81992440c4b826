"""What attempts may make on a platform: how it is listed, whose it is, and how it is taken away again."""

from __future__ import annotations

from typing import Self

from pydantic import Field, JsonValue, model_validator

from passgrid.parts import Name, Part

NAMESPACE = "${namespace}"
"""Stands for a text of this one attempt: in the task, in arguments, in `owner.contains`."""


class Listing(Part):
    """The call that lists everything of a kind."""

    tool: str | None = None
    resource: str | None = None
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    items: str | None = Field(default=None, description="Where in the answer the list is, such as `orders`.")
    id: str = Field(default="id", description="Where in an item its id is.")

    @model_validator(mode="after")
    def _asks_one_thing(self) -> Self:
        if (self.tool is None) == (self.resource is None):
            raise ValueError("name either a tool or a resource that lists them")
        return self


class Owner(Part):
    """A field of an item that says whose it is."""

    path: str = Field(min_length=1, description="Where in an item it is, such as `name`.")
    contains: str = Field(default=NAMESPACE, description="A text with ${namespace}.")

    @model_validator(mode="after")
    def _names_the_attempt(self) -> Self:
        if NAMESPACE not in self.contains:
            raise ValueError(f"without {NAMESPACE} the items of two attempts could not be told apart")
        return self


class Removal(Part):
    """The call that takes an item away."""

    tool: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = Field(
        default_factory=lambda: {"id": "${id}"}, description="${id} stands for the item's id."
    )


class LedgerKind(Part):
    """One kind of artifact. It belongs to an attempt whose call made it, or whose namespace it carries; nothing else is
    ever deleted."""

    server: Name | None = Field(default=None, description="Needed where a scenario has several.")
    list: Listing
    made_by: dict[str, str] = Field(
        default_factory=dict, description="By tool that makes one: where in its answer the new id is."
    )
    owner: Owner | None = None
    delete: Removal | None = Field(default=None, description="null: it stays, and is told as left over.")
    after: tuple[Name, ...] = Field(default=(), description="Kinds that are deleted before it: they depend on it.")

    @model_validator(mode="after")
    def _can_be_told_apart(self) -> Self:
        if self.delete is not None and not self.made_by and self.owner is None:
            raise ValueError("say whose it is before it may be deleted: made_by or owner")
        return self


def removal_order(kinds: dict[str, LedgerKind]) -> tuple[str, ...]:
    """The kinds in the order they are deleted in. Raises `ValueError` for an unknown kind or a circle."""
    done: list[str] = []
    for name, kind in kinds.items():
        for other in kind.after:
            if other not in kinds:
                raise ValueError(f"ledger.{name}.after names {other}, which is no kind of it")
    while len(done) < len(kinds):
        ready = [name for name, kind in kinds.items() if name not in done and set(kind.after) <= set(done)]
        if not ready:
            raise ValueError("the kinds of the ledger wait for each other in a circle")
        done += ready
    return tuple(done)
