"""Files in the shapes that aimock's users write, loaded as they are by a real gateway, and driven."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.stack.addresses import Addresses
from passgrid.fakes_validation import check_fakes
from tests.integration.gateway.conftest import Served, http_wire
from tests.integration.gateway.gateways import gateway_process
from tests.integration.gateway.wires import MODERN, HttpWire, Who, call_message

SHAPES = Path(__file__).parent / "aimock_shapes"


@pytest.fixture(scope="module")
def shapes(bare_stack: Addresses, gateway_database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A gateway that was started with the folder of them."""
    with gateway_process(bare_stack, gateway_database, str(SHAPES)) as (url, _):
        yield Served(url, tmp_path_factory.mktemp("shapes"))


@pytest.fixture
async def wire(shapes: Served, client: httpx2.AsyncClient) -> HttpWire:
    return http_wire(shapes, client, MODERN)


async def report(wire: HttpWire, test_id: str) -> dict[str, Any]:
    return (await wire.client.get(f"{wire.url}/__aimock/report", params={"testId": test_id})).json()


def text_of(answer: dict[str, Any]) -> str:
    return answer["result"]["content"][0]["text"]


def code_of(answer: dict[str, Any]) -> tuple[int, str]:
    return answer["error"]["code"], answer["error"]["data"]["aimock"]["code"]


@pytest.mark.parametrize("file", sorted(SHAPES.glob("*.json")), ids=lambda file: file.stem)
def test_a_shape_has_no_problem_and_no_warning(file: Path) -> None:
    checked = check_fakes(file)
    assert (checked.problems, checked.warnings) == ((), ())


async def test_a_client_that_tries_again_after_a_time_out_gets_its_answer(wire: HttpWire) -> None:
    asked = {"to": "ZRH", "from": "OSL"}
    first, second, third = [await wire.call("search_flights", asked, Who("retry")) for _ in range(3)]
    assert (first["result"]["isError"], text_of(first)) == (True, "timed out after 30 s")
    assert (second["result"]["isError"], text_of(second)) == (False, "LX1213 at 10:05")
    assert code_of(third) == (-31010, "MCP_FAKE_EXHAUSTED")
    ids = third["error"]["data"]["aimock"]["matchingIds"]
    assert ids == ["retry_after_time_out.json:slow", "retry_after_time_out.json:found"]
    told = await report(wire, "retry")
    assert (told["ok"], len(told["served"]), told["unconsumed"]) == (False, 2, [])


async def test_an_object_a_whole_result_and_a_list_of_content_come_as_they_are(wire: HttpWire) -> None:
    plain, whole, listed = [(await wire.call("get_order", {"id": n}, Who("objects")))["result"] for n in (17, 18, 19)]
    assert plain["structuredContent"] == {"id": 17, "lines": [{"sku": "A-1", "count": 2}], "note": None}
    assert plain["content"][0]["text"] == '{"id":17,"lines":[{"sku":"A-1","count":2}],"note":null}'
    assert whole["structuredContent"] == {"id": 18, "state": "cancelled"}
    assert text_of({"result": whole}) == "Order 18 was cancelled."
    assert [one["text"] for one in listed["content"]] == ["one", "two"]
    missed = await wire.call("get_order", {"id": "17"}, Who("objects"))
    assert code_of(missed) == (-32602, "MCP_FAKE_MISMATCH")
    assert missed["error"]["data"]["aimock"]["firstDifference"] == '$.id: expected 17, received "17"'


async def test_calls_of_a_context_are_answered_in_order_and_others_by_the_shared_fake(wire: HttpWire) -> None:
    night = Who("gate", context="night shift")
    first, second, third = [await wire.call("open_gate", {"n": n}, night) for n in range(3)]
    assert text_of(first) == "opened by the night porter"
    assert (second["result"]["isError"], text_of(second)) == (True, "the porter is asleep")
    assert code_of(third) == (-31010, "MCP_FAKE_EXHAUSTED")
    assert text_of(await wire.call("open_gate", {}, Who("gate"))) == "opened by day"
    assert text_of(await wire.call("open_gate", {}, Who("gate 2", context="Night shift"))) == "opened by day"


async def test_a_sealed_test_reaches_only_what_is_declared_for_it(wire: HttpWire) -> None:
    denied = await wire.call("read_ledger", {}, Who("sealed"))
    assert code_of(denied) == (-32602, "MCP_FAKE_NOT_DECLARED")
    # Shared fakes of the other files are declared for everybody.
    assert denied["error"]["data"]["aimock"]["declaredTools"] == ["get_order", "open_gate"]
    assert text_of(await wire.call("read_ledger", {}, Who("sealed", context="audit"))) == "balanced"
    unknown = await wire.call("read_ledger", {}, Who("open"))
    assert "data" not in unknown["error"]


async def test_two_mounts_are_two_servers_with_a_state_each(wire: HttpWire) -> None:
    async def ask(mount: str) -> dict[str, Any]:
        return (await wire.post(call_message("find", {"q": "Ada"}), Who("two"), mount)).json()

    assert text_of(await ask("/crm/mcp")) == "customer 7"
    assert [one["mount"] for one in (await report(wire, "two"))["unconsumed"]] == ["/wiki/mcp"]
    assert text_of(await ask("/wiki/mcp")) == "page about Ada"
    assert (await report(wire, "two"))["ok"] is True
    spent = await ask("/crm/mcp")
    assert code_of(spent) == (-31010, "MCP_FAKE_EXHAUSTED")
    assert spent["error"]["data"]["aimock"]["mount"] == "/crm/mcp"
