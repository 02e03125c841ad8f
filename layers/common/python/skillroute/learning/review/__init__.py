"""Use as people look at it, export it, and have it forgotten."""
