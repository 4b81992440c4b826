"""The transcript: every message in order. All of it is foreign text, shown as text or code, never as markup."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard.number_text import count
from dashboard.plain_text import label, visible
from passgrid.transcript import Message

MOST_MESSAGES = 200
MOST_CHARACTERS = 50_000
"""Of one text: beyond it a browser is slowed down for nothing."""
_LONG = 700
_LONG_LINES = 14
"""A result or arguments beyond it are folded."""
_LONG_SPEECH = 3_000
_SHORT = 110
"""Arguments up to this many characters stand in one line."""
_COLOURED = 5_000
"""Up to this many characters code is coloured."""
_ROLES = {"system": "System prompt", "user": "User", "assistant": "Assistant", "tool": "Tool"}


def transcript_view(messages: Sequence[Message]) -> None:
    """Messages by role; long ones folded."""
    st.subheader("Transcript")
    if not messages:
        st.caption("No message was kept of this attempt.")
        return
    shown = messages
    if len(messages) > MOST_MESSAGES and not st.toggle(f"Show all {count(len(messages))} messages"):
        shown = messages[:MOST_MESSAGES]
    for number, message in enumerate(shown, 1):
        with st.container(border=True, gap="small"):
            _message(number, message)
    if len(shown) < len(messages):
        st.caption(f"The first {MOST_MESSAGES} of {count(len(messages))} messages.")


def _message(number: int, message: Message) -> None:
    role = str(message.get("role", ""))
    _heading(number, role, message)
    for thought in _list(message.get("thinking")):
        with st.expander("Thinking"):
            _text(str(thought))
    content = message.get("content")
    if role == "tool":
        _folded("Result", pretty(content), as_code=True)
        if "told" in message:
            st.caption("What the agent told its model of it:")
            _folded("Told", pretty(message["told"]), as_code=True)
    elif isinstance(content, str):
        if role == "system":
            _folded("Text", content, most=0)
        else:
            _folded("Text", content, most=_LONG_SPEECH)
    elif content is not None:
        _folded("Content", pretty(content), as_code=True)
    calls = _list(message.get("tool_calls"))
    for call in calls:
        _call(call)
    if content in (None, "") and not calls and role == "assistant":
        st.caption("Said nothing.")


def _heading(number: int, role: str, message: Message) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        title = _ROLES.get(role, role or "unknown role")
        name = f" {label(str(message.get('name')), 80)}" if role == "tool" else ""
        st.markdown(f"**{label(title)}**{name}", width="content")
        if message.get("outcome"):
            st.badge(f"tool error: {label(str(message['outcome']), 40)}", color="red")
        if message.get("library"):
            st.badge(f"written by the agent library: {label(str(message['library']), 40)}", color="gray")
        st.caption(f"\\#{number}", width="content")


def _call(call: Any) -> None:
    name = call.get("name") if isinstance(call, dict) else call  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    arguments = call.get("arguments") if isinstance(call, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    st.markdown(f"calls **{label(str(name), 80)}**")  # pyright: ignore[reportUnknownArgumentType]
    if arguments not in (None, {}, ""):
        _folded("Arguments", pretty(arguments, short=True), as_code=True)


def pretty(content: Any, *, short: bool = False) -> str:
    """JSON with indents where it is some, also inside of a text; else the text as it is."""
    if isinstance(content, str):
        if len(content) > 4 * MOST_CHARACTERS or content.lstrip()[:1] not in ("{", "["):
            return content
        try:
            content = json.loads(content)
        except (ValueError, RecursionError):
            return content
    try:
        flat = json.dumps(content, ensure_ascii=False)
        return flat if short and len(flat) <= _SHORT else json.dumps(content, indent=2, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(content)


def _folded(title: str, text: str, *, as_code: bool = False, most: int = _LONG) -> None:
    """Short texts at once, long ones behind a click."""
    lines = text.count("\n") + 1
    if not text:
        st.caption("Empty.")
        return
    if len(text) <= most and (lines <= _LONG_LINES or not as_code):
        _code(text) if as_code else _text(text)
        return
    with st.expander(f"{title}: {count(len(text))} characters, {count(lines)} lines"):
        _code(text[:MOST_CHARACTERS]) if as_code else _text(text[:MOST_CHARACTERS])
        if len(text) > MOST_CHARACTERS:
            st.caption(f"The first {count(MOST_CHARACTERS)} of {count(len(text))} characters.")


def _text(text: str) -> None:
    st.text(visible(text))


def _code(text: str) -> None:
    coloured = text[:1] in ("{", "[") and len(text) <= _COLOURED
    st.code(visible(text), language="json" if coloured else None, wrap_lines=True)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]
