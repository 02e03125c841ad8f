"""OAuth 2.1 as the authorization of MCP has it: the client's part."""
