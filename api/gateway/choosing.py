"""From what the command line names to what a gateway serves, or every reason why not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from api.gateway.fake_files import named_files, read_documents
from api.gateway.model_turns import ModelSources
from api.gateway.recorded_servers import RecordedServer
from api.gateway.serving import Served
from passgrid.cassettes.format import Cassette, read_cassette
from passgrid.cassettes.payloads import resolve
from passgrid.fakes.block_reading import RESERVED_MOUNTS
from passgrid.fakes.fake_service import Behind
from passgrid.json_values import is_object
from passgrid.library import find_suite, load_suite
from passgrid.model_api.fixture_turns import read_fixture_turns
from passgrid.model_api.recorded_turns import RecordedTurns
from passgrid.model_reference import ModelReference, parse_model_reference
from passgrid.problems import InvalidInput, Problem
from passgrid.wire.asgi import LOOPBACK


def chosen(
    paths: Sequence[Path],
    *,
    space: str,
    servers: Path | None,
    recordings: Sequence[str],
    model: str | None,
    cap: int,
    token_required: bool,
    host_names: Sequence[str],
) -> Served:
    """What a gateway serves. Raises `InvalidInput` and `UnusableFakes` with everything that is wrong."""
    problems: list[Problem] = []
    cassettes = {name: _cassettes(name, problems) for name in recordings}
    behind = _behind(servers, problems)
    if recordings and behind:
        problems.append(
            Problem("--servers --recordings", "one mount has one thing behind its fakes", "give one of them")
        )
    live = _live(model, problems)
    if problems:
        raise InvalidInput(problems)
    for position, one in enumerate(cassettes.values()):
        path = "/mcp" if position == 0 else f"/mcp{position + 1}"
        behind[path] = RecordedServer(path, one)
    documents, _ = read_documents(named_files(paths))
    for name, document in documents.items():
        if is_object(document):
            read_fixture_turns(document, name)
    every = [cassette for one in cassettes.values() for cassette in one]
    return Served(
        space=space,
        paths=paths,
        behind=behind,
        models=ModelSources(RecordedTurns(every) if every else None, live),
        cap=cap,
        token_required=token_required,
        host_names=LOOPBACK | frozenset(host_names),
    )


def _cassettes(named: str, problems: list[Problem]) -> list[Cassette]:
    """The recordings of `suite/scenario:label`, resolved."""
    place, _, label = named.partition(":")
    suite_name, _, scenario = place.rpartition("/")
    if not (suite_name and scenario and label):
        problems.append(
            Problem(f"--recordings {named}", "is not SUITE/SCENARIO:LABEL", "for example demo/count-stock:gpt")
        )
        return []
    try:
        folder = load_suite(find_suite(suite_name, None)).cassettes
    except InvalidInput as error:
        problems.extend(error.problems)
        return []
    files = [path for path in folder.files() if path.parts[-4] == label and path.parts[-2] == scenario]
    found = [read_cassette(path.read_bytes()) for path in files]
    if not found:
        labels = ", ".join(folder.labels()) or "none"
        problems.append(Problem(f"--recordings {named}", "there are none", f"labels in this suite: {labels}"))
    return [resolve(one, folder.payload) for one in sorted(found, key=lambda one: (one.prompt, one.sample))]


def _behind(servers: Path | None, problems: list[Problem]) -> dict[str, Behind]:
    if servers is None:
        return {}
    # The client of live servers takes seconds to import: only where there are any.
    from api.gateway.declared_servers import live_servers

    found = live_servers(servers, problems)
    for path in found:
        if path in RESERVED_MOUNTS:
            problems.append(Problem(f"{servers}: {path}", "is answered by the gateway itself", "choose another name"))
    return dict(found)


def _live(model: str | None, problems: list[Problem]) -> tuple[Any, ModelReference] | None:
    if model is None:
        return None
    from passgrid.models.live import UnusableModel, live_model

    try:
        reference = parse_model_reference(model)
        if reference.recorded or reference.scripted:
            problems.append(Problem(f"--model {model}", "is no live model", "recordings are named with --recordings"))
            return None
        return live_model(reference), reference
    except (UnusableModel, ValueError) as error:
        problems.append(Problem(f"--model {model}", str(error)))
        return None
