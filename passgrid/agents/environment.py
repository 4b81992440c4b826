"""What an agent program finds in its environment: its tools, its model, its task, and where its answer goes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passgrid.server_environment import server_environment

ALL_TOOLS_PATH = "/mcp"


@dataclass(frozen=True, slots=True)
class Gateway:
    """Where the program reaches the outside."""

    port: int
    token: str
    servers: tuple[str, ...]

    @property
    def address(self) -> str:
        """Without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def mcp_url(self) -> str:
        """Of a server with the tools of all of them."""
        return self.address + ALL_TOOLS_PATH

    def server_url(self, server: str) -> str:
        """Of one server."""
        return f"{self.address}{server_path(server)}"

    def client_config(self) -> dict[str, Any]:
        """The file that MCP clients read, one entry a server."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return {
            "mcpServers": {
                name: {"type": "http", "url": self.server_url(name), "headers": headers} for name in self.servers
            }
        }


@dataclass(frozen=True, slots=True)
class Job:
    """What the program is asked to do."""

    turns: tuple[str, ...]
    system: str
    model: str
    namespace: str


class Files:
    """The files an agent is given, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.task = folder / "task.txt"
        self.client_config = folder / "mcp.json"
        self.result = folder / "result"

        self.folder = folder / "work"

    def write_task(self, turns: Sequence[str]) -> None:
        """What it is asked to do; its stdin."""
        self.task.write_text(task_text(turns), encoding="utf-8")

    def write_client_config(self, gateway: Gateway) -> None:
        """Where its servers are."""
        self.client_config.write_text(json.dumps(gateway.client_config(), indent=2), encoding="utf-8")

    def make_folder(self, template: Mapping[str, bytes]) -> Path:
        """A working folder with some files, for an attempt without a workspace on disk."""
        self.folder.mkdir()
        for name, data in template.items():
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return self.folder


def server_path(server: str) -> str:
    """Where a server is mounted."""
    return f"/servers/{server}/mcp"


def task_text(turns: Sequence[str]) -> str:
    """The task as it comes on stdin: the user turn; of several, each after the other."""
    return "\n\n".join(turns)


def agent_environment(gateway: Gateway, job: Job, files: Files, extra: Mapping[str, str]) -> dict[str, str]:
    """The whole environment: little of ours, what belongs to the attempt, and what was declared."""
    by_server = {f"PASSGRID_MCP_URL_{_variable(name)}": gateway.server_url(name) for name in gateway.servers}
    return server_environment(
        {
            "PASSGRID_MCP_URL": gateway.mcp_url,
            **by_server,
            "PASSGRID_MCP_CONFIG": str(files.client_config),
            "PASSGRID_TOKEN": gateway.token,
            "PASSGRID_TASK": task_text(job.turns),
            "PASSGRID_TASK_FILE": str(files.task),
            "PASSGRID_TURNS": json.dumps(list(job.turns), ensure_ascii=False),
            "PASSGRID_SYSTEM": job.system,
            "PASSGRID_MODEL": job.model,
            "PASSGRID_RESULT_FILE": str(files.result),
            "PASSGRID_NAMESPACE": job.namespace,
            "OPENAI_BASE_URL": f"{gateway.address}/v1",
            "OPENAI_API_BASE": f"{gateway.address}/v1",
            "OPENAI_API_KEY": gateway.token,
            "ANTHROPIC_BASE_URL": gateway.address,
            "ANTHROPIC_API_KEY": gateway.token,
            "ANTHROPIC_AUTH_TOKEN": gateway.token,
            **extra,
        }
    )


def _variable(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", name.upper())
