"""Which scripted models a suite has, read from its source: nothing of it is run."""

from __future__ import annotations

import ast

from passgrid.suite_code import BrokenSuiteCode

DECORATOR = "policy"


def policy_names(path: str, source: bytes) -> set[str]:
    """Names under which functions of a file are marked with `@policy("name")`.

    Raises `BrokenSuiteCode` where the file does not parse.
    """
    try:
        tree = ast.parse(source, filename=path)
    except (SyntaxError, ValueError) as error:
        raise BrokenSuiteCode(f"{path} cannot be loaded: {error}") from None
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {name for function in functions for node in function.decorator_list if (name := _marked(node))}


def _marked(decorator: ast.expr) -> str | None:
    """The name a decorator gives; None for any other decorator."""
    if not isinstance(decorator, ast.Call) or not decorator.args:
        return None
    called, first = decorator.func, decorator.args[0]
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    if name != DECORATOR or not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return None
    return first.value
