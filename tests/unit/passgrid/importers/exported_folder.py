"""Folders as `passgrid export --format jsonl` writes them, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from passgrid.importers.export_rows import MANIFEST, ROWS, VERSION

_NO_NUMBERS = (
    "model_turns", "tool_calls", "wasted_calls", "input_tokens", "output_tokens", "cost_usd", "duration_s", "digest",
    "working_s", "recovered_structured", "recovered_opaque", "leftovers",
    "started_at", "finished_at", "outcome_detail", "reason",
)  # fmt: skip


def attempt_row(scenario: str, sample: int, outcome: str = "passed", **columns: Any) -> dict[str, Any]:
    """One attempt of a run."""
    axes = {
        "model": "gpt",
        "prompt": "plain",
        "target": "default",
        "fault": "none",
        "mitigation": "none",
        "agent": "default",
    }
    row: dict[str, Any] = {"run_id": "r", "attempt_id": f"{scenario}-{sample}", **axes, "suite": "shop", "tags": []}
    row |= {"scenario": scenario, "sample": sample, "outcome": outcome, **dict.fromkeys(_NO_NUMBERS)}
    return row | columns


def write_export(
    folder: Path, attempts: Sequence[dict[str, Any]], *, label: str = "nightly", kind: str = "jsonl"
) -> Path:
    """A folder of one run with these attempts and nothing else."""
    folder.mkdir()
    (folder / MANIFEST).write_bytes(orjson.dumps({"format": "passgrid", "version": VERSION, "kind": kind}))
    times = {"created_at": "2026-11-30T09:00:00+00:00", "finished_at": None}
    run = {"run_id": "r", "label": label, "mode": "live", **times, "passgrid": None, "pydantic_ai": None, "mcp": None}
    for name in ROWS:
        rows = {"runs": [run], "attempts": attempts}.get(name, [])
        (folder / f"{name}.{kind}").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return folder
