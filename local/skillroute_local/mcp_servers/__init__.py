"""MCP servers that people have: read from their `mcp.json`, started or reached, listed and called.

`config` reads the files; `client` starts or reaches a server and yields its `connection`; `listing` lists many at once.
"""
