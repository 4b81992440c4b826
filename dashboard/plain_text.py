"""Foreign text, made safe and visible: what tools, models and submitters wrote is never markup here."""

from __future__ import annotations

import re

_CONTROLS = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"} | {
    0x7F: "␡",
    **{code: f"⟨U+{code:04X}⟩" for code in (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A))},
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|<>~$&^=-])")
_DIRECTIVE = re.compile(r":(?=[\w/+-]+[:\[])")


def visible(text: str) -> str:
    """The text with control and direction characters shown instead of obeyed; for widgets that show plain text."""
    return text.translate(_CONTROLS)


def one_line(text: str, most: int = 200) -> str:
    """Visible, without line breaks, and not longer than `most` characters."""
    flat = " ".join(visible(text[: 4 * most]).split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def label(text: str, most: int = 200) -> str:
    """For a place that reads markdown (link, badge, expander): every sign of markup escaped."""
    return _MARKUP.sub(r"\\\1", _DIRECTIVE.sub(":\u2060", one_line(text, most)))
