"""The built-in file server: its tools through a real client, and a whole attempt that uses it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from mcp import Client

from passgrid.attempt import run
from passgrid.attempt_order import AttemptOrder
from passgrid.matrix import Mode, Prompt
from passgrid.model_reference import parse_model_reference
from passgrid.outcome import OutcomeKind
from passgrid.scenario import Scenario
from passgrid.workspaces.file_server import file_server
from passgrid.workspaces.memory_files import MemoryFiles

FILES = {"notes/a.txt": b"one\ntwo\n", "notes/data.bin": b"\xff"}


async def used(files: MemoryFiles, *calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """Whether each call ended in an error, and the text it gave."""
    async with Client(file_server(files)) as client:
        answers = [await client.call_tool(name, arguments) for name, arguments in calls]
    return [(bool(answer.is_error), getattr(answer.content[0], "text", "")) for answer in answers]


async def test_its_tools_say_what_they_change() -> None:
    async with Client(file_server(MemoryFiles())) as client:
        tools = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    reading = {name for name, hints in tools.items() if hints is not None and hints.read_only_hint}
    assert reading == {"read_file", "list_directory", "search_files", "get_file_info"}
    assert set(tools) - reading == {"write_file", "edit_file", "create_directory", "move_file", "delete_file"}


async def test_files_are_read_written_edited_moved_and_deleted() -> None:
    files = MemoryFiles(FILES)
    answers = await used(
        files,
        ("read_file", {"path": "notes/a.txt"}),
        ("write_file", {"path": "new/b.txt", "content": "three\n"}),
        ("edit_file", {"path": "notes/a.txt", "edits": [{"oldText": "two", "newText": "2"}], "dryRun": True}),
        ("edit_file", {"path": "notes/a.txt", "edits": [{"oldText": "two", "newText": "2"}]}),
        ("create_directory", {"path": "empty"}),
        ("move_file", {"source": "new/b.txt", "destination": "b.txt"}),
        ("delete_file", {"path": "notes/data.bin"}),
        ("list_directory", {"path": "."}),
        ("search_files", {"path": ".", "pattern": "*.txt", "excludePatterns": ["b.*"]}),
        ("get_file_info", {"path": "b.txt"}),
        ("get_file_info", {"path": "."}),
    )
    assert [error for error, _ in answers] == [False] * len(answers)
    said = [text for _, text in answers]
    assert said[0] == "one\ntwo\n"
    assert said[2] == said[3] == "--- a/notes/a.txt\n+++ b/notes/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
    assert said[7] == "[FILE] b.txt\n[DIR] empty\n[DIR] new\n[DIR] notes"
    assert said[8:] == ["notes/a.txt", "type: file\nsize: 6", "type: directory"]
    changes = {change.path: change.change for change in files.compared().diff.changes}
    assert changes == {"b.txt": "created", "notes/a.txt": "changed", "notes/data.bin": "deleted"}


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("read_file", {"path": "../x"}, "paths do not lead upwards"),
        ("read_file", {"path": "notes"}, "notes is a folder"),
        ("read_file", {"path": "Notes/a.txt"}, "does not exist; there is notes/a.txt"),
        ("read_file", {"path": "notes/data.bin"}, "is not text in UTF-8"),
        ("write_file", {"path": "notes", "content": ""}, "notes is a folder"),
        ("write_file", {"path": "notes/a.txt/b", "content": ""}, "notes/a.txt is a file, not a folder"),
        ("write_file", {"path": "big", "content": "x" * 64_000_001}, "no space left"),
        ("edit_file", {"path": "notes/a.txt", "edits": [{"oldText": "o", "newText": ""}]}, "is 2 times"),
        ("move_file", {"source": "notes", "destination": "notes/inside"}, "cannot be moved into itself"),
        ("move_file", {"source": "notes/a.txt", "destination": "notes/data.bin"}, "exists already"),
        ("delete_file", {"path": "notes"}, "with something in it"),
        ("delete_file", {"path": "."}, "the workspace itself"),
        ("list_directory", {"path": "nowhere"}, "nowhere does not exist"),
    ],
)
async def test_what_cannot_be_is_an_error_with_a_reason(tool: str, arguments: dict[str, Any], reason: str) -> None:
    files = MemoryFiles(FILES)
    ((error, text),) = await used(files, (tool, arguments))
    assert error
    assert re.search(re.escape(reason), text), text
    assert files.compared().diff.changes == ()


POLICIES = b"""
from passgrid import Call, policy

@policy('tidy')
def tidy(turn):
    if not turn.results:
        return [Call('write_file', {'path': 'report.md', 'content': 'done'}), Call('delete_file', {'path': 'old.txt'})]
    return 'tidied'
"""


async def test_an_attempt_works_in_memory_and_its_end_state_is_judged_and_told() -> None:
    scenario = Scenario.model_validate(
        {
            "name": "tidy",
            "task": "tidy up",
            "mcpServers": {"files": {"builtin": "files"}},
            "workspace": {"template": "files/desk"},
            "checks": [
                {"file": {"path": "report.md", "equals": "done"}},
                {"file": {"path": "old.txt", "exists": False}},
                {"file": {"path": "keep.txt", "equals": "kept"}},
            ],
        }
    )
    files = {"policies.py": POLICIES, "files/desk/old.txt": b"old", "files/desk/keep.txt": b"kept"}
    result = await run(
        AttemptOrder(
            attempt_id="5" * 32,
            scenario=scenario,
            prompt=Prompt("none", ""),
            model=parse_model_reference("scripted:tidy"),
            mode=Mode.LIVE,
            sample=0,
            suite_files=files,
        )
    )
    assert result.outcome.kind is OutcomeKind.PASSED, result.outcome.reason
    assert result.files is not None
    changes = [(change.path, change.change) for change in result.files.diff.changes]
    assert changes == [("old.txt", "deleted"), ("report.md", "created")]


@pytest.mark.parametrize(
    "more",
    [
        {"workspace": {"git": True}},
        {"mcpServers": {"f": {"builtin": "files"}, "g": {"command": "g", "args": ["${workspace}"]}}},
    ],
)
def test_what_needs_a_folder_cannot_stand_beside_it(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="keeps the workspace in memory"):
        Scenario.model_validate({"name": "x", "task": "x", "mcpServers": {"f": {"builtin": "files"}}, **more})
