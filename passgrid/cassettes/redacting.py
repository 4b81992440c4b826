"""Cassettes without secrets: before they are written, and those that were written before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from passgrid.cassettes.format import BrokenCassette, Cassette, write_cassette
from passgrid.redaction import Redactor


def redacted_cassette(cassette: Cassette, redactor: Redactor) -> Cassette:
    """The cassette with every secret replaced; names of scenario, label and prompt stay."""
    clean = redactor.value
    steps: Any = clean(list(cassette.steps))
    return replace(
        cassette,
        source=clean(dict(cassette.source)),
        system=clean(cassette.system),
        tools=clean(cassette.tools),
        steps=tuple(steps),
        ending=clean(dict(cassette.ending)),
        verdicts=clean(dict(cassette.verdicts)),
        workspace=clean(dict(cassette.workspace)),
        afterwards=clean(dict(cassette.afterwards)),
    )


def secrets_in(cassette: Cassette, redactor: Redactor) -> set[str]:
    """The kinds of secrets a cassette still holds."""
    return redactor.found(write_cassette(cassette).decode())


def refuse_secrets(cassette: Cassette, redactor: Redactor) -> None:
    """Raises `BrokenCassette` naming the kinds, never the secrets, where a cassette would still hold any."""
    if kinds := secrets_in(cassette, redactor):
        place = f"{cassette.label}/{cassette.prompt}/{cassette.scenario}/{cassette.sample}"
        raise BrokenCassette(
            f"the recording {place} would hold secrets ({', '.join(sorted(kinds))}) and is not written"
        )
