"""Rules of access: which servers, tools and skills a caller may find and call (docs/adr/0073)."""
