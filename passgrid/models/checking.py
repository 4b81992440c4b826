"""Whether the live models of a matrix can be made at all, before anything is submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from passgrid.library import Suite
from passgrid.matrix import Cell
from passgrid.model_reference import ModelReference
from passgrid.models.live import UnusableModel, check_provider
from passgrid.models.policies import policy_names
from passgrid.models.prices import price_by_name
from passgrid.models.scripted import POLICIES_FILE
from passgrid.problems import Problem
from passgrid.suite_code import BrokenSuiteCode


def budget_problems(models: Sequence[ModelReference], allow_unpriced: bool) -> list[Problem]:
    """Models whose requests cannot be bounded by a budget: their output has no limit, or no price is known."""
    problems: list[Problem] = []
    for model in models:
        if model.scripted or model.recorded:
            continue
        place = f"--model {model} --budget"
        if "max_tokens" not in dict(model.settings):
            joint = "&" if model.settings else "?"
            remedy = f"for example --model '{model}{joint}max_tokens=2000'"
            problems.append(Problem(place, "the output of a request has no bound, so neither has its cost", remedy))
        if not allow_unpriced and price_by_name(model.provider.partition("-")[0], model.name, 1000, 1000) is None:
            problems.append(Problem(place, "no price is known for it", "let it run with --allow-unpriced"))
    return problems


def model_problems(cells: Sequence[Cell], suites: Mapping[str, Suite]) -> list[Problem]:
    """Unknown providers and unknown policies, each once."""
    return _unusable({(cell.suite, cell.arm.model, f"--model {cell.arm.model}") for cell in cells}, suites)


def judge_problems(cells: Sequence[Cell], suites: Mapping[str, Suite]) -> list[Problem]:
    """The same of the models that judge."""
    judged = [(cell, cell.scenario.judge) for cell in cells]
    return _unusable(
        {
            (cell.suite, judge.reference, f"{cell.suite}/{cell.scenario.name}, judge {judge.model}")
            for cell, judge in judged
            if judge is not None
        },
        suites,
    )


def _unusable(models: set[tuple[str, ModelReference, str]], suites: Mapping[str, Suite]) -> list[Problem]:
    problems: list[Problem] = []
    for suite, model, place in sorted(models, key=str):
        try:
            if not model.scripted:
                check_provider(model)
                continue
            source = suites[suite].files.get(POLICIES_FILE)
            policies = set[str]() if source is None else policy_names(POLICIES_FILE, source)
        except (UnusableModel, BrokenSuiteCode) as error:
            problems.append(Problem(place, str(error)))
            continue
        if model.name not in policies:
            there = ", ".join(f"scripted:{name}" for name in sorted(policies)) or "none"
            problems.append(Problem(place, f"suite {suite} has no such policy; there are: {there}"))
    return problems
