"""The model APIs as one HTTP handler: whoever answers sees one question, every client its own API."""

from __future__ import annotations

import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias
from urllib.parse import unquote

from pydantic_ai.messages import ModelResponse

from passgrid.model_api.asked import Asked
from passgrid.model_api.chat_answer import chat_events, render_chat
from passgrid.model_api.chat_request import parse_chat
from passgrid.model_api.dialect import Dialect
from passgrid.model_api.events import streamed
from passgrid.model_api.fields import read_json
from passgrid.model_api.kept import KeptConversations
from passgrid.model_api.messages_answer import anthropic_error, messages_events, render_messages
from passgrid.model_api.messages_request import parse_messages
from passgrid.model_api.openai_errors import openai_error
from passgrid.model_api.refusals import UNFORESEEN, Refusal, Refused, UnknownModel, refusal_of
from passgrid.model_api.responses_answer import render_responses, response_id
from passgrid.model_api.responses_events import responses_events
from passgrid.model_api.responses_request import parse_responses
from passgrid.model_api.said import json_text
from passgrid.model_api.served_models import anthropic_model, anthropic_models, openai_model, openai_models
from passgrid.model_api.token_estimate import estimated_tokens
from passgrid.wire.http import EVENTS, JSON, Header, HttpReply, HttpRequest

Answer: TypeAlias = Callable[[Asked, HttpRequest], Awaitable[ModelResponse]]
"""Gives the next model turn, or raises: `Refused`, an `AttemptEnded`, or a live model's error."""

VERSION = "/v1"
MODELS = "/v1/models"
COUNT_TOKENS = "/v1/messages/count_tokens"

logger = logging.getLogger(__name__)


class ModelApi:
    """OpenAI chat completions and responses, and Anthropic messages, with or without `/v1` before their paths."""

    def __init__(self, answer: Answer, *, models: Sequence[str] = (), kept: KeptConversations | None = None) -> None:
        """models: what the list of models tells; any other may be asked for too, if `answer` takes it."""
        self._answer = answer
        self._models = tuple(models)
        self._kept = kept or KeptConversations()
        dialects = (
            Dialect("/v1/chat/completions", parse_chat, render_chat, chat_events, openai_error),
            Dialect(
                "/v1/responses",
                partial(parse_responses, kept=self._kept),
                render_responses,
                responses_events,
                openai_error,
            ),
            Dialect("/v1/messages", parse_messages, render_messages, messages_events, anthropic_error),
        )
        self._dialects = {dialect.path: dialect for dialect in dialects}

    def handles(self, path: str) -> bool:
        """Whether a path is one of a model API; everything below `/v1/` is, known or not."""
        return path.startswith(f"{VERSION}/") or self._known(_versioned(path))

    async def handle(self, request: HttpRequest) -> HttpReply:
        """The reply to any request; what goes wrong is told in the form of the API that was asked."""
        try:
            return await self._reply(_versioned(request.path), request)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is UNFORESEEN:
                logger.exception("a model request failed")
            return self.refused(request, refusal)

    def refused(self, request: HttpRequest, refusal: Refusal) -> HttpReply:
        """The error answer to a request, in the form of the API that was asked."""
        anthropic = _speaks_anthropic(_versioned(request.path), request)
        return _refused(refusal, anthropic_error if anthropic else openai_error)

    def _known(self, path: str) -> bool:
        return path in self._dialects or path in {COUNT_TOKENS, MODELS} or path.startswith(f"{MODELS}/")

    async def _reply(self, path: str, request: HttpRequest) -> HttpReply:
        if not self._known(path):
            raise Refused(Refusal(404, f"There is no {request.method} {request.path} here.", code="unknown_url"))
        allowed = "GET" if path.startswith(MODELS) else "POST"
        if request.method != allowed:
            message = f"{request.method} is not allowed for {request.path}: use {allowed}."
            raise Refused(Refusal(405, message, code="method_not_allowed", allow=allowed, final=True))
        if path.startswith(MODELS):
            return self._listed(path, request)
        body = read_json(request.body)
        if path == COUNT_TOKENS:
            return _json({"input_tokens": estimated_tokens(parse_messages(body, counting=True))})
        return await self._turn(self._dialects[path], body, request)

    async def _turn(self, dialect: Dialect, body: Any, request: HttpRequest) -> HttpReply:
        asked = dialect.parse(body)
        response = await self._answer(asked, request)
        if asked.keep:
            self._kept.keep(response_id(response, asked), [*asked.conversation, response])
        headers = _request_id(asked)
        if asked.stream:
            headers = (EVENTS, (b"cache-control", b"no-cache"), *headers)
            return HttpReply(200, headers=headers, stream=streamed(dialect.events(response, asked)))
        return _json(dialect.render(response, asked), headers)

    def _listed(self, path: str, request: HttpRequest) -> HttpReply:
        anthropic = _speaks_anthropic(path, request)
        if path == MODELS:
            return _json(anthropic_models(self._models) if anthropic else openai_models(self._models))
        name = unquote(path.removeprefix(f"{MODELS}/"))
        if name not in self._models:
            raise UnknownModel(f"The model {name!r} is not served here.")
        return _json(anthropic_model(name) if anthropic else openai_model(name))


def _versioned(path: str) -> str:
    return path if path.startswith(f"{VERSION}/") else f"{VERSION}{path}"


def _speaks_anthropic(path: str, request: HttpRequest) -> bool:
    """By the path where it says so, else by the header all clients of that API send."""
    return path.startswith("/v1/messages") or request.header(b"anthropic-version") is not None


def _request_id(asked: Asked) -> tuple[Header, ...]:
    value = f"req_{asked.identity}".encode()
    return (b"x-request-id", value), (b"request-id", value)


def _json(body: dict[str, Any], headers: tuple[Header, ...] = (), status: int = 200) -> HttpReply:
    return HttpReply(status, json_text(body).encode(), (JSON, *headers))


def _refused(refusal: Refusal, refuse: Callable[[Refusal], dict[str, Any]]) -> HttpReply:
    headers: list[Header] = []
    if refusal.allow is not None:
        headers.append((b"allow", refusal.allow.encode()))
    if refusal.retry_after_s is not None and math.isfinite(refusal.retry_after_s):
        headers.append((b"retry-after", str(math.ceil(refusal.retry_after_s)).encode()))
    if refusal.final:
        # Both official clients obey it, whatever the status.
        headers.append((b"x-should-retry", b"false"))
    return _json(refuse(refusal), tuple(headers), refusal.status)
