"""MCP servers that people have: read from their `mcp.json`, started or reached, listed and called.

`config` reads the files, `client` holds a connection, `listing` lists many servers side by side.
"""
