"""The built-in MCP file server: the tools of the usual file system server, over files in memory."""

from __future__ import annotations

import difflib
import fnmatch
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field

from passgrid.workspaces.memory_files import FileRefused, MemoryFiles
from passgrid.workspaces.paths import PathRefused, inner_path

_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_REPLACES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
_CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)

FilePath = Annotated[str, Field(description="Path inside the workspace, such as notes/today.md.")]
FolderPath = Annotated[str, Field(description="Path of a folder inside the workspace; . is the workspace itself.")]


class Edit(BaseModel):
    """One replacement."""

    model_config = ConfigDict(populate_by_name=True)

    old_text: str = Field(alias="oldText", min_length=1, description="Text to search for: must match exactly, once.")
    new_text: str = Field(alias="newText", description="Text to replace it with.")


def file_server(files: MemoryFiles) -> MCPServer:
    """A server over these files, for one attempt."""
    tools = _Tools(files)
    server: MCPServer = MCPServer("files", instructions="Files of a workspace; paths are relative to it.")
    for function, hints in (
        (tools.read_file, _READS),
        (tools.write_file, _REPLACES),
        (tools.edit_file, _CHANGES),
        (tools.list_directory, _READS),
        (tools.create_directory, _ADDS),
        (tools.move_file, _CHANGES),
        (tools.delete_file, _CHANGES),
        (tools.search_files, _READS),
        (tools.get_file_info, _READS),
    ):
        server.tool(annotations=hints, structured_output=False)(function)
    return server


class _Tools:
    """The tools; their docstrings are what an agent reads."""

    def __init__(self, files: MemoryFiles) -> None:
        self._files = files

    async def read_file(self, path: FilePath) -> str:
        """Read the complete contents of a file as text."""
        with _Told():
            return self._text(path)

    async def write_file(self, path: FilePath, content: str) -> str:
        """Create a new file or completely overwrite an existing one. Folders are made as needed."""
        with _Told():
            self._files.write(path, _bytes(content))
        return f"Successfully wrote to {path}"

    async def edit_file(
        self,
        path: FilePath,
        edits: list[Edit],
        dryRun: Annotated[bool, Field(description="Only show what would change.")] = False,
    ) -> str:
        """Replace exact pieces of a text file, one after the other. Returns a diff of the changes."""
        with _Told():
            before = after = self._text(path)
            for edit in edits:
                if (found := after.count(edit.old_text)) != 1:
                    raise FileRefused(f"{edit.old_text!r} is {found} times in {path}; it must be there once")
                after = after.replace(edit.old_text, edit.new_text)
            if not dryRun:
                self._files.write(path, _bytes(after))
        lines = difflib.unified_diff(
            before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)

    async def list_directory(self, path: FolderPath) -> str:
        """List what is in a folder, each line with [FILE] or [DIR]."""
        with _Told():
            names = self._files.children(path)
        return "\n".join(f"[DIR] {name[:-1]}" if name.endswith("/") else f"[FILE] {name}" for name in names)

    async def create_directory(self, path: FolderPath) -> str:
        """Create a folder, and those above it; nothing happens where it exists."""
        with _Told():
            self._files.make_folder(path)
        return f"Successfully created directory {path}"

    async def move_file(self, source: FilePath, destination: FilePath) -> str:
        """Move or rename a file or folder. Fails where the destination exists."""
        with _Told():
            self._files.move(source, destination)
        return f"Successfully moved {source} to {destination}"

    async def delete_file(self, path: FilePath) -> str:
        """Delete a file, or a folder that is empty."""
        with _Told():
            self._files.delete(path)
        return f"Successfully deleted {path}"

    async def search_files(
        self,
        path: FolderPath,
        pattern: Annotated[
            str, Field(description="With * and ?: matched with names, and with paths below the folder.")
        ],
        excludePatterns: Annotated[list[str] | None, Field(description="What is left out, in the same form.")] = None,
    ) -> str:
        """Search recursively for files and folders. Returns their paths, a line each."""
        with _Told():
            base = inner_path(path)
            found = list(self._files.below(path))
        start = len(base) + 1 if base else 0
        paths = [
            each
            for each in found
            if _matches(each[start:], pattern) and not any(_matches(each[start:], one) for one in excludePatterns or ())
        ]
        return "\n".join(paths) or "No matches found"

    async def get_file_info(self, path: FolderPath) -> str:
        """Tell what a path is, and the size of a file in bytes."""
        with _Told():
            if self._files.is_folder(path):
                return "type: directory"
            return f"type: file\nsize: {len(self._files.read(path))}"

    def _text(self, path: str) -> str:
        try:
            return self._files.read(path).decode()
        except UnicodeDecodeError:
            raise FileRefused(f"{path} is not text in UTF-8") from None


class _Told:
    """Turns what the files refuse into an error of the tool, which the agent reads."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raises `ToolError` in the place of a refusal."""
        if isinstance(error, FileRefused | PathRefused):
            raise ToolError(str(error)) from None


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise FileRefused("the text has half of a surrogate pair in it, which no file can hold") from None


def _matches(path: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path.rpartition("/")[2], pattern)
