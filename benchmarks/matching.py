"""How often sessions over recordings are answered, and whether the answers are true, over made-up servers.

python benchmarks/matching.py --sessions 10000 --json
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from random import Random

import orjson

from benchmarks.session_model import (
    Truth,
    answerable,
    keeps_dependencies,
    recorded,
    some_server,
    some_session,
    varied,
)
from passgrid.cassettes.session import NotRecorded, RecordedSession
from passgrid.cassettes.state_graph import StateGraph


@dataclass(frozen=True)
class Tried:
    """What came of one session."""

    answers: int
    untrue: int
    """Answers the server could not have given."""
    whole: bool
    """Whether every call was answered."""
    keeping: bool
    """Whether it keeps the declared dependencies."""
    answerable: bool
    """Whether every call was recorded with the same state of all it looks at."""


@dataclass
class Tally:
    """Sums over sessions."""

    sessions: int = 0
    answers: int = 0
    untrue: int = 0
    keeping: int = 0
    keeping_missed: int = 0
    other_answerable: int = 0
    other_answered: int = 0
    missed: int = 0

    def add(self, one: Tried) -> None:
        """Count one session."""
        self.sessions += 1
        self.answers += one.answers
        self.untrue += one.untrue
        self.keeping += one.keeping
        self.keeping_missed += one.keeping and not one.whole
        other = one.answerable and not one.keeping
        self.other_answerable += other
        self.other_answered += other and one.whole
        self.missed += not one.whole


def tried(random: Random) -> Tried:
    """A server, one to three recordings of it, and a session over them."""
    server = some_server(random)
    sessions = [some_session(random, server, random.randint(2, 7)) for _ in range(random.choice((1, 1, 2, 3)))]
    if random.random() < 0.5:
        sessions = [tuple((call,) for step in one for call in step) for one in sessions]
    cassettes = [recorded(random, server, one, i) for i, one in enumerate(sessions)]
    graph = StateGraph(cassettes, server.rules())
    session, truth, asked = RecordedSession(graph), Truth(server), varied(random, server, sessions)
    answers = untrue = 0
    whole = True
    for step in asked:
        try:
            served = session.answer(step)
        except NotRecorded:
            whole = False
            break
        answers += len(served)
        untrue += not truth.could_answer(step, [one.result for one in served])
    return Tried(
        answers,
        untrue,
        whole,
        keeps_dependencies(server, asked, sessions),
        answerable(server, asked, cassettes),
    )


def main() -> None:
    """Try many sessions and print the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    tally = Tally()
    for seed in range(options.sessions):
        tally.add(tried(Random(seed)))
    seconds = round(time.perf_counter() - started, 1)
    if options.json:
        print(orjson.dumps({**asdict(tally), "seconds": seconds}, option=orjson.OPT_INDENT_2).decode())
        return
    print(f"{tally.sessions} sessions, {tally.answers} answers, {tally.untrue} of them untrue")
    print(f"{tally.keeping} sessions keep the declared dependencies; {tally.keeping_missed} of them missed")
    print(f"{tally.other_answered} of {tally.other_answerable} other answerable sessions were answered whole")


if __name__ == "__main__":
    main()
