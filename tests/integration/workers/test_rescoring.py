"""A finished run judged again: by new checks, from what was stored, with the old verdicts kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.hosts import Site
from tests.integration.runs import execute
from tests.unit.passgrid.suites import COUNTING, answer, ask, cassette, say, write_suite

TASK = {"task": "How many bolts?"}
RECORDINGS = (
    cassette(),
    cassette((*COUNTING[:3], say("there are 6")), sample=1),
    cassette((COUNTING[0], ask("count", {"item": "nuts"}), answer(5), say("there are 5")), sample=2),
)


@pytest.fixture
def done(site: Site, tmp_path: Path) -> Path:
    """A replayed run of three attempts, two of which pass."""
    checks = [{"final_text": {"contains": "5"}}]
    suite = write_suite(tmp_path / "suites", {"count": {**TASK, "checks": checks}}, RECORDINGS)
    site.scheduler()
    site.replay()
    command = ("submit-matrix", "--suite", suite, "--model", "recorded:gpt", "-k", "3", "--label", "first", "--wait")
    assert site.commands.json(*command)["passed"] == 2
    return suite


def judge_by(suite: Path, **changes: Any) -> None:
    """Change the scenario's file."""
    (suite / "count.yaml").write_text(yaml.safe_dump({**TASK, **changes}))


def test_new_checks_turn_verdicts_and_old_ones_are_kept(site: Site, done: Path) -> None:
    before = site.rows("SELECT attempt_id, digest FROM attempts ORDER BY sample")
    calls = site.rows("SELECT * FROM tool_calls ORDER BY attempt_key, seq")
    judge_by(done, checks=[{"tool_called": {"tool": "count", "arguments": {"item": "bolts"}}}])
    would = site.commands.json("passgrid", "rescore", "first", "--dry-run")
    assert site.rows("SELECT attempt_id, digest FROM attempts ORDER BY sample") == before
    found = site.commands.json("passgrid", "rescore", "first")
    assert found == would
    assert [(one["sample"], one["before"], one["after"]) for one in found["turned"]] == [
        (1, "failed", "passed"),
        (2, "passed", "failed"),
    ]
    assert site.rows("SELECT outcome FROM attempts ORDER BY sample") == [("passed",), ("passed",), ("failed",)]
    assert site.rows("SELECT DISTINCT name FROM checks") == [("tool_called:count",)]
    kept = site.rows("SELECT outcome, checks FROM verdicts ORDER BY attempt_key")
    assert [outcome for outcome, _ in kept] == ["passed", "failed", "passed"]
    assert {check["name"] for _, checks in kept for check in checks} == {"final_text"}
    assert site.rows("SELECT * FROM tool_calls ORDER BY attempt_key, seq") == calls, "no tool is called"
    report = site.commands.json("passgrid", "report", "first")
    assert report["arms"][0]["passed"] == 2


def test_the_checks_of_before_give_the_digests_of_before(site: Site, done: Path) -> None:
    before = site.rows("SELECT attempt_id, digest FROM attempts ORDER BY sample")
    judge_by(done, checks=[{"final_text": {"contains": "6"}}])
    site.commands.json("passgrid", "rescore", "first")
    assert site.rows("SELECT attempt_id, digest FROM attempts ORDER BY sample") != before
    judge_by(done, checks=[{"final_text": {"contains": "5"}}])
    site.commands.json("passgrid", "rescore", "first")
    assert site.rows("SELECT attempt_id, digest FROM attempts ORDER BY sample") == before
    assert site.value("SELECT count(*) FROM verdicts") == 6


def test_a_run_that_is_still_running_is_not_judged_again(site: Site, done: Path) -> None:
    execute(site.engine, "UPDATE attempts SET state = 'running' WHERE sample = 0")
    refused = site.commands.run("passgrid", "rescore", "first")
    assert refused.returncode == 2
    assert "1 attempts of it are under way" in refused.stderr
    assert site.value("SELECT count(*) FROM verdicts") == 0


def test_more_than_checks_changed_is_refused_and_a_larger_k_uses_the_new_checks(site: Site, done: Path) -> None:
    (done / "count.yaml").write_text(yaml.safe_dump({"task": "How many nuts?"}))
    refused = site.commands.run("passgrid", "rescore", "first")
    assert refused.returncode == 2
    assert "is no longer the scenario that was run" in refused.stderr
    judge_by(done, checks=[{"final_text": {"contains": "6"}}])
    submit = ("submit-matrix", "--suite", done, "--model", "recorded:gpt", "-k", "3", "--label", "first", "--wait")
    stale = site.commands.run(*submit)
    assert stale.returncode == 2
    assert "passgrid rescore" in stale.stderr
    site.commands.json("passgrid", "rescore", "first")
    assert json.loads(site.commands.run(*submit, "--json").stdout)["passed"] == 1
