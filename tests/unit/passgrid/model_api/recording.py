"""A recorded conversation of three model turns: thinking, parallel calls, an error, tokens."""

from __future__ import annotations

from passgrid.cassettes.format import Cassette

SYSTEM = "You count stock."
TOOLS = [
    {"server": "stock", "name": "get_article", "inputSchema": {"type": "object"}},
    {"server": "stock", "name": "get_price", "inputSchema": {"type": "object"}},
]
ARTICLE = {"sku": "HINGE-40", "quantity": 64, "price": 3.9, "tags": ["steel", None]}
LONG_TEXT = "There are 64 hinges, and each costs 3.90 euros – all of them are made of steel. 🙂"
THOUGHT = {"thinking": "I should look it up, twice.", "signature": "c2lnbmVk"}
USAGE = {"input": 120, "output": 35, "cache_read": 80, "cache_write": 16}


def recorded(sample: int = 0, last: str = LONG_TEXT, label: str = "good-model", thinking: bool = True) -> Cassette:
    return Cassette(
        scenario="count-stock",
        label=label,
        prompt="plain",
        sample=sample,
        source={"model": "x", "tool": "passgrid"},
        system=SYSTEM,
        tools=TOOLS,
        steps=(
            {"user": "How many hinges?"},
            {
                "model": {
                    "parts": [
                        *([THOUGHT] if thinking else []),
                        {"text": "Let me look."},
                        {"call": "get_article", "id": "call_1", "args": {"sku": "HINGE-40"}},
                        {"call": "get_price", "id": "call_2", "args": {"sku": "HINGE-40", "note": "ü" * 40}},
                    ],
                    "usage": USAGE,
                    "served": "good-model-2026",
                    "finish": "tool_call",
                }
            },
            {
                "calls": [
                    {"call": 0, "server": "stock", "result": ARTICLE, "answered": 1},
                    {"call": 1, "server": "stock", "error": "no price", "answered": 0},
                ]
            },
            {"model": {"parts": [{"text": last}], "usage": USAGE, "served": "good-model-2026", "finish": "stop"}},
            {"user": "Thanks. And screws?"},
            {"model": {"parts": [{"text": "None."}], "served": "good-model-2026", "finish": "length"}},
        ),
        ending={"outcome": "completed"},
    )
