"""What the fakes say of one test: whether all that was declared was asked for, and nothing was refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from passgrid.fakes.loading import Fakes
from passgrid.fakes.state import FakeOutcome
from passgrid.json_values import is_object


@dataclass(frozen=True, slots=True)
class Seen:
    """One call of a tool, as the journal has it."""

    mount: str
    tool: str
    outcome: str | None
    entry_id: str | None
    answered: str | None
    arguments: Any


@dataclass(frozen=True, slots=True)
class FakesReport:
    """Of one test, over all mounts or one."""

    served: tuple[Mapping[str, Any], ...]
    """Calls that fakes answered, in order."""
    unconsumed: tuple[Mapping[str, Any], ...]
    """Declared calls of blocks scoped to this test that were not asked for, or not often enough."""
    unfaked: tuple[Mapping[str, Any], ...]
    """Calls that went on past the fakes."""
    failures: tuple[Mapping[str, Any], ...]
    """Calls that the fakes refused."""
    evicted: bool

    @property
    def ok(self) -> bool:
        """No failure, not evicted, nothing left over."""
        return not self.failures and not self.evicted and not self.unconsumed

    def to_json(self) -> dict[str, Any]:
        """As the control API tells it."""
        return {
            "ok": self.ok,
            "served": list(self.served),
            "unconsumed": list(self.unconsumed),
            "unfaked": list(self.unfaked),
            "failures": list(self.failures),
            "evicted": self.evicted,
        }

    def to_text(self) -> str:
        """As a file holds it."""
        return json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"

    def why_not(self) -> str:
        """One line for each thing that is wrong."""
        lines = [f"{one['outcome']}: {one['tool']} on {one['mount']} with {one['arguments']}" for one in self.failures]
        lines += [f"never asked for: {one['id']} on {one['mount']}" for one in self.unconsumed]
        return "\n".join([*lines, *(["its state was evicted"] if self.evicted else [])])


def report_of(
    fakes: Fakes, test_id: str | None, seen: Sequence[Seen], *, evicted: bool, mount: str | None = None
) -> FakesReport:
    """The report of one test, out of its journal."""
    calls = [one for one in seen if mount is None or one.mount == mount]
    used: dict[tuple[str, str], int] = {}
    for one in calls:
        if one.outcome == FakeOutcome.ANSWERED and one.entry_id is not None:
            key = (one.mount, one.entry_id)
            used[key] = used.get(key, 0) + 1
    return FakesReport(
        served=tuple(_told(one) | {"id": one.entry_id} for one in calls if one.outcome == FakeOutcome.ANSWERED),
        unconsumed=tuple(_unconsumed(fakes, test_id, used, mount)),
        unfaked=tuple(_told(one) | {"answered": one.answered} for one in calls if one.outcome is None),
        failures=tuple(
            _told(one) | {"outcome": one.outcome} for one in calls if one.outcome not in {None, FakeOutcome.ANSWERED}
        ),
        evicted=evicted,
    )


def _unconsumed(
    fakes: Fakes, test_id: str | None, used: Mapping[tuple[str, str], int], only: str | None
) -> Iterable[dict[str, Any]]:
    for path, mount in fakes.mounts.items():
        if only is not None and path != only:
            continue
        for block in mount.blocks:
            # What is declared for everybody is nobody's duty, unless the request had no test id at all.
            if block.scope.test_id != test_id:
                continue
            for entry in block.entries:
                left = entry.times - used.get((path, entry.entry_id), 0)
                if left > 0:
                    yield {"id": entry.entry_id, "mount": path, "left": left}


def _told(one: Seen) -> dict[str, Any]:
    return {"mount": one.mount, "tool": one.tool, "arguments": one.arguments}


def seen_call(
    mount: str, tool: str | None, outcome: str | None, entry_id: str | None, answered: str | None, body: Any
) -> Seen | None:
    """A row of a journal as a call; None where it is another message."""
    if tool is None:
        return None
    params: Any = body.get("params") if is_object(body) else None
    arguments: Any = params.get("arguments", {}) if is_object(params) else {}
    return Seen(mount, tool, outcome, entry_id, answered, arguments)
