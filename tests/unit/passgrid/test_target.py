from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from passgrid.plan import Plan, make_plan
from passgrid.problems import InvalidInput
from passgrid.request import Request
from passgrid.target import Target, on_target
from tests.unit.passgrid.suites import cassette, scenario, write_suite

TARGETS = """
prompt: plain
targets:
  new: {mcpServers: {stock: {command: python, args: [new.py]}}}
  hosted: {dedicated: true, mcpServers: {stock: {url: "https://stock.example/mcp", headers: {x: "${env:KEY}"}}}}
"""
SERVERS = {"stock": {"command": "python", "args": ["old.py"]}, "git": {"command": "git-server"}}


def plan(root: Path, targets: str = TARGETS, servers: dict[str, Any] | None = None, **changes: Any) -> Plan:
    document = {"task": "How many bolts?", "mcpServers": SERVERS if servers is None else servers}
    suite = write_suite(root, {"count": document}, [cassette()])
    (suite / "suite.yaml").write_text(targets)
    values: dict[str, Any] = {"suites": (str(suite),), "models": ("recorded:gpt",), "k": 1, "mode": "drift", **changes}
    return make_plan(Request(**values))


def refusal(root: Path, **changes: Any) -> str:
    with pytest.raises(InvalidInput) as refused:
        plan(root, **changes)
    return str(refused.value)


def test_a_target_is_an_axis_and_only_its_servers_change(tmp_path: Path) -> None:
    made = plan(tmp_path)
    assert [cell.arm.target for cell in made.cells] == ["default"]
    both = make_plan(replace(made.request, targets=("default", "new", "hosted")))
    assert [cell.arm.target for cell in both.cells] == ["default", "new", "hosted"]
    assert both.cells[0].cell_id == made.cells[0].cell_id
    assert both.queue == "live"
    servers = [cell.scenario.mcp_servers for cell in both.cells]
    assert [list(one) for one in servers] == [["git", "stock"]] * 3
    assert len({cell.cell_id for cell in both.cells}) == 3
    assert {cell.scenario.verdict_hash() for cell in both.cells} == {made.cells[0].scenario.verdict_hash()}


def test_what_a_target_declares_is_in_the_id_and_headers_are_not(tmp_path: Path) -> None:
    def cell_id(name: str, targets: str) -> str:
        made = plan(tmp_path / name, targets=targets)
        target = make_plan(replace(made.request, targets=("hosted",)))
        return target.cells[0].cell_id

    first = cell_id("a", TARGETS)
    assert cell_id("b", TARGETS.replace("env:KEY", "env:OTHER")) == first
    assert cell_id("c", TARGETS.replace("stock.example", "new.example")) != first
    assert cell_id("d", TARGETS.replace("dedicated: true, ", "")) != first


def test_a_scenario_without_servers_gets_all_of_a_target(tmp_path: Path) -> None:
    target = Target.model_validate({"mcpServers": {"a": {"command": "x"}, "b": {"python": "servers/b.py:make"}}})
    assert list(on_target(scenario(), target).mcp_servers) == ["a", "b"]
    message = refusal(tmp_path, servers={})
    assert "declares no server, so there is nothing to compare with (choose one with --target)" in message


def test_hosted_servers_of_a_target_are_as_dedicated_as_it_says() -> None:
    hosted = {"mcpServers": {"a": {"url": "http://x/mcp"}, "b": {"url": "http://y/mcp", "dedicated": True}}}
    servers = Target.model_validate(hosted).servers_for(scenario())
    assert [getattr(one, "dedicated", None) for one in servers.values()] == [False, True]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"suite": "new"}, "there are: default, hosted, new (declare it under"),
        ({"mode": "replay"}, "a replay asks no server (use --mode live or --mode drift)"),
        ({"servers": {"git": {"command": "git-server"}}}, "its servers are git, and the target declares only stock"),
        ({"targets": "targets: {default: {mcpServers: {a: {command: x}}}}"}, "a target cannot be called default"),
        (
            {"targets": "targets: {x: {mcpServers: {a: {python: 'servers/no.py:make'}}}}"},
            "the suite has no servers/no.py",
        ),
        ({"targets": "targets: {x: {mcpServers: {a: {url: 'ftp://x'}}}}"}, "targets.x.mcpServers.a.url.url"),
        ({"record": True}, "use --mode live"),
    ],
    ids=["unknown", "replay", "covers-nothing", "default", "no-file", "no-address", "record"],
)
def test_what_cannot_be_is_refused_with_the_remedy(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    wanted = ("other",) if changes.pop("suite", None) else ("new",)
    targets = changes.pop("targets", TARGETS)
    document = {"task": "How many bolts?", "mcpServers": changes.pop("servers", SERVERS)}
    suite = write_suite(tmp_path, {"count": document}, [cassette()])
    (suite / "suite.yaml").write_text(targets)
    request: dict[str, Any] = {"suites": (str(suite),), "models": ("recorded:gpt",), "k": 1, "targets": wanted}
    request |= {"mode": "drift", **changes}
    with pytest.raises(InvalidInput) as refused:
        make_plan(Request(**request))
    assert message in str(refused.value)
