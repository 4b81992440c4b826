"""Tokens and roles."""

from __future__ import annotations

import pytest

from passgrid.access import Token


def test_a_token_is_read_back_as_it_was_shown() -> None:
    made = Token.new()
    read = Token.parse(made.text)
    assert read == made
    assert made.fits(made.secret_hash)
    assert len(made.secret) == 64, "256 bits in hex"


def test_two_tokens_are_never_the_same() -> None:
    one, other = Token.new(), Token.new()
    assert one.text != other.text
    assert not one.fits(other.secret_hash)


def test_a_token_does_not_show_its_secret_by_accident() -> None:
    made = Token.new()
    assert made.secret not in f"{made!r} {made}"
    assert made.secret not in made.secret_hash


@pytest.mark.parametrize(
    "text", ["", "pg_", "pg_x_y", "PG_" + "0" * 12 + "_" + "0" * 64, "pg_" + "0" * 12 + "_" + "0" * 64 + "\n", "é"]
)
def test_what_is_no_token_is_none(text: str) -> None:
    assert Token.parse(text) is None
