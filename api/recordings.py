"""Recordings of a finished run, from Postgres into the folders of their suites."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from passgrid.cassettes.format import read_cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.payloads import references, resolve
from passgrid.cassettes.redacting import refuse_secrets
from passgrid.redaction import Redactor, secrets_of
from passgrid.warehouse import blobs


def collect_recordings(
    connection: sa.Connection,
    run_id: str,
    folders: Mapping[str, Path],
    label_of: Callable[[str], str] = lambda label: label,
) -> int:
    """Write every recording of a run into the folders of its suites; returns how many.

    A recording of the same place is replaced. `label_of` gives recordings another label than their model's.
    Raises `BrokenCassette` for one that would hold a secret; it is not written. Raises `OSError`.
    """
    rows = connection.execute(
        sa.text(
            "SELECT suite, recording_hash FROM attempts JOIN cells ON cells.key = cell_key "
            "WHERE attempts.run_id = :run AND recording_hash IS NOT NULL ORDER BY attempts.key"
        ),
        {"run": run_id},
    ).all()
    known = Redactor(secrets_of(os.environ))
    for row in rows:
        cassette = read_cassette(blobs.load(connection, [row.recording_hash])[row.recording_hash])
        names = {name.partition(".")[0]: name for name in references(cassette.to_document())}
        payloads = {names[digest]: data for digest, data in blobs.load(connection, names).items()}
        recording = resolve(cassette, payloads.__getitem__)
        refuse_secrets(recording, known)
        CassetteFolder(folders[row.suite]).write(replace(recording, label=label_of(recording.label)))
    return len(rows)
