"""What the pieces of a scenario file share: names, paths below a folder, and how strict they are."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Names become file and folder names and parts of addresses, so they hold nothing a path could be made of."""

Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=100)]


def _stays_inside(path: str) -> str:
    parts = path.replace("\\", "/").split("/")
    if path.startswith(("/", "\\", "~")) or ".." in parts or "\0" in path:
        raise ValueError(f"{path!r} leads outside; write a path below the folder, without ..")
    return path


RelativePath = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_stays_inside)]


class Part(BaseModel):
    """A piece of a scenario: frozen, and unknown keys are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)
