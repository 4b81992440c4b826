"""Model turns of the documents that are loaded now, whoever loaded them."""

from __future__ import annotations

from collections.abc import Sequence

from passgrid.json_values import is_object
from passgrid.model_api.fixture_serving import FixtureTurns
from passgrid.model_api.fixture_turns import FixtureTurn, read_fixture_turns
from passgrid.warehouse.gateway_state import SharedState


class LoadedFixtures:
    """Made anew whenever something is loaded or unloaded; counts of conditions begin anew then.

    They are counted in each process: sequences need one gateway, or clients that stay with theirs.
    """

    def __init__(self, state: SharedState) -> None:
        self._state = state
        self._version = -1
        self._turns: FixtureTurns | None = None

    async def now(self) -> FixtureTurns | None:
        """The turns as of this moment; None where there are none."""
        await self._state.refresh()
        if self._version != self._state.fakes.version:
            self._version = self._state.fakes.version
            found: Sequence[FixtureTurn] = [
                turn
                for source, document in self._state.documents
                if is_object(document)
                for turn in read_fixture_turns(document, source)
            ]
            self._turns = FixtureTurns(found) if found else None
        return self._turns
