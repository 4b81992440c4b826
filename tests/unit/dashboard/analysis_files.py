"""Small analysis files for tests: rows given by hand, published as the export publishes them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa  # pyright: ignore[reportMissingTypeStubs]
import pyarrow.parquet as parquet  # pyright: ignore[reportMissingTypeStubs]
import zstandard

from passgrid.warehouse.analysis.publishing import TRANSCRIPTS, draft_file, publish
from passgrid.warehouse.analysis.tables import OFFERED_TOOLS, TABLES, VERSION

EVERY = (*TABLES, OFFERED_TOOLS)

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
HASH = "0123456789abcdef"


def run_id(number: int) -> str:
    """A made-up id, 32 digits as real ones have."""
    return f"{HASH[number % 16]}{number:03d}".ljust(32, "e")


@dataclass
class AnalysisFiles:
    """One version of the file in the making."""

    folder: Path
    rows: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {table.name: [] for table in EVERY}  # pyright: ignore[reportUnknownLambdaType]
    )
    transcripts: dict[str, list[tuple[int, str, bytes]]] = field(
        default_factory=dict[str, list[tuple[int, str, bytes]]]
    )

    def run(self, number: int = 1, **columns: Any) -> str:
        """Add a run; later numbers are newer."""
        row = {
            "run_id": run_id(number),
            "label": "default",
            "mode": "replay",
            "state": "done",
            "k": 4,
            "wanted": 0,
            "created_at": START + timedelta(hours=number),
            "finished_at": START + timedelta(hours=number, minutes=5),
            "passgrid": "0.1.0",
        }
        self.rows["runs"].append(row | columns)
        return run_id(number)

    def attempt(
        self, run: str, scenario: str = "book", sample: int = 0, outcome: str | None = "passed", **columns: Any
    ) -> int:
        """Add an attempt of this outcome (None: still queued); returns its key."""
        key = len(self.rows["attempts"]) + 1
        kind, _, detail = (outcome or "").partition("(")
        row: dict[str, Any] = {
            "attempt_key": key,
            "run_id": run,
            "attempt_id": f"{key:04x}".ljust(32, "a"),
            "suite": "shop",
            "scenario": scenario,
            "model": "recorded:small",
            "prompt": "plain",
            "target": "default",
            "fault": "none",
            "mitigation": "none",
            "agent": "default",
            "tags": [],
            "sample": sample,
            "state": "done" if outcome else "queued",
            "outcome": kind or None,
            "outcome_detail": detail.rstrip(")"),
            "reason": None if outcome in ("passed", None) else "the order is missing",
            "valid": kind in ("passed", "failed", "limit") if outcome else None,
            "passed": kind == "passed" if outcome else None,
            "model_turns": 3,
            "tool_calls": 2,
            "wasted_calls": 0,
            "duration_s": 1.5,
            "tries": 1,
            "started_at": START,
        }
        self.rows["attempts"].append(row | columns)
        next(one for one in self.rows["runs"] if one["run_id"] == run)["wanted"] += 1
        return key

    def tool_call(self, key: int, seq: int = 0, tool: str = "look_up", **columns: Any) -> None:
        """Add a row to its journal."""
        row = {
            "attempt_key": key,
            "seq": seq,
            "turn": seq + 1,
            "server": "shop",
            "tool": tool,
            "arguments": '{"id": 1}',
            "result_bytes": 20,
            "answered": "recorded",
            "error": False,
            "started_ms": 10.0 * seq + 5,
            "duration_ms": 0.04,
        }
        self.rows["tool_calls"].append(row | columns)

    def check(self, key: int, name: str, passed: bool | None, **columns: Any) -> None:
        """Add what a check found: one of its own, required, no stage, unless said otherwise."""
        row = {"kind": "final_text", "stage": False, "required": True, "detail": "", "imported": False}
        self.other("checks", key, name=name, passed=passed, **row | columns)

    def stages(self, key: int, **reached: bool) -> None:
        """Add the stages expected of it."""
        for name, there in reached.items():
            self.check(key, name.replace("_", "-"), there, stage=True, required=False)

    def flag(self, key: int, name: str, detail: str = "odd") -> None:
        """Let a detector fire."""
        self.other("flags", key, name=name, detail=detail)

    def offered(self, surface: str, **reads: bool | None) -> None:
        """Say which tools a surface holds, and whether each only reads."""
        self.rows["offered_tools"] += [
            {"surface": surface, "server": "shop", "tool": tool, "reads": value} for tool, value in reads.items()
        ]

    def other(self, table: str, key: int, **columns: Any) -> None:
        """Add a row to model_calls or tries."""
        self.rows[table].append({"attempt_key": key, **columns})

    def transcript(self, key: int, messages: list[dict[str, Any]]) -> None:
        """Keep its messages."""
        attempt = self.rows["attempts"][key - 1]
        body = zstandard.ZstdCompressor().compress(orjson.dumps(messages))
        self.transcripts.setdefault(attempt["run_id"], []).append((key, attempt["attempt_id"], body))

    def publish(self) -> Path:
        """Write everything as a new version."""
        self.folder.mkdir(parents=True, exist_ok=True)
        draft = draft_file(self.folder)
        with duckdb.connect(str(draft)) as file:
            for table in EVERY:
                for statement in table.ddl():
                    file.execute(statement)
                for row in self.rows[table.name]:
                    marks = ", ".join("?" * len(row))
                    file.execute(f"INSERT INTO {table.name} ({', '.join(row)}) VALUES ({marks})", list(row.values()))  # noqa: S608
            file.execute(
                "CREATE TABLE exports (version INTEGER, cluster VARCHAR, watermark BIGINT, exported_at TIMESTAMPTZ, "
                "parts BIGINT)"
            )
            file.execute("INSERT INTO exports VALUES (?, 'test', 1, now(), 0)", [VERSION])
        for run, rows in self.transcripts.items():
            part = self.folder / TRANSCRIPTS / run / f"{1:020d}.parquet"
            part.parent.mkdir(parents=True, exist_ok=True)
            keys, ids, bodies = zip(*rows, strict=True)
            parquet.write_table(pa.table({"attempt_key": keys, "attempt_id": ids, "body": bodies}), part)  # pyright: ignore
        return publish(self.folder, draft)


def two_arms(folder: Path) -> AnalysisFiles:
    """A run of two models on three scenarios with two samples each, and a newer one of low coverage."""
    files = AnalysisFiles(folder)
    run = files.run(1, label="nightly", k=2)
    for model, passes in (("recorded:small", (2, 1, 0)), ("recorded:large", (2, 2, 1))):
        for scenario, passed in zip(("book", "cancel", "refund"), passes, strict=True):
            for sample in range(2):
                outcome = "passed" if sample < passed else "failed"
                tags = ["money"] if scenario == "refund" else []
                key = files.attempt(run, scenario, sample, outcome, model=model, tags=tags)
                files.tool_call(key, 0)
                files.tool_call(key, 1)
    broken = files.run(2, label="broken", k=4)
    for sample, outcome in enumerate(("passed", "infra_error(server)", "infra_error(server)", "infra_error(server)")):
        files.attempt(broken, "book", sample, outcome)
    return files
