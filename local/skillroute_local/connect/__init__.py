"""`skillroute connect`: one MCP server in front of all those of an `mcp.json`.

`catalogue` is searched as the service's is, by the same code over an index in memory (`memory_index`); `upstream` keeps
a connection to each server; `calls` checks a call and passes it on; `front` is what the agent sees; `serve` speaks.
"""
