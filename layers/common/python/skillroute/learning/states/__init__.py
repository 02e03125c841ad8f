"""States: what was learned, each with its measurement; one of an organisation is live."""
