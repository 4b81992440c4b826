"""Failures of live calls: what may pass is tried again, as often as the run allows, and what stays is not."""

from __future__ import annotations

from collections import Counter

from tests.acceptance.scripted_suites import write_scripted_suite
from tests.integration.hosts import Site, add_server, server_of
from tests.integration.openai_server import Reply, openai_server

MODEL = "openai-chat:gpt-4o-mini?max_tokens=20"
REPLIES = {
    "do down": Reply(503, "overloaded", "The server is overloaded"),
    "do wrong": Reply(400, "invalid_value", "Invalid value for 'messages'"),
    "do full": Reply(400, "context_length_exceeded", "This model's maximum context length is 128000 tokens."),
}


def test_only_what_may_pass_is_tried_again_and_only_as_often_as_allowed(site: Site) -> None:
    scenarios = ("down", "wrong", "full", "healthy")
    suite = write_scripted_suite(site.folder, "broken", "", {name: {} for name in scenarios})
    with openai_server(lambda task: REPLIES.get(task, Reply())) as provider:
        keys = provider.environment()
        site.scheduler()
        site.live(**keys)
        site.submit(suite, MODEL, "--label", "once", "--max-tries", "1", **keys)
        site.wait_until_done()
        once = Counter(provider.asked)
        site.submit(suite, MODEL, "--label", "default", **keys)
        site.wait_until_done()
        default = Counter(provider.asked) - once
    assert once == {"do down": 1, "do wrong": 1, "do full": 1, "do healthy": 1}
    assert default == {"do down": 3, "do wrong": 1, "do full": 1, "do healthy": 1}
    ended = site.rows(
        "SELECT DISTINCT scenario, outcome, outcome_detail FROM attempts JOIN cells ON cells.key = cell_key ORDER BY 1"
    )
    assert ended == [
        ("down", "infra_error", "server_error"),
        ("full", "limit", "tokens"),
        ("healthy", "passed", ""),
        ("wrong", "infra_error", "bad_request"),
    ]
    kept = site.rows(
        "SELECT label, array_agg(tries.reason ORDER BY tries.fence), sum(tries.model_calls) FROM tries "
        "JOIN attempts ON key = attempt_key JOIN runs USING (run_id) JOIN cells ON cells.key = cell_key "
        "WHERE scenario = 'down' GROUP BY label ORDER BY label"
    )
    assert kept == [("default", ["failed", "failed", "finished"], 3), ("once", ["finished"], 1)]
    assert site.value("SELECT min(detail) FROM tries WHERE reason = 'failed'").startswith("server_error: ")
    assert site.value("SELECT count(*) FROM intents") == once.total() + default.total()
    assert site.rows("SELECT DISTINCT reserved_usd FROM runs") == [(0.0,)], "nothing is kept back any more"


DYING = """
@policy("m")
def m(turn):
    log_call(turn)
    return Call("die") if not turn.results else "done"
"""


def test_a_server_that_dies_in_a_call_is_an_infrastructure_error_and_tried_again(site: Site) -> None:
    servers = server_of(site)
    suite = write_scripted_suite(site.folder, "dying", site.policies(DYING), {"dies": {}}, mcpServers=servers)
    add_server(suite)
    site.scheduler()
    site.live()
    site.submit(suite, "scripted:m")
    site.wait_until_done()
    assert site.rows("SELECT outcome, outcome_detail FROM attempts") == [("infra_error", "server_lost")]
    assert len(site.calls()) == 3, "it never goes on with a new, empty server"
    assert site.rows("SELECT reason FROM tries ORDER BY fence") == [("failed",), ("failed",), ("finished",)]
    unsettled = "SELECT count(*), count(settled_at), max(name) FROM intents WHERE kind = 'tool'"
    assert site.rows(unsettled) == [(3, 0, "slow/die")], "nobody knows what became of these calls"
