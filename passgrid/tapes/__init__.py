"""Tapes: the raw JSON-RPC frames of an MCP session, recorded as they pass and replayed without the server."""
