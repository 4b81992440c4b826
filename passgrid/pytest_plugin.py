"""The pytest plugin: the fixture `passgrid_fakes` serves fakes of MCP tools to the test that asks for it.

Every session of pytest imports this module, so whatever serves is imported by the first test that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import pytest

from passgrid.json_values import is_array, is_object

if TYPE_CHECKING:
    from passgrid.fakes.local_gateway import LocalGateway
    from passgrid.fakes.report import FakesReport


@dataclass(frozen=True)
class ServedFakes:
    """Fakes at the wire, for one test."""

    test_id: str
    """Of this test; whoever sends it gets the fakes of this test."""
    context: str | None
    undeclared: str | None
    address: str
    """Of the gateway: scheme, host and port."""
    gateway: LocalGateway

    def url(self, mount: str = "/mcp", *, identified: bool = False) -> str:
        """Where an MCP client connects to.

        identified: with the test's id (and context and policy) in the query, for clients that cannot set headers.
        """
        named = {"testId": self.test_id, "context": self.context, "undeclared": self.undeclared}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in named.items() if value is not None)
        return f"{self.address}{mount}{'?' + query if identified else ''}"

    @property
    def headers(self) -> dict[str, str]:
        """What a client must send with every request, so that it is known for which test it asks."""
        sent = {"X-Test-Id": quote(self.test_id, safe="/: ")}
        if self.context is not None:
            sent["X-AIMock-Context"] = quote(self.context, safe="/: ")
        if self.undeclared is not None:
            sent["X-AIMock-MCP-Undeclared"] = self.undeclared
        return sent

    def report(self) -> FakesReport:
        """What was served so far, what is left over, and what was refused."""
        return self.gateway.report(self.test_id)


class PassgridFakes(Protocol):
    """What the fixture `passgrid_fakes` is: call it with what is to be served."""

    def __call__(
        self,
        *sources: str | PathLike[str] | Mapping[str, Any],
        undeclared: str | None = None,
        context: str | None = None,
    ) -> ServedFakes:
        """Load fakes for this test.

        Args:
            sources: files, folders of files, or blocks written in place. A relative path is looked for beside the
                test's file, then below pytest's root folder. Blocks written in place are for this test alone: where
                their scope names no testId, it becomes that of this test. Blocks of files keep their scopes: a shared
                one answers this test too, and is not this test's duty to use up; one that names a testId answers
                only clients that send that very id.
            undeclared: `deny` refuses tools that nobody declares, `allow` does not; the blocks decide without it.
            context: the context that clients of this test are in.

        Several calls in one test add to each other: the test has one id. When the test ends it fails if a call was
        refused, or if something declared for it was never asked for.
        """
        ...


@pytest.fixture(scope="session")
def _passgrid_gateway() -> Iterator[tuple[LocalGateway, str]]:  # pyright: ignore[reportUnusedFunction]
    from passgrid.fakes.local_gateway import LocalGateway
    from passgrid.wire.thread_server import served_in_thread

    gateway = LocalGateway()
    with served_in_thread(gateway.handle) as address:
        yield gateway, address


@pytest.fixture
def passgrid_fakes(
    request: pytest.FixtureRequest, _passgrid_gateway: tuple[LocalGateway, str]
) -> Iterator[PassgridFakes]:
    """Serves fakes of MCP tools to this test, and fails it where they were not used as declared."""
    gateway, address = _passgrid_gateway
    test_id: str = request.node.nodeid
    gateway.forget()

    def serve(
        *sources: str | PathLike[str] | Mapping[str, Any], undeclared: str | None = None, context: str | None = None
    ) -> ServedFakes:
        if undeclared not in {None, "allow", "deny"}:
            raise ValueError(f"undeclared is {undeclared!r}; it must be allow or deny")
        for source in sources:
            if isinstance(source, Mapping):
                _load(lambda one=source: gateway.load(_for_test(one, test_id), "code"))
            else:
                _load(lambda one=source: gateway.load_files(_files(Path(one), request)))
        return ServedFakes(test_id, context, undeclared, address, gateway)

    yield serve
    report = gateway.report(test_id)
    gateway.forget()
    if not report.ok:
        pytest.fail(f"the fakes of this test were not used as declared:\n{report.why_not()}", pytrace=False)


def _load(load: Callable[[], object]) -> None:
    from passgrid.fakes.load_errors import UnusableFakes

    try:
        load()
    except UnusableFakes as error:
        pytest.fail(f"these fakes cannot be loaded:\n{error}", pytrace=False)


def _files(given: Path, request: pytest.FixtureRequest) -> dict[str, Path]:
    from passgrid.fakes.loading import fake_files

    found = _found(given, request)
    return fake_files(found) if found.is_dir() else {given.as_posix(): found}


def _found(path: Path, request: pytest.FixtureRequest) -> Path:
    places = [request.path.parent / path, request.config.rootpath / path]
    for place in places:
        if place.exists():
            return place
    looked = " nor ".join(dict.fromkeys(map(str, places)))
    pytest.fail(f"there are no fakes at {path}: neither {looked} exists", pytrace=False)


def _for_test(written: Mapping[str, Any], test_id: str) -> dict[str, Any]:
    """A document out of what is written in a test: a block, or a document of such."""
    declared: Any = written.get("mcpFakes", dict(written))
    if is_array(declared):
        return {"mcpFakes": [_scoped(block, test_id) for block in declared]}
    return {"mcpFakes": _scoped(declared, test_id)}


def _scoped(block: Any, test_id: str) -> Any:
    if not is_object(block):
        return block
    scope = block.get("scope", "shared")
    if scope == "shared":
        return {**block, "scope": {"testId": test_id}}
    if is_object(scope) and "testId" not in scope:
        return {**block, "scope": {**scope, "testId": test_id}}
    return block
