"""What the end of an audit means: a known vulnerability fails, silence does not pass for an audit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scripts.audit_dependencies import verdict

CLEAN: dict[str, Any] = {"name": "fastapi", "version": "0.165.0", "vulns": []}
SKIPPED: dict[str, Any] = {"name": "ours", "skip_reason": "Dependency not found on PyPI"}
VULNERABLE: dict[str, Any] = {
    "name": "jinja2",
    "version": "2.10",
    "vulns": [
        {"id": "PYSEC-2019-217", "fix_versions": ["2.10.1"], "aliases": ["CVE-2019-10906"], "description": "…"},
        {"id": "PYSEC-0000-1", "fix_versions": [], "aliases": [], "description": "…"},
    ],
}


def document(*packages: dict[str, Any]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


def test_no_known_vulnerability_passes_in_silence() -> None:
    found = verdict(0, document(CLEAN), "No known vulnerabilities found")
    assert (found.ok, found.lines) == (True, ())


def test_every_known_vulnerability_is_named_with_its_remedy_and_fails() -> None:
    found = verdict(1, document(CLEAN, VULNERABLE), "Found 2 known vulnerabilities in 1 package")
    assert not found.ok
    assert found.lines == (
        "requirements.lock: jinja2 2.10 is vulnerable: PYSEC-2019-217 (fixed in 2.10.1: `make lock`)",
        "requirements.lock: jinja2 2.10 is vulnerable: PYSEC-0000-1 (there is no fix yet)",
    )


def test_what_the_service_does_not_know_is_told() -> None:
    found = verdict(0, document(CLEAN, SKIPPED), "")
    assert found.ok
    assert found.lines == ("requirements.lock: not audited, the service does not know: ours",)
    assert not verdict(1, document(SKIPPED, VULNERABLE), "").ok


@pytest.mark.parametrize(
    ("returncode", "stdout", "stderr"),
    [
        (0, document(SKIPPED), ""),
        (0, document(), ""),
        (1, "", "ERROR:pip_audit._cli:Could not connect to PyPI's vulnerability feed\nERROR:pip_audit._cli:Tip: …"),
    ],
)
def test_an_audit_that_did_not_take_place_says_so_in_one_line(returncode: int, stdout: str, stderr: str) -> None:
    found = verdict(returncode, stdout, stderr)
    assert found.ok
    (line,) = found.lines
    assert "NOT audited" in line


@pytest.mark.parametrize("stdout", ["", "[]", "{}", "null", "no json"])
def test_any_other_failure_of_the_tool_fails(stdout: str) -> None:
    found = verdict(1, stdout, "ERROR: the lock cannot be read")
    assert not found.ok
    assert "the lock cannot be read" in found.lines[-1]
