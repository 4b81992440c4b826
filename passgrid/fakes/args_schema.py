"""Arguments that a JSON Schema describes. A schema is somebody's input: it opens no address and no file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from passgrid.fakes.equality import first_difference
from passgrid.json_values import is_array, is_object


class UnusableSchema(ValueError):
    """This is no JSON Schema, or refers to what is not in it; the message says what."""


@dataclass(frozen=True)
class ArgsSchema:
    """Matches arguments that are valid under a JSON Schema."""

    schema: Mapping[str, Any]

    @cached_property
    def _validator(self) -> Any:
        # 60 ms of imports that only files with such an entry need.
        from jsonschema import validators
        from referencing import Registry

        # An empty registry fetches nothing.
        return validators.validator_for(self.schema)(self.schema, registry=Registry())

    def check(self) -> None:
        """Raises `UnusableSchema`."""
        from jsonschema import validators
        from referencing import Registry, Resource
        from referencing.jsonschema import DRAFT202012

        try:
            validators.validator_for(self.schema).check_schema(dict(self.schema))
            resource = Resource.from_contents(self.schema, default_specification=DRAFT202012)
            empty: Any = Registry
            resolver = empty().with_resource("", resource).resolver("")
            for reference in _references(self.schema):
                resolver.lookup(reference)
        except Exception as error:
            raise UnusableSchema(str(error).partition("\n")[0][:300]) from error

    def matches(self, arguments: Any) -> bool:
        """Whether they are valid."""
        return is_object(arguments) and self._validator.is_valid(arguments)

    def difference(self, arguments: Any) -> str | None:
        """The first thing that is not."""
        if not is_object(arguments):
            return first_difference({}, arguments)
        error = next(iter(self._validator.iter_errors(arguments)), None)
        return None if error is None else f"{error.json_path}: {error.message}"[:1000]

    def distance(self, arguments: Any) -> int:
        """How many things are not."""
        return sum(1 for _ in self._validator.iter_errors(arguments)) if is_object(arguments) else 1

    def shown(self) -> dict[str, Any]:
        """As it was declared."""
        return {"argsMatching": {"schema": self.schema}}


def _references(value: Any) -> Iterator[str]:
    if is_object(value):
        for name, inner in value.items():
            if name in {"$ref", "$dynamicRef"} and isinstance(inner, str):
                yield inner
            yield from _references(inner)
    elif is_array(value):
        for inner in value:
            yield from _references(inner)
