"""What a model request costs, and at most may cost, in US dollars. Unknown is None, never 0."""

from __future__ import annotations

from typing import Any

import orjson
from genai_prices import Usage, calc_price
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters

from passgrid.messages import transcript_of

TOKENS_PER_MESSAGE = 16
"""What providers add around a message, generously."""


def cost_of(response: ModelResponse) -> tuple[float | None, str | None]:
    """US dollars and where the figure is from: `provider` where it reports one, else `prices`, the price table."""
    reported: Any = (response.provider_details or {}).get("cost")
    if reported is not None:
        return float(reported), "provider"
    try:
        return float(response.cost().total_price), "prices"
    except (LookupError, ValueError, AssertionError):
        return None, None


def most_input_tokens(messages: list[ModelMessage], parameters: ModelRequestParameters) -> int:
    """A bound no tokenizer exceeds: no token is shorter than a byte of what is sent."""
    said = transcript_of(messages)
    tools = [
        [tool.name, tool.description, tool.parameters_json_schema]
        for tool in (*parameters.function_tools, *parameters.output_tools)
    ]
    return len(orjson.dumps([said, tools], default=str)) + TOKENS_PER_MESSAGE * (len(said) + len(tools))


def price_of(model: Model, input_tokens: int, output_tokens: int) -> float | None:
    """The price of so many tokens by the price table; None for a model it does not know."""
    return price_by_name(model.system, model.model_name, input_tokens, output_tokens)


def price_by_name(provider: str, name: str, input_tokens: int, output_tokens: int) -> float | None:
    """The same by the names of provider and model."""
    try:
        price = calc_price(Usage(input_tokens=input_tokens, output_tokens=output_tokens), name, provider_id=provider)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
