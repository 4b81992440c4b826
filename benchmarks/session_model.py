"""A made-up server that is known completely, recordings of it, and sessions over them, all from one seed.

The server holds variables. Each of its tools reads some and, where it writes, changes some; an answer is a digest of
the arguments and of what was read. So two answers are equal only where everything a tool looks at is, and whether a
session over recordings told the truth can be checked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias

from passgrid.cassettes.format import Cassette, Step
from passgrid.cassettes.matching import MatchingRules
from passgrid.cassettes.session import Call
from passgrid.identity import value_hash

State: TypeAlias = tuple[str, ...]
Session: TypeAlias = tuple[tuple[Call, ...], ...]
"""Steps of calls; several in one step overlap."""


@dataclass(frozen=True)
class Tool:
    """What a tool looks at, and what it changes."""

    name: str
    looks_at: tuple[int, ...]
    changes: tuple[int, ...]


@dataclass(frozen=True)
class Server:
    """The made-up server."""

    tools: Mapping[str, Tool]
    variables: int
    declared: bool
    """Whether a suite says what depends on what; else every answer is taken to depend on every write."""

    @property
    def start(self) -> State:
        """Before anything was called."""
        return ("",) * self.variables

    def call(self, state: State, call: Call) -> tuple[State, str]:
        """The state after a call, and its answer."""
        tool = self.tools[call.tool]
        seen = value_hash([call.tool, call.arguments, [state[i] for i in tool.looks_at]])[:12]
        changed = [f"{seen}.{i}" if i in tool.changes else value for i, value in enumerate(state)]
        return tuple(changed), seen

    def rules(self) -> MatchingRules:
        """What a suite says of it."""
        depends = {name: tuple(sorted(self.direct(name))) for name in self.tools} if self.declared else {}
        return MatchingRules(depends=depends)

    def direct(self, tool: str) -> set[str]:
        """The tools that change what `tool` looks at; every writing one where nothing is declared."""
        looks_at = set(self.tools[tool].looks_at)
        writing = {name for name, one in self.tools.items() if one.changes}
        return {name for name in writing if looks_at & set(self.tools[name].changes)} if self.declared else writing

    def relevant(self, tool: str) -> set[str]:
        """The same, through each other."""
        found: set[str] = set()
        while (more := found.union(self.direct(tool), *(self.direct(name) for name in found))) != found:
            found = more
        return found

    def listed(self) -> list[dict[str, Any]]:
        """As `tools/list` gives them."""
        return [
            {"name": tool.name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": not tool.changes}}
            for tool in self.tools.values()
        ]


def some_server(random: Random) -> Server:
    """A server with two to four reading and as many writing tools."""
    variables = random.randint(2, 4)
    tools: dict[str, Tool] = {}
    for i in range(random.randint(2, 4)):
        tools[f"read{i}"] = Tool(f"read{i}", _some(random, variables, 1), ())
    for i in range(random.randint(2, 4)):
        tools[f"write{i}"] = Tool(f"write{i}", _some(random, variables, 0), _some(random, variables, 1))
    return Server(tools, variables, declared=random.random() < 0.6)


def _some(random: Random, variables: int, least: int) -> tuple[int, ...]:
    return tuple(sorted(random.sample(range(variables), random.randint(least, min(2, variables)))))


def some_call(random: Random, server: Server) -> Call:
    """A call of any tool, with one of two arguments."""
    return Call(random.choice(sorted(server.tools)), {"x": random.randint(0, 1)})


def some_session(random: Random, server: Server, steps: int) -> Session:
    """Any calls; some overlap."""
    return tuple(
        tuple(some_call(random, server) for _ in range(random.choice((1, 1, 1, 1, 2, 3)))) for _ in range(steps)
    )


def recorded(random: Random, server: Server, session: Session, sample: int) -> Cassette:
    """A recording of a session: overlapping calls reach the server in any order."""
    steps: list[Step] = [{"user": "Go."}]
    state = server.start
    for calls in session:
        answers: dict[int, str] = {}
        for i in random.sample(range(len(calls)), len(calls)):
            state, answers[i] = server.call(state, calls[i])
        parts = [{"call": call.tool, "id": f"c{i}", "args": call.arguments} for i, call in enumerate(calls)]
        steps.append({"model": {"parts": parts}})
        steps.append({"calls": [{"call": i, "server": "s", "result": answers[i]} for i in range(len(calls))]})
    return Cassette("s", "l", "none", sample, {"model": "m", "tool": "t"}, None, server.listed(), tuple(steps),
                    {"outcome": "completed"})  # fmt: skip


def varied(random: Random, server: Server, sessions: Sequence[Session]) -> Session:
    """A session like one that was recorded: calls change places, are left out, come again, or are others."""
    steps = list(random.choice(sessions))
    for _ in range(random.randint(0, 4)):
        if len(steps) < 2:
            break
        i = random.randrange(len(steps) - 1)
        match random.randrange(10):
            case 0 | 1 | 2 | 3:
                steps[i], steps[i + 1] = steps[i + 1], steps[i]
            case 4 | 5:
                del steps[i]
            case 6 | 7:
                steps.insert(i, steps[random.randrange(len(steps))])
            case 8:
                steps[i : i + 1] = [(call,) for call in steps[i]]
            case _:
                steps[i] = (some_call(random, server),)
    return tuple(steps)


def keeps_dependencies(server: Server, session: Session, sessions: Sequence[Session]) -> bool:
    """Whether every call of a session was recorded after just the writes it depends on, in their order.

    Writes that overlapped in the recording have no order: there the very step must be the session's too.
    """
    known = {_seen(server, one, i, j) for one in sessions for i, step in enumerate(one) for j in range(len(step))}
    return all(_seen(server, session, i, j) in known for i, step in enumerate(session) for j in range(len(step)))


def _seen(server: Server, session: Session, at: int, position: int) -> str:
    """What a call can tell of a session before it, as the declared dependencies have it."""
    relevant = server.relevant(session[at][position].tool)

    def told(calls: Sequence[Call]) -> list[str]:
        return sorted(str(call) for call in calls if call.tool in relevant)

    before = [calls for step in session[:at] if (calls := told(step))]
    call = session[at][position]
    overlapping = told([other for i, other in enumerate(session[at]) if i != position])
    ambiguous = overlapping or any(len(calls) > 1 for calls in before)
    # Where order is not known, only the whole step, of this very session, is the same.
    return value_hash([str(call), before, overlapping, [str(step) for step in session[: at + 1]] if ambiguous else []])


def answerable(server: Server, session: Session, cassettes: Sequence[Cassette]) -> bool:
    """Whether all that any call looks at, calls reaching the server as they are asked, was so when it was recorded."""
    known = {call["result"] for one in cassettes for step in one.steps for call in step.get("calls", ())}
    return all(answer in known for answer in _answers(server, session))


def _answers(server: Server, session: Session) -> Iterator[str]:
    state = server.start
    for call in itertools.chain.from_iterable(session):
        state, answer = server.call(state, call)
        yield answer


class Truth:
    """Which answers the server could have given so far, in whatever order overlapping calls reached it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._states = {server.start}

    def could_answer(self, calls: Sequence[Call], answers: Sequence[str]) -> bool:
        """Whether it could have given these answers to overlapping calls, after all it was asked before."""
        after: set[State] = set()
        for state, order in itertools.product(self._states, itertools.permutations(range(len(calls)))):
            now, told = state, dict[int, str]()
            for i in order:
                now, told[i] = self._server.call(now, calls[i])
            if [told[i] for i in range(len(calls))] == list(answers):
                after.add(now)
        self._states = after
        return bool(after)
