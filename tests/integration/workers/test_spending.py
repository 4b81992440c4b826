"""What is bought: no budget is exceeded, and a key that is refused is not tried again and again."""

from __future__ import annotations

import pytest

from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.hosts import Site
from tests.integration.openai_server import Reply, openai_server

ATTEMPTS = 64


def test_a_wrong_key_is_refused_five_times_and_then_stops_its_arm(site: Site) -> None:
    suite = write_scripted_suite(site.folder, "refused", "", {f"ask-{i:02d}": {} for i in range(ATTEMPTS)})
    model = "openai-chat:gpt-4o-mini?max_tokens=20"
    with openai_server(lambda task: Reply()) as provider:
        keys = provider.environment("the-wrong-key")
        run = site.submit(suite, model, **keys)
        site.scheduler()
        site.live(PASSGRID_LIVE_SLOTS=str(ATTEMPTS), **keys)
        site.wait_until_done()
        site.wait_for("the run is done", lambda: site.value("SELECT state FROM runs") != "active")
        assert len(provider.asked) == 5
    outcomes = site.rows("SELECT outcome, outcome_detail, count(*) FROM attempts GROUP BY 1, 2 ORDER BY 3")
    assert tuple(outcomes[0]) == ("infra_error", "authentication", 5)
    assert {row.outcome for row in outcomes[1:]} == {"cancelled"}
    reason = site.value("SELECT stop_reason FROM runs")
    assert reason.startswith("stopped after 5 identical authentication errors: ")
    assert "the-wrong-key" not in reason
    summary = site.commands.run("passgrid", "watch", run)
    assert summary.returncode == 1
    assert "5 identical authentication errors" in summary.stdout


def spent(site: Site) -> float:
    """The sum over all calls, which the account of the run must equal."""
    total = site.value("SELECT sum(coalesce(cost_usd, reserved_usd)) FROM intents WHERE kind = 'model'")
    assert site.rows("SELECT spent_usd, reserved_usd FROM runs") == [
        (pytest.approx(total), pytest.approx(0.0, abs=1e-9))
    ]
    return total


def test_a_budget_is_used_and_not_exceeded_and_a_larger_one_goes_on(site: Site) -> None:
    suite = write_scripted_suite(site.folder, "bought", "", {f"ask-{i:02d}": {} for i in range(ATTEMPTS)})
    with openai_server(lambda task: Reply(tokens=(100, 1900), seconds=0.1)) as provider:
        keys = provider.environment()
        site.scheduler()
        site.live(PASSGRID_LIVE_SLOTS=str(ATTEMPTS), **keys)
        run = site.submit(suite, "openai-chat:gpt-4o?max_tokens=2000", "--budget", "1.00", **keys)
        site.wait_for("the budget is used", lambda: site.value("SELECT state FROM runs") == "stopped")
        site.wait_for("nothing runs", lambda: not site.value("SELECT count(*) FROM attempts WHERE state = 'running'"))
        assert 0.90 <= spent(site) <= 1.00
        assert site.value("SELECT stop_reason FROM runs").startswith("budget: ")
        passed = "SELECT count(*) FROM attempts WHERE passed"
        assert site.value(passed) == len(provider.asked) < ATTEMPTS
        assert site.commands.run("passgrid", "watch", run).returncode == 1

        resumed = site.commands.json("passgrid", "resume", run, "--budget", "2")
        assert resumed["attempts"] == ATTEMPTS - len(provider.asked)
        site.wait_until_done()
        assert len(provider.asked) == ATTEMPTS
    assert site.value(passed) == ATTEMPTS
    assert 1.00 < spent(site) <= 2.00
