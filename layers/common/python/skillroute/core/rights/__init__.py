"""Rules of access: which servers, tools and skills a caller may find and call (decision 45)."""
