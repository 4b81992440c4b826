"""Checks of the demo suite that need Python."""

from __future__ import annotations

from passgrid import Evidence


def price_was_read_again(evidence: Evidence) -> bool | str:
    """After the last change of a price, the article was read: a change nobody looked at is not done."""
    tools = [call.tool for call in evidence.tool_calls if not call.error]
    if "set_price" not in tools:
        return "no price was changed"
    last = len(tools) - 1 - tools[::-1].index("set_price")
    return "get_article" in tools[last:] or "the new price was never read again"


def nothing_was_ordered(evidence: Evidence) -> bool:
    """A question is no order."""
    return all(call.tool != "place_order" for call in evidence.tool_calls)
