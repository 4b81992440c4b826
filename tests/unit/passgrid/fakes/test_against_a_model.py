"""Random blocks and calls, against a small model of the contract written in another way: nothing but lists."""

from __future__ import annotations

import json
import logging
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from passgrid.fakes.fake_service import FakeService
from passgrid.fakes.loading import CODE, Fakes, load
from passgrid.fakes.memory_state import MemoryState
from passgrid.fakes.mount_fakes import MountFakes
from passgrid.json_values import is_array
from passgrid.wire.json_rpc import RpcError
from passgrid.wire.mcp_service import Caller, Identity

CASES = 20_000
CALLS = 6
ATOMS: list[Any] = [None, True, False, 0, 1, 1.0, "1", "", "é", "e\u0301", 2**53, 2**53 + 1, float(2**53)]
OVERRIDES = [None, None, None, "deny", "allow"]


class Maker:
    """Makes blocks and calls from a seed: a case that fails is named by it."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def blocks(self) -> list[dict[str, Any]]:
        return [self._block() for _ in range(self._rng.randint(0, 4))]

    def asked(self) -> tuple[Any, ...]:
        arguments = self._arguments() if self._rng.random() < 0.9 else self._rng.choice([None, [], "x", 3])
        return self._tool(), arguments, self._test(), self._context(), self._rng.choice(OVERRIDES)

    def _block(self) -> dict[str, Any]:
        named = {key: value for key, value in (("testId", self._test()), ("context", self._context())) if value}
        names = self._rng.sample("abc", self._rng.randint(1, 2))
        tools = [{"name": name, "calls": [self._call() for _ in range(self._rng.randint(1, 3))]} for name in names]
        block: dict[str, Any] = {"scope": named or "shared", "tools": tools}
        if named and self._rng.random() < 0.5:
            block["undeclaredTools"] = self._rng.choice(["allow", "deny"])
        return block

    def _call(self) -> dict[str, Any]:
        matcher: dict[str, Any] = {"anyArgs": True} if self._rng.random() < 0.25 else {"args": self._arguments()}
        return {**matcher, "result": f"r{self._rng.randint(0, 999)}"}

    def _tool(self) -> str:
        return self._rng.choice("abc")

    def _test(self) -> str | None:
        return self._rng.choice([None, "T", "t", "U"])

    def _context(self) -> str | None:
        return self._rng.choice([None, None, "C", "D"])

    def _arguments(self) -> dict[str, Any]:
        return {key: self._value(2) for key in self._rng.sample("xy", self._rng.randint(0, 2))}

    def _value(self, depth: int) -> Any:
        kind = self._rng.random()
        if depth == 0 or kind < 0.8:
            return self._rng.choice(ATOMS)
        if kind < 0.9:
            return [self._value(depth - 1) for _ in range(self._rng.randint(0, 2))]
        return {key: self._value(depth - 1) for key in self._rng.sample("kl", self._rng.randint(0, 2))}


def same(one: Any, other: Any) -> bool:
    """Equality by a canonical text: another way than the code's."""
    return _canonical(one) == _canonical(other)


def _canonical(value: Any) -> str:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, int):
        return str(value)
    if is_array(value):
        return "[" + ",".join(map(_canonical, value)) + "]"
    return "{" + ",".join(f"{json.dumps(key)}:{_canonical(value[key])}" for key in sorted(value)) + "}"


@dataclass
class Model:
    """The contract, told shortly."""

    blocks: list[dict[str, Any]]
    used: dict[tuple[str | None, int], bool] = field(default_factory=dict[tuple[str | None, int], bool])

    def answer(self, tool: str, arguments: Any, test: str | None, context: str | None, override: str | None) -> str:
        applicable = [block for block in self.blocks if self._applies(block, test, context)]
        tiers: dict[int, list[dict[str, Any]]] = {}
        for block in applicable:
            for one in block["tools"]:
                if one["name"] == tool:
                    tiers.setdefault(self._tier(block), []).extend(one["calls"])
        if not tiers:
            denies = any(block.get("undeclaredTools") == "deny" for block in applicable)
            return "not_declared" if override == "deny" or (denies and override is None) else "unknown"
        calls = tiers[max(tiers)]
        matching = [call for call in calls if "anyArgs" in call or same(call["args"], arguments)]
        for call in matching:
            if not self.used.get((test, id(call))):
                self.used[test, id(call)] = True
                return call["result"]
        return "exhausted" if matching else "mismatch"

    @staticmethod
    def _applies(block: dict[str, Any], test: str | None, context: str | None) -> bool:
        scope = block["scope"]
        if scope == "shared":
            return True
        return scope.get("testId") in (None, test) and scope.get("context") in (None, context)

    @staticmethod
    def _tier(block: dict[str, Any]) -> int:
        scope = block["scope"]
        return 0 if scope == "shared" else 2 * ("testId" in scope) + ("context" in scope)


async def answered(service: FakeService, asked: tuple[Any, ...]) -> str:
    tool, arguments, test, context, override = asked
    caller = Caller(Identity(test, context, override))
    try:
        result = await service.call(caller, {"name": tool, "arguments": arguments})
    except RpcError as error:
        if error.data is None:
            return "unknown"
        return error.data["aimock"]["code"].removeprefix("MCP_FAKE_").lower()
    return result["content"][0]["text"]


async def compare(seed: int) -> list[str]:
    """How some calls of one case were answered; both ways agree."""
    maker = Maker(seed)
    declared = maker.blocks()
    fakes = load(Fakes(), {"mcpFakes": declared}, CODE).fakes if declared else Fakes()

    async def at() -> MountFakes:
        return fakes.mount("/mcp")

    service, model = FakeService("/mcp", at, MemoryState(cap=0), cap=0), Model(declared)
    kinds: list[str] = []
    for _ in range(CALLS):
        asked = maker.asked()
        answer = await answered(service, asked)
        assert answer == model.answer(*asked), f"seed {seed}: {asked} with {declared}"
        kinds.append("answered" if answer.startswith("r") else answer)
    return kinds


async def test_random_blocks_and_calls_are_answered_as_the_contract_says(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    answers: Counter[str] = Counter()
    for seed in range(CASES):
        answers.update(await compare(seed))
    # Every way a call can end was met often: else the cases would say little.
    assert min(answers[kind] for kind in ("answered", "mismatch", "exhausted", "not_declared", "unknown")) > CASES // 50
