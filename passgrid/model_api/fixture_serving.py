"""Answers requests from the entries of fixture files."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import parse_qs, unquote

from pydantic_ai.messages import ModelResponse

from passgrid.endings import ReplayMiss
from passgrid.model_api.asked import Asked
from passgrid.model_api.fixture_matching import Seen, choose, seen
from passgrid.model_api.fixture_turns import FixtureMatch, FixtureTurn
from passgrid.model_api.refusals import Refusal, Refused
from passgrid.wire.http import HttpRequest

CONTEXT_HEADER = b"x-aimock-context"
TEST_HEADER = b"x-test-id"
MOST_TESTS = 1_000


class FixtureTurns:
    """Gives the turn of the entry that fits; how often conditions held is counted for each test id of its own.

    The header `x-test-id` names the test, or `testId` in the query. At most `most_tests` are counted, the oldest goes.

    Raises:
        ReplayMiss: no entry fits.
        Refused: the entry is an error.
    """

    def __init__(self, turns: Iterable[FixtureTurn], *, most_tests: int = MOST_TESTS) -> None:
        self._turns = tuple(turns)
        self._most = most_tests
        self._counts: OrderedDict[str, Counter[FixtureMatch]] = OrderedDict()

    async def __call__(self, asked: Asked, request: HttpRequest) -> ModelResponse:
        """The scripted turn."""
        context = request.header(CONTEXT_HEADER) or None
        counts = self._of_test(_test_id(request))
        sight = seen(asked, context)
        turn = choose(self._turns, sight, counts)
        if turn is None:
            raise ReplayMiss(_reason(sight, len(self._turns)))
        self._count(turn.match, counts)
        if isinstance(turn.answer, Refusal):
            raise Refused(turn.answer)
        return turn.answer.response(asked)

    def forget(self, test_id: str | None = None) -> None:
        """Start counting anew, for one test or for all."""
        if test_id is None:
            self._counts.clear()
        else:
            self._counts.pop(test_id, None)

    def _of_test(self, test_id: str) -> Counter[FixtureMatch]:
        counts = self._counts.setdefault(test_id, Counter())
        while len(self._counts) > self._most:
            self._counts.popitem(last=False)
        return counts

    def _count(self, match: FixtureMatch, counts: Counter[FixtureMatch]) -> None:
        """Entries that differ in nothing but the number in the sequence are counted together."""
        if match.sequence_index is None:
            return
        alike = replace(match, sequence_index=None)
        for other in {turn.match for turn in self._turns}:
            if other.sequence_index is not None and replace(other, sequence_index=None) == alike:
                counts[other] += 1


def _test_id(request: HttpRequest) -> str:
    named = request.header(TEST_HEADER)
    if named:
        return unquote(named)
    return parse_qs(request.query.decode("latin-1")).get("testId", [""])[0]


def _reason(sight: Seen, entries: int) -> str:
    said = "none" if sight.user_text is None else repr(sight.user_text[:80])
    result = sight.last_result
    ending = f", ending with the result of call {result.call_id!r}" if result else ""
    return (
        f"model turn {sight.turns + 1}: none of {entries} fixtures answers model {sight.model!r}, "
        f"last user message {said}{ending}"
    )
