"""Writes an imported suite: whole, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from passgrid.cassettes.format import Cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.cassettes.redacting import redacted_cassette
from passgrid.library import SUITE_FILE
from passgrid.problems import InvalidInput, Problem
from passgrid.redaction import Redactor, secrets_of


def write_suite(
    out: Path,
    name: str,
    *,
    facts: Mapping[str, Any],
    scenarios: Mapping[str, Mapping[str, Any]],
    cassettes: Iterable[Cassette],
    prompts: Mapping[str, str],
) -> Path:
    """Write `out/name` and its prompts in `out/prompts`.

    The suite is made beside its place and moved there at the end. Raises `InvalidInput` where it exists already.
    """
    target = out / name
    if target.exists():
        raise InvalidInput([Problem(str(target), "exists already", "give another --suite or --out, or remove it")])
    out.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=out))
    try:
        _write_yaml(draft / SUITE_FILE, facts)
        for scenario, document in scenarios.items():
            _write_yaml(draft / f"{scenario}.yaml", document)
        folder = CassetteFolder(draft)
        redactor = Redactor(secrets_of(os.environ))
        for cassette in cassettes:
            folder.write(redacted_cassette(cassette, redactor))
        _write_prompts(out / "prompts", prompts)
        draft.chmod(0o755)
        os.rename(draft, target)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return target


def _write_prompts(folder: Path, prompts: Mapping[str, str]) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in prompts.items():
        path = folder / f"{name}.md"
        content = text + "\n"
        if path.exists() and path.read_text(encoding="utf-8") != content:
            raise InvalidInput([Problem(str(path), "exists already with another text", "give another --out")])
        path.write_text(content, encoding="utf-8")


def _write_yaml(path: Path, document: Mapping[str, Any]) -> None:
    text = yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=100)
    path.write_text(text, encoding="utf-8")
