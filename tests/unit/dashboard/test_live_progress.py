import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from dashboard.live_progress import ApiUnreachable, active_runs
from tests.unit.dashboard.analysis_files import AnalysisFiles
from tests.unit.dashboard.conftest import Open
from tests.unit.dashboard.screens import no_traceback, rows, said

RUN = "ab12" * 8
_ARM = {"prompt": "plain", "target": "default", "wanted": 20}
PROGRESS = {
    "run": RUN,
    "label": "release <b>9</b>",
    "mode": "live",
    "state": "active",
    "wanted": 40,
    "done": 10,
    "arms": [
        {**_ARM, "model": "openai:x", "running": 4, "outcomes": {"passed": 7}},
        {**_ARM, "model": "openai:y", "agent": "shell", "running": 0, "outcomes": {"failed": 1, "limit(turns)": 2}},
    ],
    "reasons": [{"reason": "said **nothing**", "count": 3}],
}
LISTED = [{"run": RUN, "state": "active"}, {"run": "done" * 8, "state": "done"}]


class Api:
    """Answers by path, on a free port and on a Unix socket."""

    def __init__(self, folder: Path) -> None:
        self.answers: dict[str, tuple[int, Any]] = {"/runs": (200, LISTED), f"/runs/{RUN}": (200, PROGRESS)}
        answers = self.answers
        self.authorizations: list[str | None] = []
        seen = self.authorizations

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.append(self.headers.get("Authorization"))
                status, body = answers.get(self.path, (404, {}))
                text = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def address_string(self) -> str:
                return "test"

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class UnixServer(HTTPServer):
            address_family = socket.AF_UNIX

            def server_bind(self) -> None:
                self.socket.bind(self.server_address)
                self.server_name, self.server_port = "test", 0

        self.tcp = HTTPServer(("127.0.0.1", 0), Handler)
        self.unix = UnixServer(str(folder / "s"), Handler)  # pyright: ignore[reportArgumentType]
        self.url = f"http://127.0.0.1:{self.tcp.server_port}"
        self.unix_url = f"http+unix://{folder}/s"
        for server in (self.tcp, self.unix):
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        for server in (self.tcp, self.unix):
            server.shutdown()
            server.server_close()


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    served = Api(tmp_path)
    yield served
    served.stop()


@pytest.mark.parametrize("address", ["url", "unix_url"])
def test_active_runs_are_read_over_tcp_and_unix_sockets(api: Api, address: str) -> None:
    (run,) = active_runs(getattr(api, address))
    assert (run.run_id, run.wanted, run.done) == (RUN, 40, 10)
    assert [(arm.name, arm.done, arm.running) for arm in run.arms] == [
        ("openai:x · plain · default", 7, 4),
        ("openai:y · plain · default · agent shell", 3, 0),
    ]
    assert run.reasons == (("said **nothing**", 3),)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((500, None), "answered 500"),
        ((401, {"problems": ["a token is needed"]}), "set PASSGRID_API_TOKEN to a token with the role read"),
        ((200, b"no json"), "not the one expected"),
        ((200, [{"no": "run"}]), "not the one expected"),
        ((200, 7), "not the one expected"),
    ],
)
def test_a_wrong_answer_says_so(api: Api, answer: tuple[int, Any], why: str) -> None:
    api.answers["/runs"] = answer
    with pytest.raises(ApiUnreachable, match=why):
        active_runs(api.url)


def test_a_token_is_shown_over_tcp_only(api: Api) -> None:
    active_runs(api.url, "pg_x")
    assert set(api.authorizations) == {"Bearer pg_x"}
    api.authorizations.clear()
    active_runs(api.unix_url, "pg_x")
    assert set(api.authorizations) == {None}


@pytest.mark.parametrize("token", ["ü", "\ud800", "a\nb"])
def test_a_token_that_no_header_holds_says_so(api: Api, token: str) -> None:
    with pytest.raises(ApiUnreachable):
        active_runs(api.url, token)


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9", "http+unix:///nowhere", "nonsense", "http://[bad"])
def test_an_unreachable_api_says_so(url: str) -> None:
    with pytest.raises(ApiUnreachable):
        active_runs(url)


def test_the_page_shows_progress_by_arm_and_outcome(
    two: AnalysisFiles, api: Api, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSGRID_API_URL", api.unix_url)
    app = open_page("runs_page.py")
    no_traceback(app)
    first, second = rows(app, 0)
    assert (first["passed"], first["failed"], first["limit(turns)"], first["running"]) == (7, 0, 0, 4)
    assert (second["failed"], second["limit(turns)"], second["done"]) == (1, 2, 0.15)
    assert rows(app, 1) == [{"attempts": 3, "reason": "said **nothing**"}]
    assert r"release \<b\>9\</b\>" in said(app)
    assert [row["label"] for row in rows(app, 2)] == ["broken", "nightly"]


def test_a_run_that_ends_is_said(
    two: AnalysisFiles, api: Api, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSGRID_API_URL", api.url)
    app = open_page("runs_page.py")
    assert "Ended while you watched" not in said(app)
    api.answers["/runs"] = (200, [])
    app.run()
    assert f"Ended while you watched: `{RUN[:8]}`" in said(app)
    assert "with the next export" in said(app)
