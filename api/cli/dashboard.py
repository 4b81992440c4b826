"""`passgrid dashboard`: the screens."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from api.cli.failing import Stopped
from passgrid.process import die_with_parent

EXPORT_SECONDS = 5.0
"""How often what changed is exported while the dashboard is open."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("dashboard", epilog="Example: passgrid dashboard --port 8600")(dashboard)


def dashboard(
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8501,
    host: Annotated[str, typer.Option(help="Address to listen on; loopback unless you say otherwise.")] = "127.0.0.1",
) -> None:
    """Export what is new, then serve the dashboard until Ctrl-C."""
    from api.exporting import analysis_folder
    from api.stack.join import joined_stack
    from passgrid.warehouse.analysis.export import export

    with joined_stack() as addresses:
        export(addresses.psycopg_url, analysis_folder())
        environment = {**os.environ, "PASSGRID_ANALYSIS": str(analysis_folder())}
        if addresses.api_url:
            environment["PASSGRID_API_URL"] = addresses.api_url
        command = [sys.executable, "-m", "streamlit", "run", str(_script()), *_streamlit_options(host, port)]
        print(f"dashboard: http://{host}:{port}   stop it with Ctrl-C", flush=True)
        # However this command ends, the screens end with it.
        screens = subprocess.Popen(command, env=environment, preexec_fn=die_with_parent)
        try:
            while screens.poll() is None:
                time.sleep(EXPORT_SECONDS)
                export(addresses.psycopg_url, analysis_folder())
        except KeyboardInterrupt:
            return
        finally:
            screens.terminate()
            screens.wait()
    raise Stopped(f"the dashboard ended by itself with {screens.returncode}; is port {port} taken?")


def _script() -> Path:
    """The dashboard's first page, found without importing it: it is a deployable of its own."""
    found = find_spec("dashboard")
    if found is None or not found.submodule_search_locations:
        raise Stopped("the dashboard is not installed here; run this where it is")
    return Path(next(iter(found.submodule_search_locations))) / "main.py"


def _streamlit_options(host: str, port: int) -> list[str]:
    settings = {
        "server.address": host,
        "server.port": str(port),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
    }
    return [f"--{name}={value}" for name, value in settings.items()]
