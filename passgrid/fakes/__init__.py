"""Scenario-scoped fakes of MCP tools: which entry answers a call, whoever carries the call."""
