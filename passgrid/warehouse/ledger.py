"""Rows of what was different after an attempt."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

from passgrid.warehouse.texts import stored_text
from passgrid.workspaces.changes import WorkspaceDiff

log = logging.getLogger(__name__)

MOST = 20_000
"""Rows of one attempt; an agent that writes more files than that is told of in the log."""

LEDGER_COLUMNS = (
    "attempt_key", "n", "kind", "subject", "change", "before_hash", "before_bytes", "after_hash", "after_bytes",
)  # fmt: skip


def ledger_rows(attempt_key: int, diff: WorkspaceDiff) -> Iterator[tuple[Any, ...]]:
    """One for each file that was created, changed or deleted."""
    if len(diff.changes) > MOST:
        log.warning("attempt %s changed %d files; the first %d are kept", attempt_key, len(diff.changes), MOST)
    for n, change in enumerate(diff.changes[:MOST]):
        before, after = change.before, change.after
        yield (
            attempt_key, n, "file", stored_text(change.path), change.change,
            before.sha256 if before else None, before.size if before else None,
            after.sha256 if after else None, after.size if after else None,
        )  # fmt: skip
