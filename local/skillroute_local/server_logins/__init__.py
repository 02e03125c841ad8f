"""Logins at servers of an mcp.json: OAuth 2.1 in a browser, kept on this machine."""
