"""A JSON object of a request, read field by field; what is wrong is noted with its place, and reading goes on."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import orjson

from passgrid.json_values import is_array, is_object
from passgrid.model_api.asked import InvalidBody
from passgrid.problems import Problem
from passgrid.storable import storable


class Fields:
    """Reads one object. A null is taken for an absent field, as clients send it."""

    def __init__(self, value: Mapping[str, Any], place: str, problems: list[Problem]) -> None:
        self._value = value
        self._place = place
        self._problems = problems

    def __contains__(self, name: str) -> bool:
        return self._value.get(name) is not None

    @property
    def names(self) -> list[str]:
        """The fields that are there."""
        return [name for name in self._value if name in self]

    @property
    def nulls(self) -> list[str]:
        """The fields that are null."""
        return [name for name, value in self._value.items() if value is None]

    def raw(self, name: str) -> Any:
        """A field as it came, None where it is absent."""
        return self._value.get(name)

    def place(self, name: str) -> str:
        """Where a field stands, as problems name it."""
        return f"{self._place}.{name}" if self._place else name

    def refuse(self, name: str, message: str) -> None:
        """Note a problem of a field."""
        self._problems.append(Problem(self.place(name), message))

    def text(self, name: str, *, required: bool = False) -> str | None:
        """A text."""
        return self._typed(name, str, "a string", required)

    def needed_text(self, name: str) -> str:
        """A text that must be there; empty where it is not, with the problem noted."""
        return self.text(name, required=True) or ""

    def flag(self, name: str) -> bool | None:
        """True or false."""
        return self._typed(name, bool, "true or false", False)

    def number(self, name: str) -> float | None:
        """A number."""
        value = self._value.get(name)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            return value
        return self._wrong(name, "a number")

    def whole(self, name: str, *, required: bool = False, least: int | None = None) -> int | None:
        """A whole number."""
        value = self._value.get(name)
        if value is None and not required:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            return self._wrong(name, "a whole number")
        if least is not None and value < least:
            return self._wrong(name, f"at least {least}")
        return value

    def choice(self, name: str, allowed: Collection[str]) -> str | None:
        """One text out of a few."""
        value = self.text(name)
        if value is not None and value not in allowed:
            return self._wrong(name, f"one of {', '.join(sorted(allowed))}")
        return value

    def texts(self, name: str) -> list[str] | None:
        """A list of texts, or one alone."""
        value = self._value.get(name)
        if value is None:
            return None
        items: list[Any] = value if is_array(value) else [value]
        if not all(isinstance(item, str) for item in items):
            return self._wrong(name, "a string or a list of strings")
        return items

    def object(self, name: str, *, required: bool = False) -> Fields | None:
        """An object, to be read on."""
        value = self._typed(name, dict, "an object", required)
        return None if value is None else Fields(value, self.place(name), self._problems)

    def mapping(self, name: str) -> dict[str, Any] | None:
        """An object taken as it is."""
        return self._typed(name, dict, "an object", False)

    def objects(self, name: str, *, required: bool = False) -> list[Fields]:
        """A list of objects, to be read on; what is no object is noted and left out."""
        value: list[Any] | None = self._typed(name, list, "a list", required)
        items: list[Fields] = []
        for i, item in enumerate(value or ()):
            if is_object(item):
                items.append(Fields(item, f"{self.place(name)}[{i}]", self._problems))
            else:
                self._problems.append(Problem(f"{self.place(name)}[{i}]", "must be an object"))
        return items

    def only(self, known: Collection[str], remedy: str) -> None:
        """Refuse every field that is not known here: none is silently without effect."""
        for name in self.names:
            if name not in known:
                self.refuse(name, remedy)

    def _typed(self, name: str, kind: type[Any], told: str, required: bool) -> Any:
        value = self._value.get(name)
        if value is None:
            return self._wrong(name, f"given: {told}") if required else None
        return value if isinstance(value, kind) else self._wrong(name, told)

    def _wrong(self, name: str, wanted: str) -> None:
        self.refuse(name, f"must be {wanted}")


def read_json(body: bytes) -> Any:
    """The JSON of a request body, also such as no strict reader takes (lone surrogates, NaN): marked, not lost.

    Raises `InvalidBody` where it is no JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        pass
    try:
        return storable(json.loads(body))
    except (ValueError, RecursionError):
        raise InvalidBody([Problem("", "the body is not JSON")]) from None


def root_fields(body: Any, problems: list[Problem]) -> Fields:
    """The fields of a whole body; raises `InvalidBody` where it is no object."""
    if not is_object(body):
        raise InvalidBody([Problem("", "the body must be a JSON object")])
    return Fields(body, "", problems)
