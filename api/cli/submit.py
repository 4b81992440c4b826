"""`submit-matrix`: check a matrix, write it, and wait for it if asked."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.failing import run_command
from api.cli.options import DryRun, Json, print_json, refuse
from passgrid.plan import Plan
from passgrid.problems import InvalidInput, Problem
from passgrid.request import Request, request_of

EPILOG = (
    "Example: submit-matrix --suite demo --model recorded:scripted-thorough --model recorded:scripted-quick -k 5 --wait"
    " -- or, with two agents side by side: submit-matrix --suite agents --model recorded:scripted-clerk -k 4 --wait "
    "--agent built-in --agent shell"
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)

Many = list[str] | None


@app.command(epilog=EPILOG)
def submit_matrix(
    spec: Annotated[
        Path | None, typer.Argument(help="A YAML file with the options below; flags beside it win.")
    ] = None,
    suite: Annotated[Many, typer.Option(help="A folder of scenarios, or a suite of the library by name.")] = None,
    scenario: Annotated[Many, typer.Option(help="Only these scenarios.")] = None,
    model: Annotated[Many, typer.Option(help="recorded:LABEL, scripted:NAME or provider:NAME[?setting=value].")] = None,
    prompt: Annotated[Many, typer.Option(help="Named prompts; the suite's default when absent.")] = None,
    k: Annotated[int | None, typer.Option("-k", help="Samples of each cell.")] = None,
    mode: Annotated[str | None, typer.Option(help="What is live: replay, sandbox, live or drift. [replay]")] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Turn the attempts into cassettes of their suites; needs --wait.")
    ] = False,
    label: Annotated[str | None, typer.Option(help="Another label measures again.")] = None,
    target: Annotated[
        Many,
        typer.Option(help="Whose servers the tools come from, declared in suite.yaml; `default`: the scenarios' own."),
    ] = None,
    agent: Annotated[
        Many,
        typer.Option(
            help="Who does the job: declared under `agents` in suite.yaml; `built-in`; `default`: the scenario's own, "
            "or the built-in one."
        ),
    ] = None,
    fault: Annotated[Many, typer.Option(help="A fault to inject.")] = None,
    mitigation: Annotated[Many, typer.Option(help="A mitigation around the agent.")] = None,
    recordings: Annotated[
        str | None, typer.Option(metavar="LABEL", help="In the mode sandbox: whose recordings answer.")
    ] = None,
    tag: Annotated[Many, typer.Option(help="Only scenarios with one of these tags.")] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N scenarios.")] = None,
    priority: Annotated[int | None, typer.Option(help="Larger goes first.")] = None,
    budget: Annotated[float | None, typer.Option(help="US dollars the run may spend; never exceeded.")] = None,
    allow_unpriced: Annotated[
        bool, typer.Option("--allow-unpriced", help="Let a model without a known price run under a budget.")
    ] = False,
    max_tries: Annotated[
        int | None, typer.Option(help="Tries of an attempt for errors that may pass; 1 tries nothing again. [3]")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Stay until the run is done, showing progress.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Fan a model × prompt × scenario × k matrix out to the workers."""
    refuse([("--fault", fault), ("--mitigation", mitigation)])
    flags: dict[str, Any] = {
        "suites": suite,
        "scenarios": scenario,
        "models": model,
        "prompts": prompt,
        "targets": target,
        "agents": agent,
        "recordings": recordings,
        "k": k,
        "mode": mode,
        "label": label,
        "tags": tag,
        "limit": limit,
        "priority": priority,
        "record": record or None,
        "budget": budget,
        "allow_unpriced": allow_unpriced or None,
        "max_tries": max_tries,
    }
    request = _request(spec, flags)
    if record and not wait and not dry_run:
        raise InvalidInput([Problem("--record", "the recordings are written when the run is done", "add --wait")])
    from api.submission import plan_request

    plan = plan_request(request)
    _submit(plan, wait=wait, dry_run=dry_run, json=json)


def _request(spec: Path | None, flags: dict[str, Any]) -> Request:
    from api.cli.spec_file import read_spec

    values = read_spec(spec) if spec is not None else {}
    values |= {name: value for name, value in flags.items() if value is not None}
    return request_of(values)


def _submit(plan: Plan, *, wait: bool, dry_run: bool, json: bool) -> None:
    from api.cli.waiting import wait_for
    from api.recordings import collect_recordings
    from api.stack.join import joined_stack
    from passgrid.warehouse.engine import make_engine
    from passgrid.warehouse.submission import reusable, submit
    from passgrid.warehouse.summary import run_summary

    with joined_stack() as addresses:
        engine = make_engine(addresses.database_url)
        if dry_run:
            with engine.connect() as connection:
                there = reusable(connection, plan)
            _tell_dry_run(plan, there, json)
            return
        submitted = submit(engine, plan)
        finished = wait and wait_for(engine, submitted.run_id, quiet=json)
        with engine.connect() as connection:
            summary = run_summary(connection, submitted.run_id)
            recorded = 0
            if finished and plan.request.record:
                recorded = collect_recordings(connection, plan.run_id, plan.suite_folders)
    if recorded:
        print(f"{recorded} cassettes written", file=sys.stderr)
    if json:
        print_json(summary.to_json(new_attempts=submitted.new_attempts))
    else:
        _tell(summary, submitted.new_attempts)
    if finished:
        raise SystemExit(summary.exit_code)


def _tell(summary: Any, new_attempts: int) -> None:
    print(f"run {summary.run_id}: {summary.state}, {summary.wanted} attempts wanted, {new_attempts} new")
    if summary.stop_reason:
        print(f"  {summary.stop_reason}")
    if summary.state in {"stopped", "paused"}:
        print(f"  {summary.valid} valid, {summary.passed} passed; go on: passgrid resume {summary.run_id[:12]}")
    elif summary.state == "active":
        print(f"  watch it:  passgrid watch {summary.run_id[:12]}")
    else:
        print(f"  {summary.valid} valid, {summary.passed} passed")
    print(f"  report:    passgrid report {summary.run_id[:12]}")


def _tell_dry_run(plan: Plan, there: int, json: bool) -> None:
    free = plan.matrix.mode.needs_recorded_model or all(model.scripted for model in plan.matrix.models)
    facts = {
        "run": plan.run_id,
        "wanted": plan.wanted,
        "reused": there,
        "new_attempts": plan.wanted - there,
        "cost_usd": 0 if free else None,
        "seconds": None,
    }
    if json:
        print_json(facts)
        return
    print(f"run {plan.run_id}: {plan.wanted} attempts, {there} there already, {plan.wanted - there} new")
    print(f"  {len(plan.cells)} cells × k {plan.matrix.k}, mode {plan.matrix.mode}, label {plan.matrix.label}")
    print(f"  estimated cost: {'$0, nothing is bought' if free else 'unknown'}; time: unknown; nothing was written")


def main() -> None:
    """The console script."""
    run_command(app)
