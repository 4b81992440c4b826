"""What one attempt needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from passgrid.agent_axis import DEFAULT_AGENT
from passgrid.agents.serving import Serving, not_served
from passgrid.cassettes.format import Cassette
from passgrid.cassettes.matching import NO_RULES, MatchingRules
from passgrid.gate import OPEN_GATE, Gate
from passgrid.ledger import NAMESPACE
from passgrid.matrix import Mode, Prompt
from passgrid.model_reference import ModelReference
from passgrid.scenario import Scenario
from passgrid.tools.sessions import Sessions


@dataclass(frozen=True, slots=True)
class AttemptOrder:
    """Everything one attempt needs; it looks at nothing else."""

    attempt_id: str
    scenario: Scenario
    prompt: Prompt
    model: ModelReference
    mode: Mode
    sample: int
    cassette: Cassette | None = None
    """Resolved; needed for every recorded model."""
    recordings: tuple[Cassette, ...] = ()
    """In the mode sandbox: the recordings its tools answer from, resolved; the preferred one first."""
    matching: MatchingRules = NO_RULES
    """When a call of theirs may answer another one."""
    suite_files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The suite's own files by path: checks, policies, servers, templates."""
    suite_folder: Path | None = None
    """Where those files lie on disk, for live servers that are started from there."""
    namespace: str = ""
    """A text of this try alone: `${namespace}` in its user turns stands for it. Made from its id when empty."""
    gate: Gate = OPEN_GATE
    """Asked before every live call."""
    sessions: Sessions | None = None
    """Opens sessions with servers; None begins every one anew."""
    serving: Serving = not_served
    """Serves the gateway of an agent that is a command."""
    agent: str = DEFAULT_AGENT
    """The name under which its agent was chosen."""
    record: bool = False
    """Whether the result is to hold a recording."""

    @property
    def recorded_as(self) -> str:
        """The label of its recording: its model, and its agent where one was chosen."""
        label = self.model.as_label()
        return label if self.agent == DEFAULT_AGENT else f"{label}-{self.agent}"

    @property
    def own_namespace(self) -> str:
        """What `${namespace}` stands for; itself in a replay, as in its recording."""
        if self.mode is Mode.REPLAY:
            return NAMESPACE
        return self.namespace or f"pg-{self.attempt_id[:12]}"
