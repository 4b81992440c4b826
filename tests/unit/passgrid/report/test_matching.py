"""Which arm is compared with which: the nearest, and only where that is clear."""

from __future__ import annotations

from passgrid.report.matching import match_arms
from tests.unit.passgrid.report.arms import name

OLD, NEW = "old", "new"


def test_arms_that_are_alike_in_every_axis_are_paired() -> None:
    base = [name("a", OLD), name("b", OLD)]
    found = match_arms(base, [name("b", NEW), name("a", NEW)])
    assert found.pairs == ((base[1], name("b", NEW)), (base[0], name("a", NEW)))
    assert found.unmatched == ()


def test_another_model_goes_to_the_arm_with_the_same_prompt() -> None:
    base = [name("a", OLD, prompt="plain"), name("a", OLD, prompt="careful")]
    new = [name("b", NEW, prompt="careful"), name("b", NEW, prompt="plain")]
    assert match_arms(base, new).pairs == ((base[1], new[0]), (base[0], new[1]))


def test_what_has_an_equal_leaves_the_other_for_what_has_none() -> None:
    base = [name("a", OLD), name("b", OLD)]
    new = [name("a", NEW), name("c", NEW)]
    assert match_arms(base, new).pairs == ((base[0], new[0]), (base[1], new[1]))


def test_equally_near_arms_are_not_chosen_from_and_that_is_said() -> None:
    found = match_arms([name("a", OLD), name("b", OLD)], [name("c", NEW)])
    assert found.pairs == ()
    assert "c, plain: 2 arms of the baseline are equally near to it, by model" in found.unmatched[0]
    assert len(found.unmatched) == 3


def test_of_equally_near_arms_that_of_the_same_run_is_taken() -> None:
    base = [name("a", OLD), name("a", NEW)]
    assert match_arms(base, [name("b", NEW)]).pairs == ((base[1], name("b", NEW)),)


def test_a_single_arm_is_compared_whatever_differs() -> None:
    base, new = name("a", OLD), name("b", NEW, prompt="careful", target="v2")
    assert match_arms([base], [new]).pairs == ((base, new),)
