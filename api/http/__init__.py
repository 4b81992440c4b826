"""The HTTP API: the same operations as the command line."""
