"""A client of MCP servers over HTTP: every revision, and answers as they came."""
