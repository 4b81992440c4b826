"""What of a tape answers what: every message of a client, with all the server did about it, in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from passgrid.tapes.era import DISCOVER, INITIALIZE
from passgrid.tapes.frames import (
    Body,
    Frame,
    frame_id,
    is_answer,
    is_notification,
    is_request,
    params_of,
    progress_token,
)

CANCELLED = "notifications/cancelled"
PROGRESS = "notifications/progress"
LISTEN = "subscriptions/listen"

ERA_METHODS = frozenset({INITIALIZE, DISCOVER})
"""Asked once a session by whatever client replays it: their parameters say who the client is."""


@dataclass(slots=True)
class Reaction:
    """One message of the server."""

    body: Body
    reply: Body | None = None
    """What the client answered, where it is a request and the client did."""


@dataclass(slots=True)
class Exchange:
    """One request or notification of the client, and what came of it."""

    at: int
    """Its position among the tape's frames."""
    body: Body
    number: int | None
    """The HTTP exchange it was in, where the transport has such."""
    answer_at: int | None = None
    cancelled_at: int | None = None
    reactions: list[Reaction] = field(default_factory=list[Reaction])
    """The answer, if there is one, is among them."""

    @property
    def answered(self) -> bool:
        """Whether the client had an answer before it gave up."""
        return self.answer_at is not None and (self.cancelled_at is None or self.answer_at < self.cancelled_at)

    def waits_at(self, position: int) -> bool:
        """Whether it is a request that was being worked on at this position of the tape."""
        ends = [end for end in (self.answer_at, self.cancelled_at) if end is not None]
        return "id" in self.body and self.at < position and position < min(ends, default=position + 1)


def request_key(body: Body) -> tuple[str, str]:
    """What makes two requests the same: the method, and its parameters without `_meta` in canonical form."""
    method = body["method"]
    if method in ERA_METHODS:
        return method, ""
    params = {name: value for name, value in params_of(body).items() if name != "_meta"}
    return method, json.dumps(_plain(params), sort_keys=True, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """`1` equals `1.0`, as in cassettes."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [_plain(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def exchanges_of(frames: Sequence[Frame]) -> list[Exchange]:
    """Every exchange of a tape, in the order in which they began."""
    exchanges = list(_begun(frames))
    answers = _matched(frames, exchanges)
    replies = _replies(frames)
    for at, frame in enumerate(frames):
        if frame.sender != "server" or frame.body is None:
            continue
        owner = answers.get(at) if is_answer(frame.body) else _owner(at, frame, exchanges)
        # A client that gave up does not read the answer that comes later.
        if owner is not None and not (is_answer(frame.body) and not owner.answered):
            owner.reactions.append(Reaction(frame.body, replies.get(at)))
    return exchanges


def _begun(frames: Sequence[Frame]) -> Iterator[Exchange]:
    for at, frame in enumerate(frames):
        if frame.sender == "client" and frame.body is not None and "method" in frame.body:
            yield Exchange(at, frame.body, frame.exchange)


def _matched(frames: Sequence[Frame], exchanges: Sequence[Exchange]) -> dict[int, Exchange]:
    """Fills in where each exchange was answered or cancelled; the answers by their position."""
    begun = {exchange.at: exchange for exchange in exchanges}
    waiting: dict[str, list[Exchange]] = {}
    answers: dict[int, Exchange] = {}
    for at, frame in enumerate(frames):
        body = frame.body
        if body is None:
            continue
        if frame.sender == "client" and is_request(body):
            waiting.setdefault(frame_id(body), []).append(begun[at])
        elif frame.sender == "client" and body.get("method") == CANCELLED:
            for exchange in waiting.get(str(params_of(body).get("requestId")), []):
                exchange.cancelled_at = at
        elif frame.sender == "server" and is_answer(body) and (open_ := waiting.get(frame_id(body))):
            exchange = next((one for one in open_ if one.number == frame.exchange), open_[0])
            open_.remove(exchange)
            exchange.answer_at = at
            answers[at] = exchange
    return answers


def _replies(frames: Sequence[Frame]) -> dict[int, Body]:
    """What the client answered to each request of the server, by the position of the request."""
    waiting: dict[str, list[int]] = {}
    replies: dict[int, Body] = {}
    for at, frame in enumerate(frames):
        if frame.body is None:
            continue
        if frame.sender == "server" and is_request(frame.body):
            waiting.setdefault(frame_id(frame.body), []).append(at)
        elif frame.sender == "client" and is_answer(frame.body) and (asked := waiting.get(frame_id(frame.body))):
            replies[asked.pop(0)] = frame.body
    return replies


def _owner(at: int, frame: Frame, exchanges: Sequence[Exchange]) -> Exchange | None:
    """The exchange that a notification or request of the server belongs to.

    The HTTP exchange or the progress token say it. Else it is the one of those being worked on that was answered
    first, so that what came before an answer does so again; and where there is none, whatever the client sent last.
    """
    before = [exchange for exchange in exchanges if exchange.at < at]
    if frame.exchange is not None and (same := [one for one in before if one.number == frame.exchange]):
        return same[-1]
    body = frame.body or {}
    if body.get("method") == PROGRESS:
        token = params_of(body).get("progressToken")
        if told := [one for one in before if token is not None and progress_token(one.body) == token]:
            return told[-1]
    working = [one for one in before if one.waits_at(at) and one.body["method"] != LISTEN]
    if working:
        return min(working, key=lambda one: (one.answer_at is None, one.answer_at or 0, -one.at))
    lasting = [one for one in before if not (is_notification(one.body) and one.body["method"] == CANCELLED)]
    return lasting[-1] if lasting else next(iter(exchanges), None)
