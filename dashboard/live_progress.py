"""How far active runs are, asked of the HTTP API: over TCP, or over the Unix socket of an embedded stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2

SECONDS = 2.0
"""How long an answer may take."""
MOST_RUNS = 10
"""Active runs asked about, the newest first."""


class ApiUnreachable(Exception):
    """The API gave no usable answer; the message says why, in one line."""


@dataclass(frozen=True, slots=True)
class LiveArm:
    """How far one arm is."""

    name: str
    wanted: int
    running: int
    outcomes: Mapping[str, int]
    """Finished attempts by outcome."""

    @property
    def done(self) -> int:
        """Finished attempts, valid or not."""
        return sum(self.outcomes.values())


@dataclass(frozen=True, slots=True)
class LiveRun:
    """How far one active run is."""

    run_id: str
    label: str
    mode: str
    wanted: int
    done: int
    arms: tuple[LiveArm, ...]
    reasons: tuple[tuple[str, int], ...]
    """Why attempts did not pass so far, the most frequent first."""


def active_runs(api_url: str, token: str = "") -> list[LiveRun]:
    """The active runs, the newest first; `token` is for an API over TCP. Raises `ApiUnreachable`."""
    if not api_url:
        raise ApiUnreachable("no API was named when the dashboard was started (PASSGRID_API_URL)")
    try:
        with _client(api_url, token) as client:
            listed: list[dict[str, Any]] = _answer(client, "/runs")
            active = [str(run["run"]) for run in listed if run["state"] == "active"]
            return [_live_run(_answer(client, f"/runs/{run_id}")) for run_id in active[:MOST_RUNS]]
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise ApiUnreachable(f"{type(error).__name__}: {error}") from error
    except UnicodeEncodeError as error:
        raise ApiUnreachable("PASSGRID_API_TOKEN holds characters that no token has") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ApiUnreachable(f"the answer is not the one expected ({type(error).__name__}: {error})") from error


def _client(api_url: str, token: str) -> httpx2.Client:
    address = urlsplit(api_url)
    if address.scheme == "http+unix":
        transport = httpx2.HTTPTransport(uds=unquote(address.path))
        return httpx2.Client(transport=transport, base_url="http://passgrid", timeout=SECONDS)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.Client(base_url=api_url, headers=headers, timeout=SECONDS, trust_env=False)


def _answer(client: httpx2.Client, path: str) -> Any:
    answer = client.get(path)
    if answer.status_code in {401, 403}:
        raise ApiUnreachable(
            f"{path} answered {answer.status_code}: set PASSGRID_API_TOKEN to a token with the role read"
        )
    if answer.status_code != 200:
        raise ApiUnreachable(f"{path} answered {answer.status_code}")
    return answer.json()


def _live_run(document: dict[str, Any]) -> LiveRun:
    return LiveRun(
        run_id=str(document["run"]),
        label=str(document["label"]),
        mode=str(document["mode"]),
        wanted=int(document["wanted"]),
        done=int(document["done"]),
        arms=tuple(_live_arm(arm) for arm in document["arms"]),
        reasons=tuple((str(one["reason"]), int(one["count"])) for one in document["reasons"]),
    )


def _live_arm(document: dict[str, Any]) -> LiveArm:
    axes = [document["model"], document["prompt"], document["target"]]
    if (agent := document.get("agent", "default")) != "default":
        axes.append(f"agent {agent}")
    outcomes = {str(name): int(count) for name, count in document["outcomes"].items()}
    return LiveArm(" · ".join(map(str, axes)), int(document["wanted"]), int(document["running"]), outcomes)
