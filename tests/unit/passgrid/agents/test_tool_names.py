"""Which of a program's tools are the scenario's, whatever it calls them."""

from __future__ import annotations

import pytest
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

from passgrid.agents.tool_names import ToolNames

SERVERS = {"count": "stock", "list_count": "stock", "search": "web-shop"}


def own(shown: str) -> str:
    """The name under which a turn that calls a tool is kept."""
    names = ToolNames(SERVERS, [shown])
    [turn] = names.plain([ModelResponse(parts=[ToolCallPart(shown, {}, "c")])])
    assert isinstance(turn, ModelResponse)
    assert names.shown(turn).tool_calls[0].tool_name == shown
    return turn.tool_calls[0].tool_name


@pytest.mark.parametrize("shown", ["count", "mcp__stock__count", "stock.count", "stock_count", "Stock/count"])
def test_a_server_before_the_name_is_no_part_of_it(shown: str) -> None:
    assert own(shown) == "count"


def test_the_longest_name_fits_and_a_server_may_be_spelled_as_an_identifier() -> None:
    assert own("mcp__stock__list_count") == "list_count"
    assert own("mcp__web_shop__search") == own("web-shop:search") == "search"


@pytest.mark.parametrize(
    "shown", ["discount", "recount", "re_count", "mcp__other__count", "mcp__stock__", "stockcount"]
)
def test_anything_else_is_a_tool_of_its_own(shown: str) -> None:
    assert own(shown) == shown


def test_results_are_kept_under_the_same_name() -> None:
    names = ToolNames(SERVERS, ["stock.count"])
    [request] = names.plain([ModelRequest(parts=[ToolReturnPart("stock.count", "5", "c")])])
    (part,) = request.parts
    assert isinstance(part, ToolReturnPart)
    assert part.tool_name == "count"
