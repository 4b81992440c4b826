"""Audit what requirements.lock holds against the known vulnerabilities of PyPI. Exits with 1 if there is one.

Run by `make lint`. Where the service cannot be asked, it says so in one line and passes: a machine without a network
can still be worked on, and nobody takes silence for an audit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK = "requirements.lock"
PROBE = "https://pypi.org/pypi/pip/25.0/json"
"""Something the service surely knows: mirrors of the package index answer, and know nothing of vulnerabilities."""
PROBE_SECONDS = 10.0
AUDIT_SECONDS = 300.0
AWAY = ("Could not connect", "network may be blocking", "Connection", "timed out", "Timeout")
"""What pip-audit says when the service goes away while it is asked."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of an audit."""

    ok: bool
    lines: tuple[str, ...]
    """What to print."""


def main() -> None:
    """Audit; the exit code says whether all is well."""
    found = audit() if (why := unreachable()) is None else not_audited(why)
    for line in found.lines:
        print(line)
    if not found.ok:
        raise SystemExit(1)


def unreachable() -> str | None:
    """Why the service cannot be asked; None where it answers."""
    try:
        with urllib.request.urlopen(PROBE, timeout=PROBE_SECONDS) as answer:
            knows = "vulnerabilities" in json.load(answer)
    except (OSError, ValueError) as error:
        return str(error) or type(error).__name__
    return None if knows else "what answers at pypi.org knows nothing of vulnerabilities"


def audit() -> Verdict:
    """Ask about every package of the lock."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", LOCK, "--disable-pip", "--require-hashes"]
    command += ["--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=AUDIT_SECONDS)
    except subprocess.TimeoutExpired:
        return not_audited(f"the service did not answer within {AUDIT_SECONDS:.0f} seconds")
    return verdict(done.returncode, done.stdout, done.stderr)


def verdict(returncode: int, stdout: str, stderr: str) -> Verdict:
    """What the end of `pip-audit --format json` means."""
    try:
        packages: list[dict[str, Any]] = json.loads(stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        why = stderr.strip().splitlines() or [f"pip-audit ended with {returncode}"]
        if any(sign in stderr for sign in AWAY):
            return not_audited(why[0])
        return Verdict(False, ("pip-audit cannot audit the lock:", *why[-3:]))
    lines = [line for package in packages for line in vulnerabilities(package)]
    unknown = sorted(package["name"] for package in packages if "skip_reason" in package)
    if not lines and (not packages or len(unknown) == len(packages)):
        return not_audited("the service knows none of the packages")
    if unknown:
        lines.append(f"{LOCK}: not audited, the service does not know: {', '.join(unknown)}")
    vulnerable = any(package.get("vulns") for package in packages)
    return Verdict(not vulnerable, tuple(lines))


def vulnerabilities(package: dict[str, Any]) -> list[str]:
    """A line for each known vulnerability of a package, with the remedy."""
    lines: list[str] = []
    for found in package.get("vulns", ()):
        fixed = ", ".join(found["fix_versions"])
        remedy = f"fixed in {fixed}: `make lock`" if fixed else "there is no fix yet"
        lines.append(f"{LOCK}: {package['name']} {package['version']} is vulnerable: {found['id']} ({remedy})")
    return lines


def not_audited(why: str) -> Verdict:
    """The service cannot be asked."""
    return Verdict(True, (f"{LOCK}: NOT audited for vulnerabilities, the service of pypi.org cannot be asked ({why})",))


if __name__ == "__main__":
    main()
