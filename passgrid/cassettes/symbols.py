"""What the tokens of a recording or a session stand for: the place that made them, so that ids can be followed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from passgrid.cassettes.canonical import canonical_arguments
from passgrid.cassettes.volatile import RULED, rewritten
from passgrid.json_values import is_array, is_object

ID = "{id:"
"""How the symbol of an id begins that a suite's rules name: its value may mean something else elsewhere."""


@dataclass(frozen=True, slots=True)
class Spelled:
    """Arguments in canonical form, in two spellings."""

    literal: bytes | None
    """As they are; None where they hold an id that may mean something else elsewhere."""
    symbolic: bytes
    """With what every token stands for in its place."""
    fresh: Mapping[str, str]
    """Tokens nobody has seen before, by place."""


class Symbols:
    """From token to symbol, and back."""

    def __init__(self) -> None:
        self.of_token: dict[str, str] = {}
        self.value_of: dict[str, Any] = {}
        self._said = ""

    def copy(self) -> Symbols:
        """One that can be changed without this one."""
        other = Symbols()
        other.of_token, other.value_of, other._said = dict(self.of_token), dict(self.value_of), self._said
        return other

    def bind(self, token: Any, symbol: str) -> None:
        """A token stands for the first symbol it is given."""
        if self.of(token) is None:
            self.of_token[str(token)] = symbol
            self.value_of.setdefault(symbol, token)

    def said(self, text: str) -> None:
        """What people say: tokens in it stand for themselves."""
        self._said += "\n" + text

    def of(self, token: Any) -> str | None:
        """What a token stands for; None for one nobody has seen before."""
        text = str(token)
        return self.of_token.get(text) or (text if text in self._said else None)

    def spelled(self, arguments: Any, ruled: Collection[str] = ()) -> Spelled:
        """Arguments of a call, with the tokens known so far."""
        fresh: dict[str, str] = {}
        ids = False

        def stands_for(place: str, kind: str, token: Any) -> Any:
            known = self.of(token)
            if known is None and not str(token).startswith(ID):
                fresh[place] = str(token)
            return known if known is not None and kind != RULED else f"<{kind}>"

        def an_id(value: Any) -> Any:
            nonlocal ids
            symbol = self.of_token.get(str(value), "")
            ids |= symbol.startswith(ID)
            return symbol if symbol.startswith(ID) else value

        symbolic = rewritten(_scalars(arguments, an_id), stands_for, ruled)
        return Spelled(None if ids else canonical_arguments(arguments), canonical_arguments(symbolic), fresh)

    def learn(self, answer: Any, node: str, ids: Collection[str]) -> None:
        """The tokens of an answer that nobody has seen before stand for their places in it."""

        def remember(place: str, kind: str, token: Any) -> Any:
            self.bind(token, f"{ID if kind == RULED else '{'}{node}/{place}}}")
            return token

        rewritten(answer, remember, ids)


def _scalars(value: Any, change: Any) -> Any:
    if is_object(value):
        return {key: _scalars(item, change) for key, item in value.items()}
    if is_array(value):
        return [_scalars(item, change) for item in value]
    return value if value is None or isinstance(value, bool) else change(value)
