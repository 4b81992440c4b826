"""Conversations a client may go on from by naming the last response."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from pydantic_ai.messages import ModelMessage

MOST_KEPT = 10_000


class KeptConversations:
    """Earlier conversations by response id. At most so many: the one longest unused goes first."""

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._kept: OrderedDict[str, tuple[ModelMessage, ...]] = OrderedDict()

    def get(self, response_id: str) -> tuple[ModelMessage, ...] | None:
        """The conversation up to and with that response."""
        found = self._kept.get(response_id)
        if found is not None:
            self._kept.move_to_end(response_id)
        return found

    def keep(self, response_id: str, messages: Sequence[ModelMessage]) -> None:
        """Keep a conversation."""
        self._kept[response_id] = tuple(messages)
        self._kept.move_to_end(response_id)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
