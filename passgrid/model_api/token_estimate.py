"""How many tokens a request may have: an estimate, as every model counts in its own way."""

from __future__ import annotations

import re

from pydantic_ai.messages import BinaryContent, ModelRequest, UserPromptPart

from passgrid.messages import transcript_of
from passgrid.model_api.asked import Asked
from passgrid.model_api.said import json_text

BYTES_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1_600
"""What an image of the usual largest size is counted as."""

_DATA_URI = re.compile(r'"data:[^"]*"')


def estimated_tokens(asked: Asked) -> int:
    """A rule of thumb over texts, tools and images; at least 1."""
    said = _DATA_URI.sub("", json_text(transcript_of(asked.messages)))
    tools = [[tool.name, tool.description, tool.parameters_json_schema] for tool in asked.parameters.function_tools]
    size = len(said.encode()) + len(json_text(tools))
    return max(1, size // BYTES_PER_TOKEN + TOKENS_PER_IMAGE * _images(asked))


def _images(asked: Asked) -> int:
    prompts = [
        part
        for message in asked.messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    return sum(isinstance(item, BinaryContent) for prompt in prompts for item in prompt.content)
