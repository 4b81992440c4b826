"""`passgrid prune`: a choice that says nothing, or too much, is refused before anything is touched."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from api.cli import main
from passgrid.problems import InvalidInput


def problems(*arguments: str) -> list[str]:
    done = CliRunner().invoke(main.make_app(), ["prune", *arguments])
    assert isinstance(done.exception, InvalidInput), done.output
    return [str(problem) for problem in done.exception.problems]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "nothing says which runs"),
        (("--label", "nightly-*"), "nothing says which runs"),
        (("--older-than", "soon"), "--older-than soon: is no length of time (write 12h, 30d or 8w)"),
        (("--older-than", "0d"), "is no length of time"),
        (("3f2a91c0", "--keep-last", "3"), "is named beside --older-than, --keep-last or --label"),
        (("--keep-last", "3", "--force"), "--force: is for runs that are named"),
    ],
)
def test_what_is_to_go_must_be_said_in_one_way(arguments: tuple[str, ...], expected: str) -> None:
    assert any(expected in problem for problem in problems(*arguments))
