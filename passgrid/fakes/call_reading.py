"""From the JSON of a declared call to an entry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from passgrid.fakes.args_schema import ArgsSchema, UnusableSchema
from passgrid.fakes.blocks import AnyArgs, Args, Entry, Matcher
from passgrid.fakes.load_errors import Rule
from passgrid.fakes.results import UnusableResult, tool_error, tool_result
from passgrid.json_values import is_object
from passgrid.storable import storable_text

_KEYS = ("id", "args", "anyArgs", "argsMatching", "result", "error", "delayMs", "times")
_MATCHERS = ("args", "anyArgs", "argsMatching")
LONGEST_DELAY_MS = 600_000
LONGEST_NAME = 500


class Complain(Protocol):
    """Says what is wrong with the call at hand."""

    def __call__(self, rule: Rule, message: str, entry: str | None = None) -> None:
        """A rule is broken."""
        ...


def read_call(call: Any, prefix: str, position: str, bad: Complain) -> Entry | None:
    """The entry; None where mistakes leave none. `prefix` and its id, or else its position, make its id."""
    own: Any = call.get("id") if is_object(call) else None
    entry_id = prefix + (own if isinstance(own, str) and own else position)

    def complain(rule: Rule, message: str) -> None:
        bad(rule, message, entry_id)

    if not is_object(call):
        complain(Rule.WRONG_TYPE, "a call is an object")
        return None
    for key in call:
        if key not in _KEYS:
            complain(Rule.UNKNOWN_KEY, f"a call has no key {key!r}; it has {', '.join(_KEYS)}")
    if isinstance(own, str) and not usable_name(own):
        complain(Rule.BAD_CALL, f"id must have at most {LONGEST_NAME} characters of plain text")
    if "id" in call and not (isinstance(own, str) and own):
        complain(Rule.BAD_CALL if own == "" else Rule.WRONG_TYPE, "id must be a non-empty string")
    matcher = _matcher(call, complain)
    result = _result(call, complain)
    times, delay = _times(call, complain), _delay(call, complain)
    return None if matcher is None or result is None else Entry(entry_id, matcher, result, times, delay)


def usable_name(text: str) -> bool:
    """Whether it can be a key in a database and in a message: short, without NUL and lone surrogates."""
    return len(text) <= LONGEST_NAME and "\0" not in text and text.isprintable() and storable_text(text) == text


class _Tell(Protocol):
    def __call__(self, rule: Rule, message: str) -> None: ...


def _matcher(call: Mapping[str, Any], complain: _Tell) -> Matcher | None:
    given = [key for key in _MATCHERS if key in call]
    if len(given) != 1:
        complain(
            Rule.BAD_CALL, f"a call has exactly one of {', '.join(_MATCHERS)}, this has {' and '.join(given) or 'none'}"
        )
    if "anyArgs" in call and call["anyArgs"] is not True:
        complain(Rule.ANY_ARGS, "anyArgs must be true; for particular arguments write args")
        return None
    if "args" in call and not is_object(call["args"]):
        complain(Rule.WRONG_TYPE, "args must be an object; {} stands for none")
        return None
    if len(given) != 1:
        return None
    if "args" in call:
        return Args(call["args"])
    return _matching(call["argsMatching"], complain) if "argsMatching" in call else AnyArgs()


def _matching(declared: Any, complain: _Tell) -> Matcher | None:
    kind = next(iter(declared)) if is_object(declared) and len(declared) == 1 else None
    if kind not in ("partial", "schema") or not is_object(declared[kind]):
        complain(Rule.BAD_CALL, 'argsMatching must be {"partial": {…}} or {"schema": {…}}')
        return None
    if kind == "partial":
        return Args(declared["partial"], partial=True)
    schema = ArgsSchema(declared["schema"])
    try:
        schema.check()
    except UnusableSchema as error:
        complain(Rule.BAD_CALL, f"argsMatching.schema cannot be used: {error}")
        return None
    return schema


def _result(call: Mapping[str, Any], complain: _Tell) -> Mapping[str, Any] | None:
    if ("result" in call) == ("error" in call):
        complain(Rule.BAD_CALL, "a call has exactly one of result, error")
        if "result" not in call:
            return None
    if "error" in call:
        if not isinstance(call["error"], str):
            complain(Rule.WRONG_TYPE, "error must be a string")
            return None
        return tool_error(call["error"])
    if call["result"] is None:
        complain(Rule.WRONG_TYPE, "result must not be null")
        return None
    try:
        return tool_result(call["result"])
    except UnusableResult as error:
        complain(Rule.BAD_CALL, str(error))
        return None


def _times(call: Mapping[str, Any], complain: _Tell) -> int:
    times = call.get("times", 1)
    if isinstance(times, bool) or not isinstance(times, int) or not 1 <= times < 2**31:
        complain(Rule.BAD_CALL, "times must be a whole number from 1")
        return 1
    return times


def _delay(call: Mapping[str, Any], complain: _Tell) -> float:
    delay = call.get("delayMs", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0 <= delay <= LONGEST_DELAY_MS:
        complain(Rule.BAD_CALL, f"delayMs must be a number from 0 to {LONGEST_DELAY_MS}")
        return 0
    return float(delay)
