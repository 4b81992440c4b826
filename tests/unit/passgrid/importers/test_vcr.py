"""Recordings of vcr.py become tapes that a plain client can talk to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcp import Client

from passgrid.importers.vcr import import_tapes, read_vcr
from passgrid.problems import InvalidInput
from passgrid.sealing import sealed
from passgrid.tapes.format import Tape, read_tape
from passgrid.tapes.replayer import Replay


def interaction(asked: Any, answered: list[Any], uri: str = "https://user:secret@a.test/k3y/mcp?token=abc") -> Any:
    text = "".join(f"event: message\r\ndata: {json.dumps(body)}\r\n\r\n" for body in answered)
    headers = {"Authorization": ["Bearer hush"]}
    return {
        "request": {"method": "POST", "uri": uri, "headers": headers, "body": json.dumps(asked)},
        "response": {
            "status": {"code": 200},
            "headers": {"Content-Type": ["text/event-stream"], "Mcp-Session-Id": ["s3ss10n"]},
            "body": {"string": text},
        },
    }


def written(folder: Path, interactions: list[Any]) -> Path:
    file = folder / "session.yaml"
    file.write_text(yaml.safe_dump({"interactions": interactions, "version": 1}))
    return file


ASKED: dict[str, Any] = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
ANSWERED = {"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-06-18"}}
MODEL = interaction({"model": "a-model"}, [], "https://api.model.test/v1")


def test_each_session_becomes_a_tape_without_headers_and_secrets(tmp_path: Path) -> None:
    file = written(tmp_path, [interaction(ASKED, [ANSWERED]), MODEL, interaction(ASKED, [ANSWERED])])
    imported = import_tapes(file, tmp_path / "out")
    assert [path.name for path in imported.files] == ["session-1.tape.jsonl", "session-2.tape.jsonl"]
    assert imported.skipped == 1
    text = imported.files[0].read_text()
    assert not [word for word in ("secret", "k3y", "abc", "hush", "s3ss10n", "Authorization") if word in text]
    assert read_tape(imported.files[0].read_bytes()).source["url"] == "https://a.test"


def test_nothing_is_written_over_another_file(tmp_path: Path) -> None:
    file = written(tmp_path, [interaction(ASKED, [ANSWERED])])
    import_tapes(file, tmp_path)
    with pytest.raises(InvalidInput, match="is there already"):
        import_tapes(file, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "YAML does not parse"),
        ("a: 1", 'has no list "interactions"'),
        ("interactions: []", "none of its 0 exchanges is with an MCP server"),
        ("interactions: [{request: 1}]", r"interactions\[0\]: not an exchange of vcr.py"),
        ("interactions: !!python/object/apply:os.system ['true']", "YAML does not parse"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "session.yaml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        read_vcr(file)


async def test_the_published_recording_is_replayed_byte_for_byte(published_data: Path) -> None:
    file = published_data / "pydantic-ai" / "mcp-deepwiki-cassette.yaml"
    tapes, skipped = read_vcr(file)
    recorded = {json.dumps(one["result"], sort_keys=True) for one in raw_answers(file)}
    seen: set[str] = set()
    for tape in tapes:
        replay = Replay(tape)
        with sealed():
            async with Client(replay, mode="legacy", cache=None) as client:
                assert client.session.initialize_result is not None
                seen.add(text_of(client.session.initialize_result))
                seen.add(text_of(await client.list_tools()))
                for arguments in calls_of(tape):
                    seen.add(text_of(await client.call_tool(arguments["name"], arguments["arguments"])))
        assert replay.misses == []
    assert skipped == 2
    assert seen == recorded


def text_of(result: Any) -> str:
    return json.dumps(result.model_dump(mode="json", by_alias=True, exclude_unset=True), sort_keys=True)


def calls_of(tape: Tape) -> list[dict[str, Any]]:
    bodies = [frame.body for frame in tape.frames if frame.body is not None]
    return [body["params"] for body in bodies if body.get("method") == "tools/call"]


def raw_answers(file: Path) -> list[Any]:
    """Every answer of the MCP server, taken from the file without any code of ours."""
    bodies = [
        one["response"].get("body", {}).get("string", "") for one in yaml.safe_load(file.read_text())["interactions"]
    ]
    lines = [line.removeprefix("data: ") for body in bodies for line in body.splitlines() if line.startswith("data: ")]
    return [value for value in map(json.loads, lines) if "result" in value]
