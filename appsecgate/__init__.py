"""AppSecGate: a local, offline MCP server that finds, explains and verifies security findings."""

__version__ = "0.1.0"
