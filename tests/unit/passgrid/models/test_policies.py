"""Scripted models are found in the source of a suite; none of it is run."""

from __future__ import annotations

import pytest

from passgrid.models.policies import policy_names
from passgrid.suite_code import BrokenSuiteCode

SOURCE = b"""
import passgrid
from passgrid import policy
raise SystemExit("this is not run")

@policy("careful")
def one(turn): ...

@passgrid.policy("hasty")
async def two(turn): ...

@other("no")
@policy
def three(turn): ...
"""


def test_marked_functions_are_found_and_nothing_is_run() -> None:
    assert policy_names("policies.py", SOURCE) == {"careful", "hasty"}


def test_a_file_that_does_not_parse_names_its_line() -> None:
    with pytest.raises(BrokenSuiteCode, match=r"policies\.py.*line 1"):
        policy_names("policies.py", b"def (")
