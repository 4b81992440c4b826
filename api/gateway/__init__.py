"""The gateway: fakes, recordings and live servers for MCP clients, and models for clients of their usual APIs."""
