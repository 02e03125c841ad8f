"""Message search, a file a stage (message-search.md)."""
