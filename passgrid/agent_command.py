"""An agent that is a program of its own, in whatever language: what a scenario or a suite says of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from passgrid.parts import Part


class AgentCommand(Part):
    """A program that does the job instead of the built-in agent loop.

    It finds its tools, its model and its task in its environment (see `passgrid.agents.environment`).
    """

    command: str = Field(min_length=1, description="The program, found on PATH; `python` is the worker's own.")
    args: tuple[str, ...] = Field(
        default=(),
        description="Its arguments; ${workspace} and ${suite} stand for the attempt's and the suite's folder.",
    )
    env: dict[str, str] = Field(default_factory=dict, description="Added to a minimal environment.")
    timeout: float | None = Field(
        default=None, gt=0, description="Seconds the program may run, besides the limits of the scenario."
    )
    result: Literal["stdout", "file", "json"] = Field(
        default="stdout",
        description="Where its answer is: all it writes to stdout, the file PASSGRID_RESULT_FILE, or a JSON object on "
        'stdout: {"text": …, "messages"?: […]}.',
    )

    def trajectory_facts(self) -> dict[str, Any]:
        """What of it decides how an attempt goes."""
        return self.model_dump(mode="json", exclude_defaults=True)
