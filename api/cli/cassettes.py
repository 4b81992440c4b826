"""`passgrid cassette`: list, show, verify, redact, prune and pack the recordings of suites."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from api.cli.learning import learn
from api.cli.options import DryRun, Json, print_json
from passgrid.cassettes.format import BrokenCassette, Cassette
from passgrid.cassettes.layout import CassetteFolder
from passgrid.problems import InvalidInput, Problem
from passgrid.redaction import Redactor, secrets_of

Suites = Annotated[list[Path], typer.Argument(metavar="SUITE…", help="Folders of suites.")]


def register(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(no_args_is_help=True, help="Look after the recordings of suites.")
    group.command("list", epilog="Example: passgrid cassette list scenarios/demo")(list_)
    group.command(
        "show",
        epilog="Example: passgrid cassette show scenarios/demo/cassettes/scripted-quick/plain/count-stock/0.json",
    )(show)
    group.command("diff", epilog="Example: passgrid cassette diff old/0.json new/0.json")(diff)
    group.command("verify", epilog="Example: passgrid cassette verify scenarios/demo")(verify)
    group.command("redact", epilog="Example: passgrid cassette redact scenarios/demo --dry-run")(redact)
    group.command("prune", epilog="Example: passgrid cassette prune scenarios/demo --dry-run")(prune)
    group.command(
        "learn", epilog="Example: passgrid cassette learn scenarios/demo --label monday --label tuesday --write"
    )(learn)
    group.command("pack", epilog="Example: passgrid cassette pack scenarios/demo --out demo.cassettes")(pack)
    group.command("unpack", epilog="Example: passgrid cassette unpack demo.cassettes --suite scenarios/demo")(unpack)
    group.command(
        "promote",
        epilog="Example: passgrid cassette promote scenarios/demo --from gpt-5.nightly-2026-05-01 --to gpt-5 --dry-run",
    )(promote)
    app.add_typer(group, name="cassette")


def list_(suites: Suites, json: Json = False) -> None:
    """List labels with how much was recorded, and its size."""
    from passgrid.cassettes.upkeep import label_sizes

    sizes = [size for suite in suites for size in label_sizes(_folder(suite))]
    if json:
        print_json([asdict(size) for size in sizes])
        return
    table = Table()
    for column in ("suite", "label"):
        table.add_column(column, overflow="fold")
    for column in ("prompts", "scenarios", "cassettes", "kB", "payloads kB"):
        table.add_column(column, justify="right")
    for size in sizes:
        numbers = (size.prompts, size.scenarios, size.cassettes, size.own_bytes // 1000, size.payload_bytes // 1000)
        table.add_row(size.suite, size.label, *map(str, numbers))
    Console().print(table)


def show(cassette: Annotated[Path, typer.Argument(help="A recording.")]) -> None:
    """Print a recording as people read it: turns, calls and answers in order."""
    from passgrid.cassettes.telling import told

    for line in told(_read(cassette)):
        print(line)


def diff(
    old: Annotated[Path, typer.Argument(help="A recording.")],
    new: Annotated[Path, typer.Argument(help="Another of the same scenario.")],
) -> None:
    """Print where two recordings say different things; times do not count. Exits with 3 where they do."""
    from passgrid.cassettes.telling import differences

    lines = list(differences(_read(old), _read(new), str(old), str(new)))
    for line in lines:
        print(line)
    if lines:
        raise SystemExit(3)


def verify(suites: Suites, json: Json = False) -> None:
    """Read every recording: hashes, payloads, and secrets it might hold. Names every problem; exits with 2 on any."""
    from passgrid.cassettes.upkeep import verify as find_problems

    problems = [problem for suite in suites for problem in find_problems(_folder(suite), _redactor())]
    if json:
        print_json({"problems": [str(problem) for problem in problems]})
        raise SystemExit(2 if problems else 0)
    if problems:
        raise InvalidInput(problems)
    print("no problem")


def redact(suites: Suites, dry_run: DryRun = False, json: Json = False) -> None:
    """Replace secrets in recordings: those of known kinds, and values of secret variables of the environment."""
    from passgrid.cassettes.upkeep import redact as replace_secrets

    changed = [path for suite in suites for path in replace_secrets(_folder(suite), _redactor(), dry_run=dry_run)]
    _tell(changed, "would be redacted" if dry_run else "redacted", json)


def prune(
    suites: Suites,
    replaced: Annotated[
        str | None,
        typer.Option(metavar="LABELS", help="Also recordings of such labels, nightly-*, that a newer one has again."),
    ] = None,
    keep: Annotated[int, typer.Option(min=1, help="With --replaced: how many of the newest labels stay whole.")] = 1,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Remove payloads that no recording refers to, and recordings that newer ones replace. Look first: --dry-run."""
    from passgrid.cassettes.upkeep import removable

    paths = [path for suite in suites for path in removable(_folder(suite), replaced, keep)]
    if not dry_run:
        for path in paths:
            path.unlink()
    _tell(paths, "would be removed" if dry_run else "removed", json)


def pack(
    suite: Annotated[Path, typer.Argument(help="Folder of a suite.")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    json: Json = False,
) -> None:
    """Write all recordings of a suite into one compressed file."""
    from passgrid.cassettes.upkeep import pack as packed

    folder = _folder(suite)
    data = packed(folder)
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    partial.write_bytes(data)
    os.replace(partial, out)
    plain = sum(path.stat().st_size for path in folder.root.rglob("*") if path.is_file())
    if json:
        print_json({"file": str(out), "bytes": len(data), "plain_bytes": plain})
    else:
        print(f"{out}: {len(data) // 1000} kB of {plain // 1000} kB")


def unpack(
    file: Annotated[Path, typer.Argument(help="A file `pack` wrote.")],
    suite: Annotated[Path, typer.Option(help="Folder of the suite to write them into.")],
) -> None:
    """Write the recordings of a packed file into a suite; those of the same place are replaced."""
    from passgrid.cassettes.upkeep import unpack as unpacked

    try:
        count = unpacked(file.read_bytes(), CassetteFolder(suite))
    except BrokenCassette as error:
        raise InvalidInput([Problem(str(file), str(error))]) from None
    print(f"{suite}: {count} files")


def promote(
    suite: Annotated[Path, typer.Argument(help="Folder of a suite.")],
    source: Annotated[str, typer.Option("--from", help="The label of the new recordings, such as those of a night.")],
    target: Annotated[str, typer.Option("--to", help="The label to replace: the baseline.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Make recordings the baseline, after showing where they say something else. Scenarios they lack stay."""
    from passgrid.cassettes.promoting import promote as replace_them
    from passgrid.cassettes.promoting import promotion

    try:
        made = promotion(_folder(suite), source, target)
    except BrokenCassette as error:
        raise InvalidInput([Problem(str(suite), str(error), f"passgrid cassette verify {suite}")]) from None
    counts = {kind: made.count(kind) for kind in ("changed", "added", "removed", "same")}
    if not json:
        for one in made.replacements:
            if one.kind != "same":
                print(f"{one.kind} {target}/{one.place}")
            for line in one.lines():
                print(f"  {line}")
        print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    if not (dry_run or yes or json) and not typer.confirm(f"Replace the recordings of {target}?", err=True):
        raise SystemExit(1)
    written = 0 if dry_run or (json and not yes) else replace_them(made)
    if json:
        print_json({"from": source, "to": target, **counts, "written": written})
    elif written:
        print(f"{suite}: {written} recordings of {source} are {target} now")


def _folder(suite: Path) -> CassetteFolder:
    if not suite.is_dir():
        raise InvalidInput([Problem(str(suite), "is not the folder of a suite")])
    return CassetteFolder(suite)


def _read(path: Path) -> Cassette:
    from passgrid.cassettes.upkeep import whole

    try:
        return whole(CassetteFolder(path.resolve().parents[4]), path)
    except (BrokenCassette, IndexError) as error:
        raise InvalidInput([Problem(str(path), str(error))]) from None


def _redactor() -> Redactor:
    return Redactor(secrets_of(os.environ))


def _tell(paths: list[Path], what: str, json: bool) -> None:
    if json:
        print_json([str(path) for path in paths])
        return
    for path in paths:
        print(path)
    print(f"{len(paths)} files {what}")
